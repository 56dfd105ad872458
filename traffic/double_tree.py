"""Double binary tree all-reduce, with trees as NCCL builds them from the bits of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from errors import UserError
from traffic.flows import Flows, joined
from traffic.waits import waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.request import Request

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

    Each tree carries half of the buffer to its root and back, in chunks of `chunk` bytes (4096). An
    inner rank sends a chunk up when it has arrived from all its children, and down when it has
    arrived from above; the root sends it down when it has arrived from all its children. Chunks of
    an edge leave one after the other. Option `placement`: ranks are hosts `in-order`, or placed at
    `random`.
    """
    ranks = request.ranks()
    number = len(ranks)
    if number < 2 or request.message_bytes < 2:
        raise UserError(f"two trees need 2 hosts and 2 bytes, not {number} hosts")
    chunk = request.whole("chunk", CHUNK_BYTES, at_least=1)
    low = request.message_bytes // 2
    trees = ((first_tree(number), low), (second_tree(number), request.message_bytes - low))
    return joined([_through(tree, ranks, half, chunk) for tree, half in trees])


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


def _through(tree: list[Node], ranks: NDArray[np.int64], half: int, chunk: int) -> Flows:
    """Make the flows that carry `half` bytes up and down a tree, chunk by chunk."""
    edges, waiting = _one_chunk(tree)
    rows, chunks = len(edges), -(-half // chunk)
    sizes = np.full(chunks, chunk)
    sizes[-1] = half - chunk * (chunks - 1)
    begin = rows * np.arange(chunks)[:, None]
    in_turn = np.arange(rows, rows * chunks)
    source, destination = np.tile(ranks[edges].T, chunks)
    after = waits(
        rows * chunks,
        np.concatenate(((begin + waiting[:, 0]).ravel(), in_turn)),
        np.concatenate(((begin + waiting[:, 1]).ravel(), in_turn - rows)),
    )
    return Flows.of(source, destination, np.repeat(sizes, rows), after=after)


def _one_chunk(tree: list[Node]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a chunk's way up and down a tree: rows (source, destination), and who waits for whom.

    The second has pairs of rows: the first of a pair waits for the second.
    """
    order = _from_the_root(tree)
    edges: list[tuple[int, int]] = []
    waiting: list[tuple[int, int]] = []
    arriving: dict[int, list[int]] = {rank: [] for rank in order}  # rows that bring the chunk
    for rank in reversed(order):
        parent = tree[rank].parent
        if parent is not None:
            waiting += [(len(edges), row) for row in arriving[rank]]
            arriving[parent].append(len(edges))
            edges.append((rank, parent))
    for rank in order:
        for child in tree[rank].children:
            waiting += [(len(edges), row) for row in arriving[rank]]
            arriving[child] = [len(edges)]
            edges.append((rank, child))
    return np.array(edges), np.array(waiting).reshape(-1, 2)


def _from_the_root(tree: list[Node]) -> list[int]:
    order = [rank for rank, node in enumerate(tree) if node.parent is None]
    for rank in order:
        order.extend(tree[rank].children)
    return order
