"""Paths that hosts name: DRB's rotation and Ethereal's subflows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.control import Routes
from testbed.failures import fail_links, highest_load, valid_paths
from testbed.paths import pinning, rotation
from testbed.plan import HostPaths
from testbed.topology import fat_tree, leaf_spine
from traffic.flows import Flows


def flows(*pairs: tuple[int, int], size: int = 1 << 20) -> Flows:
    columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Flows.of(columns[0], columns[1], np.full(len(pairs), size, dtype=np.int64))


def paths_of(paths: HostPaths, flow: int) -> list[int]:
    first = int(paths.first[flow])
    return [int(number) for number in paths.numbers[first : first + int(paths.count[flow])]]


def test_consecutive_packets_alternate_aggregations() -> None:
    paths = rotation(fat_tree(12), flows((0, 431), (0, 7), (0, 1)), 1)
    cores = paths_of(paths, 0)
    assert cores == list(range(36))
    assert [core % 6 for core in cores[:12]] == [0, 1, 2, 3, 4, 5] * 2
    assert paths_of(paths, 1) == list(range(6))
    assert paths_of(paths, 2) == [0]
    assert paths.subflows.tolist() == [1, 1, 1]


def test_a_permutation_is_split_over_all_paths_in_random_order() -> None:
    paths = pinning(fat_tree(12), flows((0, 431), (1, 200), (2, 7)), seed=1)
    assert paths.subflows.tolist() == [36, 36, 6]
    assert sorted(paths_of(paths, 0)) == list(range(36))
    assert paths_of(paths, 0) != paths_of(paths, 1)
    assert paths_of(paths, 0) != list(range(36))


def test_many_flows_stay_whole_and_are_dealt_out_evenly() -> None:
    topology = fat_tree(4)
    paths = pinning(topology, flows(*((0, 4 + place) for place in range(10))), seed=1)
    assert paths.subflows.tolist() == [1] * 8 + [2] * 2
    used = np.bincount(paths.numbers, minlength=4)
    assert used[:4].tolist() == [3, 3, 3, 3]


def test_tiny_messages_have_no_empty_subflows() -> None:
    paths = pinning(fat_tree(12), flows((0, 431), size=5), seed=1)
    assert paths.subflows.tolist() == [5]
    assert len(set(paths_of(paths, 0))) == 5


@pytest.mark.parametrize("make", [rotation, pinning])
def test_no_flows_have_no_paths(make: object) -> None:
    assert callable(make)
    assert len(make(fat_tree(4), flows(), 3).numbers) == 0


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([fat_tree(6), leaf_spine(6)]), st.integers(0, 99), st.data())
def test_paths_are_the_valid_ones(topology: object, seed: int, data: st.DataObject) -> None:
    failed = fail_links(topology, 0.1, seed)  # type: ignore[arg-type]
    order = data.draw(st.permutations(range(failed.hosts)))
    drawn = flows(*((a, b) for a, b in enumerate(order) if a != b))
    routes = Routes(failed)
    pairs = list(zip(drawn.source.tolist(), drawn.destination.tolist(), strict=True))
    valid = [valid_paths(routes, *pair).tolist() for pair in pairs]
    if not all(valid):
        return
    for paths in (method(failed, drawn, seed) for method in (rotation, pinning)):
        assert [sorted(paths_of(paths, flow)) for flow in range(len(drawn))] == valid
    assert 0 < highest_load(failed, drawn) <= 1
