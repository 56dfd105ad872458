"""Routing entries lead every packet to its host, over all valid paths and no other."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.addressing import ipv4
from testbed.control import DOWN, PLACE, UP, Routes, routing
from testbed.failures import fail_links, set_link, valid_paths
from testbed.plan import SwitchSetup
from testbed.scenario.shape import given as shape_of
from testbed.topology import Node, Topology, adjacency, build, fat_tree, leaf_spine

Tables = dict[str, dict[str, dict[int, tuple[int, ...]]]]


def tables_of(topology: Topology, setups: dict[str, SwitchSetup]) -> Tables:
    """Arrange entries by switch, table and key, following shared tables."""
    found: Tables = {}
    for name, setup in setups.items():
        found[name] = {
            table: found[setup.shared[table]][table]
            if table in setup.shared
            else {
                int(entry.match[0]): entry.parameters  # type: ignore[arg-type]
                for entry in setup.entries
                if entry.table == table
            }
            for table in (UP, DOWN)
        }
    return found


class Walker:
    """Follows entries through a network as the fabric's P4 does, over every valid uplink."""

    def __init__(self, topology: Topology) -> None:
        programs = {topology.nodes[number].name: "one" for number in topology.switches}
        self.topology = topology
        self.setups = routing(topology, programs)
        self.tables = tables_of(topology, self.setups)
        self.beyond = adjacency(topology)

    def paths(self, source: int, destination: int) -> set[tuple[str, ...]]:
        """Return the switches on every way that the entries allow; dead ends end with a dot."""
        return set(self._from(self.beyond.beyond(source, 0), destination, ()))

    def _from(
        self, number: int, destination: int, way: tuple[str, ...]
    ) -> Iterator[tuple[str, ...]]:
        node = self.topology.nodes[number]
        if node.tier == "host":
            yield (*way, node.name)
            return
        ports = self._ports(node, ipv4(self.topology.nodes[destination], self.topology))
        if not ports or len(way) > 5:
            yield (*way, node.name, ".")
        for port in ports:
            yield from self._from(self.beyond.beyond(number, port), destination, (*way, node.name))

    def _ports(self, node: Node, address: int) -> list[int]:
        name, tier = node.name, node.tier
        _, place = self.setups[name].defaults[PLACE]
        own, netmask, child_shift, group_shift, _, up_here = place
        tables = self.tables[name]
        if address & netmask == own:
            return list(tables[DOWN].get((address & ~netmask) >> child_shift, ()))
        _, leading = tables[UP].get((address >> group_shift) & 0xFFFF, (0, 0))
        valid = leading & up_here
        down, up = self.topology.downlinks(tier), self.topology.uplinks(tier)
        return [down + 1 + i for i in range(up) if valid >> i & 1]


TREES = build(
    shape_of(
        "fat-tree",
        {"planes": 3, "pods": 3, "edges": 2, "hosts": 2, "aggregations": 2, "cores": 4},
    )
)
LEAVES = build(shape_of("leaf-spine", {"planes": 2, "edges": 3, "hosts": 4, "spines": 2}))
networks = st.sampled_from([fat_tree(4), fat_tree(6), leaf_spine(4), leaf_spine(8), TREES, LEAVES])


@settings(max_examples=40, deadline=None)
@given(networks, st.sampled_from([0.0, 0.1, 0.3]), st.integers(0, 1000), st.data())
def test_packets_arrive_over_exactly_the_valid_paths(
    topology: Topology, probability: float, seed: int, data: st.DataObject
) -> None:
    failed = fail_links(topology, probability, seed)
    walker = Walker(failed)
    source = data.draw(st.integers(0, topology.hosts - 1))
    begin = source - source % topology.shape.hosts_per_plane
    plane = st.integers(begin, begin + topology.shape.hosts_per_plane - 1)
    destination = data.draw(plane.filter(lambda h: h != source))
    paths = walker.paths(source, destination)
    valid = valid_paths(Routes(failed), source, destination)
    if len(valid):
        assert {path[-1] for path in paths} == {f"h{destination}"}
        assert {turning_point(topology, path) for path in paths} == set(valid.tolist())
        assert len(paths) == len(valid)
    else:
        assert all(path[-1] == "." for path in paths)


def turning_point(topology: Topology, path: tuple[str, ...]) -> int:
    """Number a path by its highest switch, as hosts do."""
    middle = path[len(path) // 2 - 1] if len(path) % 2 == 0 else path[(len(path) - 1) // 2]
    if len(path) == 2:
        return 0
    return int(middle.split("_")[-1].lstrip("c")) % topology.shape.paths


@pytest.mark.parametrize("topology", [TREES, LEAVES], ids=["trees", "leaves"])
def test_no_packet_leaves_its_plane(topology: Topology) -> None:
    walker, plane = Walker(topology), topology.shape.hosts_per_plane
    for source in range(topology.hosts):
        for destination in range(topology.hosts):
            if source // plane != destination // plane:
                assert all(path[-1] == "." for path in walker.paths(source, destination))


def test_equal_tables_are_shared_and_only_those() -> None:
    topology = fat_tree(4)
    programs = {topology.nodes[number].name: "one" for number in topology.switches}
    setups = routing(topology, programs)
    owners = [name for name, setup in setups.items() if setup.entries]
    assert owners == ["e0_0", "a0_0", "c0"]
    cut = routing(set_link(topology, "e1_0", "a1_1", up=False), programs)
    # The aggregation has lost a child; what the edge has lost is in its own place.
    assert [name for name, setup in cut.items() if setup.entries] == [*owners[:2], "a1_1", "c0"]
    assert cut["e1_0"].defaults[PLACE][1][-1] == 0b01


def test_switches_of_different_programs_share_nothing() -> None:
    topology = fat_tree(4)
    programs = {
        topology.nodes[number].name: topology.nodes[number].name for number in topology.switches
    }
    assert not any(setup.shared for setup in routing(topology, programs).values())


@pytest.mark.parametrize("name", ["e0_0", "a2_1", "c3"])
def test_a_switchs_own_setup_is_the_shared_one_written_out(name: str) -> None:
    topology = fat_tree(4)
    walker = Walker(topology)
    number = next(n for n in topology.switches if topology.nodes[n].name == name)
    alone = Routes(topology).setup(topology.nodes[number])
    assert tables_of(topology, {name: alone})[name] == walker.tables[name]
