"""Failed links: how many, which paths are left, and how much load they carry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UserError
from testbed.control import Routes
from testbed.failures import fail_links, highest_load, set_link, valid_paths
from testbed.topology import Topology, fat_tree, leaf_spine
from traffic.flows import Flows


def flows(*pairs: tuple[int, int]) -> Flows:
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Flows.of(columns[0], columns[1], np.full(len(pairs), 4096, dtype=np.int64))


def test_only_links_between_switches_fail_and_about_as_many_as_asked() -> None:
    failed = fail_links(fat_tree(12), 0.1, 1)
    down = [link for link in failed.links if not link.up]
    assert all(link.lower >= failed.hosts for link in down)
    assert len(down) == pytest.approx(0.1 * 864, rel=0.3)
    assert failed == fail_links(fat_tree(12), 0.1, 1)
    assert failed != fail_links(fat_tree(12), 0.1, 2)


def test_paths_count_aggregations_first() -> None:
    routes = Routes(fat_tree(6))
    assert valid_paths(routes, 0, 1).tolist() == [0]
    assert valid_paths(routes, 0, 4).tolist() == [0, 1, 2]
    assert valid_paths(routes, 0, 50).tolist() == list(range(9))


def test_a_cut_link_takes_its_paths_away() -> None:
    topology = set_link(fat_tree(4), "a0_1", "c3", up=False)
    routes = Routes(topology)
    assert valid_paths(routes, 0, 15).tolist() == [0, 1, 2]
    assert valid_paths(routes, 8, 15).tolist() == [0, 1, 2, 3]


def test_without_failures_the_highest_load_is_one() -> None:
    assert highest_load(fat_tree(4), flows((0, 15), (1, 15))) == 1.0


def test_load_over_a_cut_uplink_is_half() -> None:
    topology = set_link(fat_tree(4), "e0_0", "a0_1", up=False)
    assert highest_load(topology, flows((0, 15), (1, 14))) == pytest.approx(0.5)
    assert highest_load(topology, flows((0, 15), (1, 0))) == pytest.approx(1.0)


def test_flows_of_one_host_share_its_rate() -> None:
    topology = set_link(fat_tree(4), "e0_0", "a0_1", up=False)
    pairs = ((0, 15), (0, 12), (1, 14), (1, 13))
    assert highest_load(topology, flows(*pairs)) == pytest.approx(0.5)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([fat_tree(4), fat_tree(6), leaf_spine(6)]), st.integers(0, 500), st.data())
def test_the_highest_load_fills_the_busiest_link(
    topology: Topology, seed: int, data: st.DataObject
) -> None:
    failed = fail_links(topology, 0.1, seed)
    order = data.draw(st.permutations(range(topology.hosts)))
    pairs = [(a, b) for a, b in enumerate(order) if a != b]
    routes = Routes(failed)
    if not all(len(valid_paths(routes, *pair)) for pair in pairs):
        with pytest.raises(UserError, match="no path from"):
            highest_load(failed, flows(*pairs))
        return
    assert highest_load(failed, flows(*pairs)) == pytest.approx(reference(routes, pairs))


def reference(routes: Routes, pairs: list[tuple[int, int]]) -> float:
    """Add up the links of every path of every flow, one by one."""
    topology = routes.topology
    if all(link.up for link in topology.links):
        return 1.0
    w, below = topology.uplinks("edge"), topology.hosts_per_edge
    loads: dict[tuple[object, ...], float] = {}
    for source, destination in pairs:
        paths = valid_paths(routes, source, destination)
        first, last = source // below, destination // below
        if first == last:
            continue
        pods = first // topology.edges_per_pod, last // topology.edges_per_pod
        for path in paths:
            links: list[tuple[object, ...]] = [("up", first, path % w), ("down", last, path % w)]
            if pods[0] != pods[1]:
                links += [("core", pods[0], path), ("pod", pods[1], path)]
            for link in links:
                loads[link] = loads.get(link, 0) + 1 / len(paths)
    return 1 / max(1.0, *loads.values(), 0.0)


def test_unknown_links_are_named() -> None:
    with pytest.raises(UserError, match="no link between e0_0 and c0"):
        set_link(fat_tree(4), "e0_0", "c0", up=False)
    restored = set_link(set_link(leaf_spine(4), "c1", "e0_2", up=False), "e0_2", "c1", up=True)
    assert restored == leaf_spine(4)
