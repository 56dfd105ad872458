"""Double binary tree all-reduce, with trees as NCCL builds them from the bits of ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from traffic.flows import Flows
from traffic.request import Request, WorkloadError

CHUNK_BYTES = 4096


class Node(NamedTuple):
    """A rank's place in a tree. `parent` is None at the root; the deeper child comes first."""

    parent: int | None
    children: tuple[int, ...]


def first_tree(number: int) -> list[Node]:
    """Return the tree of `number` ranks with root 0, by rank.

    A rank with lowest set bit b has its parent where that bit is cleared and the next one set, or
    only cleared if there is no such rank, and its children b/2 to either side, the upper one as
    much nearer as it takes to exist.
    """
    return [_node(number, rank) for rank in range(number)]


def second_tree(number: int) -> list[Node]:
    """Return the tree in which the first tree's leaves are inner: mirrored, or shifted if odd.

    With an even number no rank is inner in both trees, with an odd one exactly one is.
    """
    mirrored = number % 2 == 0

    def moved(rank: int) -> int:
        return number - 1 - rank if mirrored else (rank + 1) % number

    tree = [Node(None, ())] * number
    for rank, node in enumerate(first_tree(number)):
        parent = None if node.parent is None else moved(node.parent)
        tree[moved(rank)] = Node(parent, tuple(moved(child) for child in node.children))
    return tree


def depth(tree: list[Node]) -> int:
    """Return the number of edges from the root to the deepest rank."""
    root = next(rank for rank, node in enumerate(tree) if node.parent is None)
    level, deepest = [root], -1
    while level:
        level = [child for rank in level for child in tree[rank].children]
        deepest += 1
    return deepest


def double_tree_all_reduce(request: Request) -> Flows:
    """Make the flows of a double-tree all-reduce of `message_bytes` over all hosts.

    Each tree carries half of the buffer to its root and back, in chunks of `chunk` bytes (4096).
    A chunk goes up when it has arrived from below and down when it has arrived from above. A flow
    can wait for one other flow only: an inner rank waits for the child with the deeper subtree,
    whose data shares the rank's link with the other child's and arrives no earlier than that
    child's does while the fabric treats both alike. Option `placement`: ranks are hosts `in-order`,
    or placed at `random`.
    """
    ranks = request.ranks()
    number = len(ranks)
    if number < 2 or request.message_bytes < 2:
        raise WorkloadError(f"two trees need 2 hosts and 2 bytes, not {number} hosts")
    chunk = request.whole("chunk", CHUNK_BYTES, at_least=1)
    low = request.message_bytes // 2
    halves = ((first_tree(number), low), (second_tree(number), request.message_bytes - low))
    rows: list[tuple[int, int, int, int]] = []
    for tree, half in halves:
        for begin in range(0, half, chunk):
            _add_chunk(rows, tree, min(chunk, half - begin))
    source, destination, size, after = np.array(rows, dtype=np.int64).T
    return Flows(ranks[source], ranks[destination], size, after)


def _node(number: int, rank: int) -> Node:
    if rank == 0:
        top = 1 << (number - 1).bit_length() >> 1
        return Node(None, (top,) if number > 1 else ())
    bit = rank & -rank
    parent = (rank ^ bit) | (bit << 1)
    if parent >= number:
        parent = rank ^ bit
    if bit == 1:
        return Node(parent, ())
    reach = bit >> 1
    children = [rank - reach]
    while reach and rank + reach >= number:
        reach >>= 1
    return Node(parent, (*children, rank + reach) if reach else tuple(children))


def _add_chunk(rows: list[tuple[int, int, int, int]], tree: list[Node], size: int) -> None:
    """Append a chunk's way up and down a tree as rows (source, destination, size, after)."""
    order = _from_the_root(tree)
    arrived: dict[int, int] = {}  # rank -> row of the flow that brings it the chunk
    for rank in reversed(order):
        parent, children = tree[rank]
        after = arrived[children[0]] if children else -1
        arrived[rank] = after
        if parent is not None:
            arrived[rank] = len(rows)
            rows.append((rank, parent, size, after))
    for rank in order:
        for child in tree[rank].children:
            row = len(rows)
            rows.append((rank, child, size, arrived[rank]))
            arrived[child] = row


def _from_the_root(tree: list[Node]) -> list[int]:
    order = [rank for rank, node in enumerate(tree) if node.parent is None]
    for rank in order:
        order.extend(tree[rank].children)
    return order
