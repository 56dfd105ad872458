"""Addresses of hosts, and the parts of an address that switches of each tier look at.

Host h of edge switch e in pod p is 10.p.e.(h + 1). In a leaf-spine, whose leaves are the edge
switches of pod 0, p and e are the upper and the lower byte of the leaf's number, so that more than
256 leaves have addresses too; of several planes each is a pod. All hosts share the one network
10.0.0.0/8.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from testbed.topology import Node, Topology

NETWORK = 10 << 24
NETWORK_BITS = 8
ROCE_PORT = 4791


def edge_bytes(node: Node, topology: Topology) -> int:
    """Return the two middle bytes of the addresses under a host's edge, or an edge switch."""
    within = node.index // topology.hosts_per_edge if node.tier == "host" else node.index
    return (node.pod << 8) + within


def ipv4(node: Node, topology: Topology) -> int:
    """Return a host's address as a number."""
    return NETWORK + (edge_bytes(node, topology) << 8) + node.index % topology.hosts_per_edge + 1


def ipv4_text(node: Node, topology: Topology) -> str:
    """Return a host's address in dotted form."""
    return str(ipaddress.IPv4Address(ipv4(node, topology)))


def mac(node: Node, topology: Topology) -> int:
    """Return a host's Ethernet address as a number: 02:00 and its IPv4 address."""
    return (0x0200 << 32) | ipv4(node, topology)


def mac_text(node: Node, topology: Topology) -> str:
    """Return a host's Ethernet address with colons."""
    return mac(node, topology).to_bytes(6, "big").hex(":")


def host_of(address: int, topology: Topology) -> int:
    """Return the number of the host with an IPv4 address; raises ValueError if there is none."""
    middle, low = (address >> 8) & 0xFFFF, (address & 0xFF) - 1
    one_pod = topology.pods == 1
    pod, edge = (0, middle) if one_pod else (middle >> 8, middle & 0xFF)
    number = (pod * topology.edges_per_pod + edge) * topology.hosts_per_edge + low
    known = edge < topology.edges_per_pod and pod < topology.pods
    known = known and 0 <= low < topology.hosts_per_edge
    if address >> 24 != NETWORK >> 24 or not known:
        raise ValueError(f"{ipaddress.IPv4Address(address)} is no host of this {topology.name}")
    return number
