"""Costs of all-reduce over a ring and over a double binary tree (the alpha-beta model).

`alpha` is the latency of a message in seconds, `beta` the seconds a byte takes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST_CHUNK_POWER = 40


def tree_depth(ranks: int) -> int:
    """Return the depth of NCCL's binary tree of that many ranks: the bits of the last one."""
    return (ranks - 1).bit_length()


def ring_time(size: float, ranks: int, alpha: float, beta: float) -> float:
    """Return the seconds that a ring takes to all-reduce `size` bytes: 2(N-1) steps."""
    return 2 * (ranks - 1) * alpha + 2 * size * beta * (ranks - 1) / ranks


def tree_time(size: float, ranks: int, alpha: float, beta: float, chunk: float) -> float:
    """Return the seconds that a double tree takes with its halves cut into chunks.

    A chunk is on its way for 2D steps, D the trees' depth, and size / (2 chunk) of them follow each
    other; a step moves four chunks through a rank's NIC.
    """
    chunks = size / (2 * chunk)
    return (2 * tree_depth(ranks) + chunks - 1) * (alpha + 4 * chunk * beta)


def best_tree_time(size: float, ranks: int, alpha: float, beta: float) -> float:
    """Return the double tree's time with the best chunk that is a power of two bytes."""
    largest = max(0, math.floor(math.log2(max(1.0, size / 2))))
    return min(
        tree_time(size, ranks, alpha, beta, 2**power)
        for power in range(min(largest, LARGEST_CHUNK_POWER) + 1)
    )


def crossover(ranks: int, alpha: float, beta: float) -> float | None:
    """Return the size in bytes from which on the ring is quicker; None if the tree always is.

    Sizes are powers of two from 1 B to 1 TiB; the tree is quicker at all smaller ones.
    """
    for power in range(LARGEST_CHUNK_POWER + 1):
        size = 2.0**power
        if ring_time(size, ranks, alpha, beta) < best_tree_time(size, ranks, alpha, beta):
            return size
    return None


def bus_bandwidth(size: float, seconds: float, ranks: int) -> float:
    """Return an all-reduce's bus bandwidth in bytes a second, as nccl-tests define it."""
    return size / seconds * 2 * (ranks - 1) / ranks


def fit(sizes: Sequence[float], seconds: Sequence[float], ranks: int) -> tuple[float, float]:
    """Fit alpha and beta to measured times of a ring, so that relative errors are least squared."""
    steps = 2 * (ranks - 1)
    times = np.asarray(seconds, dtype=np.float64)
    terms = np.stack((np.full(len(times), steps), np.asarray(sizes) * steps / ranks), axis=1)
    found = np.linalg.lstsq(terms / times[:, None], np.ones(len(times)))[0]
    return float(found[0]), float(found[1])
