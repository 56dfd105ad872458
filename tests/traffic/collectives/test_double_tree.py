from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from traffic.collectives.double_tree import Node, depth, first_tree, nccl_chunk, second_tree
from traffic.request import Request
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
    request = Request(hosts, 1, 1, message, np.random.default_rng(1), {"chunk": 1000})
    flows = make("double-tree", request)
    assert flows.size_bytes.sum() == 2 * (hosts - 1) * message
    assert np.all(flows.after.flow < flows.after.row)
    assert flows.size_bytes.max() == 1000


def test_nccl_chunk__is_smaller_where_there_would_be_few() -> None:
    assert nccl_chunk(1 << 30, channels=2, deep=4) == 512 << 10
    assert nccl_chunk(1 << 20, channels=2, deep=4) == 64 << 10
    assert nccl_chunk(1000, channels=2, deep=4) == 32 << 10


def test_double_tree_all_reduce__with_servers__spans_servers_on_every_rank() -> None:
    request = Request(16, 2, 4, 1 << 20, np.random.default_rng(1), {"server": 4})
    flows = make("double-tree", request)
    sends = ~flows.computes
    assert set((flows.source[sends] % 4 - flows.destination[sends] % 4).tolist()) == {0}
    assert flows.size_bytes.sum() == 2 * 3 * (1 << 20)
    # A leaf of a tree sends up what its server's chain has summed.
    leaf = int(np.flatnonzero(sends)[0])
    (chain,) = flows.after.of(leaf).tolist()
    assert flows.computes[chain]
    assert flows.delay_ps[chain] == round(3 * flows.size_bytes[leaf] * 8000 / 3600)


def test_double_tree_all_reduce__costs_delay_who_sums() -> None:
    options: dict[str, float | str] = {
        "alpha_ns": 100,
        "reduce_ps_per_byte": 2,
        "slow": "2:0.5",
        "chunk": 1 << 20,
    }
    flows = make("double-tree", Request(4, 2, 4, 2000, np.random.default_rng(1), options))
    up = {
        (int(source), int(destination)): int(delay)
        for source, destination, delay in zip(
            flows.source[:3], flows.destination[:3], flows.delay_ps[:3], strict=True
        )
    }
    assert up == {(1, 2): 100_000, (3, 2): 100_000, (2, 0): 100_000 + 2 * 2 * 2 * 1000}
