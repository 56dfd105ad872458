"""Rings: all-reduce, reduce-scatter, all-gather and broadcast around one ring of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traffic.collectives.costs import OPTIONS as COSTS
from traffic.collectives.costs import Costs, costs_of
from traffic.flows import Flows, joined
from traffic.request import GROUP, Request, Volume
from traffic.waits import waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

CHUNK_BYTES = 2 << 20
"""NCCL's largest chunk of a ring step (protocol Simple)."""

OPTIONS = {"chunk": f"{CHUNK_BYTES} bytes at most", **GROUP, **COSTS}


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps around a ring of N ranks: which chunk each rank sends, and whether it has to add first.

    In step s, rank r sends chunk r + shift[s] (modulo N) to rank r + 1.
    """

    shift: NDArray[np.int64]
    sums: NDArray[np.bool_]
    phase: NDArray[np.int64]
    phases: tuple[str, ...]


def all_reduce_steps(ranks: int) -> Steps:
    """N-1 steps that reduce, then N-1 that copy; the first copy is of the last sum."""
    step = np.arange(2 * (ranks - 1))
    sums = (step > 0) & (step < ranks)
    return Steps(
        -1 - step, sums, np.where(step < ranks - 1, 0, 1), ("reduce-scatter", "all-gather")
    )


def reduce_scatter_steps(ranks: int) -> Steps:
    """N-1 steps, after which rank r has the sum of chunk r."""
    step = np.arange(ranks - 1)
    return Steps(-1 - step, step > 0, np.zeros_like(step), ("reduce-scatter",))


def all_gather_steps(ranks: int) -> Steps:
    """N-1 steps from chunk r at rank r to all chunks everywhere."""
    step = np.arange(ranks - 1)
    return Steps(-step, np.zeros(len(step), dtype=bool), np.zeros_like(step), ("all-gather",))


def ring_all_reduce(request: Request) -> Flows:
    """Make the flows of a ring all-reduce of `message_bytes`, over all hosts or in groups.

    The buffer is cut into N chunks, equal to a byte, of one byte at least. In step s, rank r sends
    chunk r-1-s to rank r+1, after its predecessor's of step s-1 has arrived and its own is sent:
    N-1 steps reduce, N-1 copy. A buffer of more than N chunks of `chunk` bytes goes in several
    rounds. Options as in traffic.collectives.costs, `placement` and `group`.
    """
    return _rings(request, all_reduce_steps)


def reduce_scatter(request: Request) -> Flows:
    """Make a ring reduce-scatter: `message_bytes` at each rank, of which each gets a sum of 1/N."""
    return _rings(request, reduce_scatter_steps)


def all_gather(request: Request) -> Flows:
    """Make a ring all-gather: each rank has 1/N of `message_bytes`, and gets it all."""
    return _rings(request, all_gather_steps)


def broadcast(request: Request) -> Flows:
    """Make a broadcast of `message_bytes` from rank 0 along the ring, chunk after chunk.

    A rank passes a chunk on when it has arrived and the one before is sent.
    """
    chunk, costs = _chunk(request), costs_of(request)
    chunks = -(-request.message_bytes // chunk)
    sizes = np.diff(np.arange(chunks + 1) * request.message_bytes // chunks)
    return joined([_broadcast(ranks, sizes, costs) for ranks in request.groups()])


def broadcast_volume(request: Request) -> Volume:
    """Say how much a broadcast comes to."""
    links = request.hosts - request.hosts // request.group_size()
    return Volume(
        -(-request.message_bytes // _chunk(request)) * links, request.message_bytes * links
    )


def around(ranks: NDArray[np.int64], size: int, steps: Steps) -> Flows:
    """Make the steps of one ring of ranks with a buffer of `size` bytes, in NCCL's chunks."""
    return _ring(ranks, size, max(1, -(-size // (len(ranks) * CHUNK_BYTES))), steps, Costs())


def passed_on(ranks: NDArray[np.int64], size: int) -> Flows:
    """Make a broadcast of `size` bytes from the first of the ranks on, in NCCL's chunks."""
    chunks = max(1, -(-size // CHUNK_BYTES))
    sizes = np.maximum(np.diff(np.arange(chunks + 1) * size // chunks), 1)
    return _broadcast(ranks, sizes, Costs())


def volume(request: Request, passes: int) -> Volume:
    """Say how much a collective comes to that brings each chunk around its ring so many times."""
    ranks = request.group_size()
    links = request.hosts * (ranks - 1) * passes
    return Volume(links * _rounds(request, ranks), links * request.message_bytes // ranks)


def _rings(request: Request, steps_of: Callable[[int], Steps]) -> Flows:
    costs = costs_of(request)
    groups = request.groups()
    steps = steps_of(groups.shape[1])
    rounds = _rounds(request, groups.shape[1])
    return joined([_ring(ranks, request.message_bytes, rounds, steps, costs) for ranks in groups])


def _chunk(request: Request) -> int:
    return request.whole("chunk", CHUNK_BYTES, at_least=1)


def _rounds(request: Request, ranks: int) -> int:
    return -(-request.message_bytes // (ranks * _chunk(request)))


def _ring(ranks: NDArray[np.int64], size: int, rounds: int, steps: Steps, costs: Costs) -> Flows:
    """Make all steps of all rounds on one ring: rows by step, and in a step by rank."""
    number, count = len(ranks), rounds * len(steps.shift)
    cuts = np.arange(rounds * number + 1) * size // (rounds * number)
    chunk_bytes = np.maximum(np.diff(cuts), 1)
    step, rank = (part.ravel() for part in np.indices((count, number)))
    kind, turn = step % len(steps.shift), step // len(steps.shift)
    sizes = chunk_bytes[turn * number + (rank + steps.shift[kind]) % number]
    later = step > 0
    row = np.flatnonzero(later)
    before = (step[later] - 1) * number
    after = waits(
        len(step),
        np.concatenate((row, row)),
        np.concatenate((before + (rank[later] - 1) % number, before + rank[later])),
    )
    source = ranks[rank]
    return Flows.of(
        source,
        ranks[(rank + 1) % number],
        sizes,
        after=after,
        delay_ps=costs.delay_ps(source, sizes * steps.sums[kind]),
        phase=steps.phase[kind],
        phases=steps.phases,
    )


def _broadcast(ranks: NDArray[np.int64], sizes: NDArray[np.int64], costs: Costs) -> Flows:
    hops = len(ranks) - 1
    chunk, hop = (part.ravel() for part in np.indices((len(sizes), hops)))
    row = np.arange(len(chunk))
    passes, follows = row[hop > 0], row[chunk > 0]
    after = waits(
        len(row),
        np.concatenate((passes, follows)),
        np.concatenate((passes - 1, follows - hops)),
    )
    source = ranks[hop]
    return Flows.of(
        source, ranks[hop + 1], sizes[chunk], after=after, delay_ps=costs.delay_ps(source, 0)
    )
