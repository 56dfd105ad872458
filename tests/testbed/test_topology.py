"""Invariants of the networks, for any size."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UserError
from testbed.scenario.shape import given as shape_of
from testbed.topology import (
    Topology,
    adjacency,
    build,
    fat_tree,
    interface,
    leaf_spine,
    make_topology,
    stage,
    stages,
)

LONGEST_INTERFACE = 15

networks = st.one_of(
    st.integers(2, 8).map(lambda w: fat_tree(2 * w)),
    st.integers(2, 20).map(lambda w: leaf_spine(2 * w)),
    st.integers(1, 4).map(
        lambda planes: build(
            shape_of(
                "fat-tree",
                {
                    "planes": planes,
                    "pods": 3,
                    "edges": 2,
                    "hosts": 3,
                    "aggregations": 2,
                    "cores": 4,
                },
            )
        )
    ),
    st.integers(1, 4).map(
        lambda planes: build(
            shape_of("leaf-spine", {"planes": planes, "edges": 4, "hosts": 3, "spines": 2})
        )
    ),
)


@pytest.mark.parametrize(
    ("k", "hosts", "switches"), [(4, 16, 20), (8, 128, 80), (12, 432, 180), (16, 1024, 320)]
)
def test_fat_tree_has_the_papers_sizes(k: int, hosts: int, switches: int) -> None:
    topology = fat_tree(k)
    assert topology.hosts == hosts
    assert len(topology.switches) == switches


def test_two_levels_of_radix_64_have_2048_hosts() -> None:
    topology = leaf_spine(64)
    assert topology.hosts == 2048
    assert Counter(node.tier for node in topology.nodes) == {"host": 2048, "edge": 64, "core": 32}


@settings(max_examples=30, deadline=None)
@given(networks)
def test_every_port_has_one_cable(topology: Topology) -> None:
    ends = Counter(
        end
        for link in topology.links
        for end in ((link.lower, link.lower_port), (link.upper, link.upper_port))
    )
    assert set(ends.values()) == {1}
    for number, node in enumerate(topology.nodes):
        ports = [0] if node.tier == "host" else range(1, node.ports + 1)
        assert node.ports == len(ports)
        assert all((number, port) in ends for port in ports)


@settings(max_examples=30, deadline=None)
@given(networks)
def test_uplinks_are_the_upper_ports(topology: Topology) -> None:
    for link in topology.links:
        lower, upper = topology.nodes[link.lower], topology.nodes[link.upper]
        assert lower.tier == "host" or link.lower_port > topology.downlinks(lower.tier)
        assert upper.tier == "core" or link.upper_port <= topology.downlinks(upper.tier)
    assert all(topology.nodes[host].tier == "host" for host in range(topology.hosts))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6))
def test_aggregation_j_reaches_the_cores_that_are_j_modulo_w(w: int) -> None:
    topology = fat_tree(2 * w)
    beyond = adjacency(topology)
    for number in topology.switches:
        node = topology.nodes[number]
        if node.tier == "aggregation":
            cores = [topology.nodes[beyond.beyond(number, w + 1 + layer)] for layer in range(w)]
            assert [core.index for core in cores] == [la * w + node.index for la in range(w)]
        if node.tier == "core":
            pods = [topology.nodes[beyond.beyond(number, pod + 1)] for pod in range(2 * w)]
            assert [(node.pod, node.index) for node in pods] == [
                (pod, node.index % w) for pod in range(2 * w)
            ]


@settings(max_examples=20, deadline=None)
@given(networks)
def test_adjacency_is_symmetric(topology: Topology) -> None:
    table = adjacency(topology)
    used = np.flatnonzero(table.peer >= 0)
    back = table.first[table.peer[used]] + table.peer_port[used]
    assert (table.first[table.peer[back]] + table.peer_port[back] == used).all()
    assert (table.link[used] == table.link[back]).all()
    assert len(used) == 2 * len(topology.links)


@pytest.mark.parametrize("k", [4, 10, 30, 64])
@pytest.mark.parametrize("name", ["fat-tree", "leaf-spine"])
def test_names_are_distinct_and_fit_an_interface(name: str, k: int) -> None:
    topology = make_topology(name, k)
    assert len({node.name for node in topology.nodes}) == len(topology.nodes)
    longest = max((interface(node, node.ports) for node in topology.nodes), key=len)
    assert len(longest) <= LONGEST_INTERFACE


def test_names_fit_up_to_64_ports_by_their_longest_parts() -> None:
    for k in range(4, 66, 2):
        w = k // 2
        last = [f"h{k * w * w - 1}-eth0", f"e{k - 1}_{w - 1}-eth{k}", f"c{w * w - 1}-eth{k}"]
        assert max(map(len, last)) <= LONGEST_INTERFACE


def test_hosts_count_along_the_network() -> None:
    topology = fat_tree(4)
    assert [topology.edge_number(topology.nodes[host]) for host in (0, 1, 2, 4, 15)] == [
        0,
        0,
        1,
        2,
        7,
    ]
    assert topology.nodes[5].name == "h5"


def test_stages_are_in_the_order_of_a_packets_way() -> None:
    assert stages(fat_tree(4)) == ("H-E", "E-A", "A-C", "C-A", "A-E", "E-H")
    assert stages(leaf_spine(4)) == ("H-E", "E-C", "C-E", "E-H")
    assert stage("aggregation", "edge") == "A-E"


@pytest.mark.parametrize(("name", "k"), [("fat-tree", 5), ("fat-tree", 2), ("leaf-spine", 512)])
def test_sizes_that_cannot_be_built_are_named(name: str, k: int) -> None:
    with pytest.raises(UserError, match=f"{name} with k = {k}"):
        make_topology(name, k)


def test_unknown_networks_are_named() -> None:
    with pytest.raises(UserError, match="topology ring"):
        make_topology("ring", 4)
