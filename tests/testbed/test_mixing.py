"""Half of the balancing switches run the second scheme."""

import pytest

from errors import UserError
from testbed.mixing import switches_of_second
from testbed.topology import fat_tree, leaf_spine


@pytest.mark.parametrize("where", ["random-switches", "random-pods", "aggregation", "edge"])
def test_exactly_half_of_the_edges_and_aggregations(where: str) -> None:
    topology = fat_tree(12)
    second = switches_of_second(topology, where, 1)
    assert len(second) == 72
    assert all(topology.nodes[number].tier != "core" for number in second)


def test_pods_are_whole() -> None:
    topology = fat_tree(8)
    second = switches_of_second(topology, "random-pods", 3)
    assert {topology.nodes[number].pod for number in second} != set(range(4))
    sizes = [sum(topology.nodes[n].pod == pod for n in second) for pod in range(8)]
    assert sorted(sizes) == [0] * 4 + [8] * 4


def test_the_seed_chooses() -> None:
    topology = fat_tree(8)
    chosen = {switches_of_second(topology, "random-switches", seed) for seed in range(5)}
    assert len(chosen) == 5


def test_leaf_spines_have_no_pods() -> None:
    assert len(switches_of_second(leaf_spine(8), "edge", 1)) == 8
    with pytest.raises(UserError, match="no pods"):
        switches_of_second(leaf_spine(8), "random-pods", 1)
    with pytest.raises(UserError, match="moon is unknown"):
        switches_of_second(leaf_spine(8), "moon", 1)
