"""Addresses are distinct, and lead back to their hosts, at every size."""

import ipaddress

import pytest

from testbed.addressing import host_of, ipv4, ipv4_text, mac, mac_text
from testbed.topology import Topology, fat_tree, leaf_spine

SIZES = [fat_tree(4), fat_tree(10), leaf_spine(4), leaf_spine(510)]


@pytest.mark.parametrize("topology", SIZES, ids=lambda t: f"{t.name}-{t.shape.k}")
def test_addresses_are_distinct_and_lead_back(topology: Topology) -> None:
    hosts = range(topology.hosts)
    addresses = [ipv4(topology.nodes[host], topology) for host in hosts]
    assert len(set(addresses)) == topology.hosts
    assert [host_of(address, topology) for address in addresses] == list(hosts)


def test_the_largest_fat_tree_has_addresses_for_its_last_host() -> None:
    topology = fat_tree(64)
    last = topology.nodes[topology.hosts - 1]
    assert ipv4_text(last, topology) == "10.63.31.32"
    assert mac_text(last, topology) == "02:00:0a:3f:1f:20"


def test_leaves_beyond_256_use_the_second_byte() -> None:
    topology = leaf_spine(510)
    node = topology.nodes[300 * 255 + 7]
    assert ipv4_text(node, topology) == "10.1.44.8"


def test_hardware_addresses_are_local_and_unicast() -> None:
    topology = fat_tree(4)
    first_byte = mac(topology.nodes[3], topology) >> 40
    assert first_byte & 0b11 == 0b10


@pytest.mark.parametrize(
    "text", ["10.0.0.3", "10.4.0.1", "10.0.2.1", "11.0.0.1", "10.0.0.0", "10.200.0.1"]
)
def test_other_addresses_are_of_no_host(text: str) -> None:
    with pytest.raises(ValueError, match="no host"):
        host_of(int(ipaddress.IPv4Address(text)), fat_tree(4))
