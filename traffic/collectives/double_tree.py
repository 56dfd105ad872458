"""Double binary tree all-reduce, with trees as NCCL builds them from the bits of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from errors import UserError
from traffic.collectives.costs import OPTIONS as COSTS
from traffic.collectives.costs import costs_of
from traffic.flows import Flows, joined
from traffic.request import GROUP, Request, Volume
from traffic.waits import waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.collectives.costs import Costs

LARGEST_CHUNK_BYTES = 512 << 10
NVLINK_GBPS = 3600  # of the fourth generation, one direction
PHASES = ("chain", "reduce", "broadcast")
OPTIONS = {
    "chunk": "nccl, or bytes",
    "server": "1 GPU",
    "nvlink_gbps": f"{NVLINK_GBPS}",
    **GROUP,
    **COSTS,
}


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
    """Make the flows of a double-tree all-reduce of `message_bytes`, over all hosts or in groups.

    Each tree carries half of the buffer to its root and back, in chunks. An inner rank sends a
    chunk up when it has arrived from all its children, and down when it has arrived from above; the
    root sends it down when it has arrived from all its children. Chunks of an edge leave one after
    the other. Options: `chunk` bytes, or `nccl` for what NCCL takes; `server` GPUs a server
    (1), and `nvlink_gbps` between them; and those of traffic.collectives.costs, `placement`
    and `group`.

    With servers, trees span servers as NCCL's do: each GPU of a server is the head of one channel,
    which carries its part of the buffer. Within the server a channel is a chain that ends at its
    head: before the head sends a chunk up, the sum has come down the chain.
    """
    costs, server = costs_of(request), request.whole("server", 1, at_least=1)
    groups = request.groups()
    servers, rest = divmod(groups.shape[1], server)
    share = request.message_bytes // server
    if rest or servers < 2:
        raise UserError(f"{groups.shape[1]} hosts do not make two or more servers of {server}")
    if share < 2:
        raise UserError(f"{server} channels of two trees need at least {2 * server} bytes")
    chunk = _chunk(request, servers, server)
    chain_ps = _chain_ps(request, server)
    low = share // 2
    trees = ((first_tree(servers), low), (second_tree(servers), share - low))
    return joined(
        [
            _through(tree, heads, half, min(chunk, half), costs=costs, chain_ps=chain_ps)
            for ranks in groups
            for heads in ranks.reshape(servers, server).T
            for tree, half in trees
        ]
    )


def nccl_chunk(message_bytes: int, channels: int, deep: int) -> int:
    """Return the bytes of a chunk in NCCL's trees (protocol Simple): 512 KiB, or less.

    `channels` is how many trees share the buffer, `deep` the trees' depth.
    """
    chunk = LARGEST_CHUNK_BYTES
    for times, least in ((8, 128 << 10), (4, 64 << 10), (1, 32 << 10)):
        while message_bytes // (channels * chunk) < deep * times and chunk > least:
            chunk //= 2
    return chunk


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    server = request.whole("server", 1, at_least=1)
    servers = max(request.group_size() // server, 1)
    share, chunk = request.message_bytes // server, _chunk(request, servers, server)
    chunks = -(-(share // 2) // chunk) + -(-(share - share // 2) // chunk)
    rows = 2 * (servers - 1) + (servers if server > 1 else 0)
    channels = request.hosts // request.group_size() * server
    return Volume(channels * chunks * rows, channels * 2 * (servers - 1) * share)


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


def _through(
    tree: list[Node],
    ranks: NDArray[np.int64],
    half: int,
    chunk: int,
    *,
    costs: Costs,
    chain_ps: tuple[int, float],
) -> Flows:
    """Make the flows that carry `half` bytes up and down a tree, chunk by chunk.

    `chain_ps` is how many links the chain before each rank has, and their time a byte.
    """
    links, per_byte = chain_ps
    pattern = _one_chunk(tree, chained=links > 0)
    rows, chunks = len(pattern.source), -(-half // chunk)
    sizes = np.full(chunks, chunk)
    sizes[-1] = half - chunk * (chunks - 1)
    begin = rows * np.arange(chunks)[:, None]
    in_turn = np.arange(rows, rows * chunks)
    source, destination = (
        np.tile(ranks[ends], chunks) for ends in (pattern.source, pattern.destination)
    )
    size = np.repeat(sizes, rows)
    computes = source == destination
    delay = costs.delay_ps(source, size * np.tile(pattern.summed, chunks))
    # The first chunk goes along the whole chain, each other one follows it by its own length.
    length = np.where(np.arange(len(size)) < rows, links, 1)
    chain = np.rint(size * length * per_byte).astype(np.int64)
    return Flows.of(
        source,
        destination,
        np.where(computes, 0, size),
        after=waits(
            rows * chunks,
            np.concatenate(((begin + pattern.waiting[:, 0]).ravel(), in_turn)),
            np.concatenate(((begin + pattern.waiting[:, 1]).ravel(), in_turn - rows)),
        ),
        delay_ps=np.where(computes, chain, delay),
        phase=np.tile(pattern.phase, chunks),
        phases=PHASES,
    )


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A chunk's way up and down a tree, as rows: their ends, how many sums each waits to be made.

    `waiting` has pairs of rows: the first of a pair waits for the second.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    summed: NDArray[np.int64]
    phase: NDArray[np.int64]
    waiting: NDArray[np.int64]


def _one_chunk(tree: list[Node], *, chained: bool) -> _Pattern:
    order = _from_the_root(tree)
    rows: list[tuple[int, int, int, int]] = []
    waiting: list[tuple[int, int]] = []
    arriving: dict[int, list[int]] = {rank: [] for rank in order}  # rows that bring the chunk

    def add(source: int, destination: int, summed: int, phase: int) -> int:
        rows.append((source, destination, summed, phase))
        waiting.extend((len(rows) - 1, row) for row in arriving[source] if row < len(rows) - 1)
        return len(rows) - 1

    if chained:
        for rank in order:
            rows.append((rank, rank, 0, 0))
            arriving[rank].append(len(rows) - 1)
    for rank in reversed(order):
        parent, children = tree[rank]
        if parent is not None:
            arriving[parent].append(add(rank, parent, len(children), 1))
    for rank in order:
        summed = len(tree[rank].children) if tree[rank].parent is None else 0
        for child in tree[rank].children:
            arriving[child] = [add(rank, child, summed, 2)]
    source, destination, sums, phase = np.array(rows).T
    return _Pattern(source, destination, sums, phase, np.array(waiting).reshape(-1, 2))


def _chunk(request: Request, servers: int, server: int) -> int:
    if request.options.get("chunk", "nccl") == "nccl":
        return nccl_chunk(request.message_bytes, 2 * server, depth(first_tree(servers)))
    return request.whole("chunk", LARGEST_CHUNK_BYTES, at_least=1)


def _chain_ps(request: Request, server: int) -> tuple[int, float]:
    """Return how many links there are between a server's GPUs, and what a byte takes on one."""
    rate = request.number("nvlink_gbps", NVLINK_GBPS)
    if not rate > 0:
        raise UserError(f"option nvlink_gbps is {rate:g}; it must be above 0")
    return server - 1, 8000 / rate


def _from_the_root(tree: list[Node]) -> list[int]:
    order = [rank for rank, node in enumerate(tree) if node.parent is None]
    for rank in order:
        order.extend(tree[rank].children)
    return order
