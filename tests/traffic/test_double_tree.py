from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from traffic.double_tree import Node, depth, first_tree, second_tree
from traffic.workloads import make

SIZES = range(2, 129)


def all_reduce(values: list[Fraction], tree: list[Node]) -> list[Fraction]:
    """Sum the values up the tree and copy the sum down again."""

    def total(rank: int) -> Fraction:
        return values[rank] + sum((total(child) for child in tree[rank].children), Fraction(0))

    out: dict[int, Fraction] = {}
    level = [next(rank for rank, node in enumerate(tree) if node.parent is None)]
    out[level[0]] = total(level[0])
    while level:
        pairs = [(child, rank) for rank in level for child in tree[rank].children]
        out.update({child: out[rank] for child, rank in pairs})
        level = [child for child, _ in pairs]
    return [out[rank] for rank in range(len(values))]


@pytest.mark.parametrize("number", SIZES)
def test_trees__sum_exactly_on_every_rank(number: int) -> None:
    values = [Fraction(rank + 1, rank + 2) for rank in range(number)]
    for tree in (first_tree(number), second_tree(number)):
        assert all_reduce(values, tree) == [sum(values)] * number


@pytest.mark.parametrize("number", SIZES)
def test_trees__parents_and_children_agree(number: int) -> None:
    for tree in (first_tree(number), second_tree(number)):
        assert sum(node.parent is None for node in tree) == 1
        assert all(len(node.children) <= 2 for node in tree)
        for rank, node in enumerate(tree):
            assert all(tree[child].parent == rank for child in node.children)


@pytest.mark.parametrize("number", range(3, 129))
def test_trees__inner_ranks_of_one_are_leaves_of_the_other(number: int) -> None:
    both = [
        rank
        for rank, (one, two) in enumerate(zip(first_tree(number), second_tree(number), strict=True))
        if one.children and two.children
    ]
    assert len(both) == number % 2


def test_first_tree__of_14_ranks() -> None:
    tree = first_tree(14)
    assert tree[0] == Node(None, (8,))
    assert tree[8].children == (4, 12)
    assert tree[4].children == (2, 6)
    assert tree[12].children == (10, 13)
    assert all(tree[rank].children == () for rank in range(1, 14, 2))


@pytest.mark.parametrize(
    ("number", "edges"), [(1, 0), (2, 1), (14, 4), (16, 4), (64, 6), (128, 7), (432, 9)]
)
def test_depth__is_nccls(number: int, edges: int) -> None:
    assert depth(first_tree(number)) == edges


@pytest.mark.parametrize("hosts", [2, 7, 16, 33])
def test_double_tree_all_reduce__moves_each_half_up_and_down_once(hosts: int) -> None:
    message = 10_001
    flows = make(
        "double-tree",
        hosts=hosts,
        hosts_per_edge=1,
        hosts_per_pod=1,
        message_bytes=message,
        options={"chunk": 1000},
        rng=np.random.default_rng(1),
    )
    assert flows.size_bytes.sum() == 2 * (hosts - 1) * message
    assert np.all(flows.after.flow < flows.after.row)
    assert flows.size_bytes.max() == 1000
