"""Flows as columns: what every world sends, and what every workload produces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Flows:
    """Messages from host to host, one per row; row number = flow id.

    `source` and `destination` are host numbers, `size_bytes` the message's payload bytes, and
    `after` the row of a flow that must have been delivered to this flow's source before this one
    starts (-1: starts at time 0). All arrays have the same length.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.source)


def at_once(
    source: NDArray[np.int64], destination: NDArray[np.int64], size_bytes: NDArray[np.int64]
) -> Flows:
    """Flows that all start at time 0."""
    return Flows(source, destination, size_bytes, np.full(len(source), -1, dtype=np.int64))
