"""The messages of a collective that a trace has as one node a rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traffic.collectives import ring
from traffic.flows import Flows

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = (
    "all-reduce",
    "reduce",
    "all-gather",
    "gather",
    "scatter",
    "broadcast",
    "all-to-all",
    "reduce-scatter",
    "reduce-scatter",
    "barrier",
)
"""By the numbers of comm_type."""
RINGS = {
    "all-reduce": ring.all_reduce_steps,
    "barrier": ring.all_reduce_steps,
    "all-gather": ring.all_gather_steps,
    "reduce-scatter": ring.reduce_scatter_steps,
}


def messages_of(name: str, ranks: NDArray[np.int64], size: int, root: int) -> Flows:
    """Make the messages between `ranks`, of which the one at place `root` is the root.

    `size` are the bytes of a rank's own buffer: all of it, or its shard in an all-gather. Rings as
    in traffic.collectives.ring; the others send directly.
    """
    number = len(ranks)
    if name in RINGS:
        steps_of = RINGS[name]
        whole = {"all-gather": size * number, "barrier": number}.get(name, size)
        return ring.around(ranks, whole, steps_of(number))
    if name == "broadcast":
        return ring.passed_on(np.roll(ranks, -root), size)
    if name == "all-to-all":
        place, turn = (part.ravel() for part in np.indices((number, number - 1)))
        return _direct(ranks[place], ranks[(place + 1 + turn) % number], size // number)
    others = np.delete(ranks, root)
    here = np.full(number - 1, ranks[root])
    if name == "scatter":
        return _direct(here, others, size // number)
    return _direct(others, here, size)


def _direct(source: NDArray[np.int64], destination: NDArray[np.int64], size: int) -> Flows:
    return Flows.of(source, destination, np.full(len(source), max(1, size), dtype=np.int64))
