"""Flows as columns: what every world sends, and what every workload produces."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from traffic.waits import Waits, waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Flows:
    """Messages from host to host and computations of hosts, one per row; row number = flow id.

    `source` and `destination` are host numbers, `size_bytes` the message's payload bytes. A row
    without bytes, from a host to itself, is a computation. A row waits for the flows in `after`,
    each of which either ends at its source (then it must have been delivered) or comes from there
    (then it must have been sent). It begins `delay_ps` after the last of them (after time 0 if
    there are none), and not before `start_ps`; a computation has ended then. `phase` is the part of
    the collective that a row belongs to, a place in `phases`. All columns have the same length.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    after: Waits
    start_ps: NDArray[np.int64]
    delay_ps: NDArray[np.int64]
    phase: NDArray[np.int64]
    phases: tuple[str, ...] = ("",)

    @classmethod
    def of(
        cls,
        source: NDArray[np.int64],
        destination: NDArray[np.int64],
        size_bytes: NDArray[np.int64],
        *,
        after: Waits | None = None,
        start_ps: ArrayLike = 0,
        delay_ps: ArrayLike = 0,
        phase: ArrayLike = 0,
        phases: Sequence[str] = ("",),
    ) -> Self:
        """Make flows that wait for nobody, start at 0 and belong to one phase unless told."""
        rows = len(source)

        def whole(column: ArrayLike) -> NDArray[np.int64]:
            return np.broadcast_to(np.asarray(column, dtype=np.int64), rows)

        return cls(
            source,
            destination,
            size_bytes,
            waits(rows, (), ()) if after is None else after,
            whole(start_ps),
            whole(delay_ps),
            whole(phase),
            tuple(phases),
        )

    def waiting(self, after: Waits) -> Self:
        """Return the same flows with other waits."""
        return replace(self, after=after)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def computes(self) -> NDArray[np.bool_]:
        """Rows that are computations, not messages."""
        return np.equal(self.source, self.destination)


def joined(parts: Sequence[Flows]) -> Flows:
    """Return flows of which the first part comes first, each with its own waits and phases."""
    offsets = np.cumsum([0, *(len(part) for part in parts)])
    entries = np.cumsum([0, *(len(part.after.flow) for part in parts)])
    names = np.cumsum([0, *(len(part.phases) for part in parts)])
    firsts = [part.after.first[:-1] + begin for part, begin in zip(parts, entries, strict=False)]
    after = Waits(
        np.concatenate([*firsts, entries[-1:]]),
        _stacked([part.after.flow + begin for part, begin in zip(parts, offsets, strict=False)]),
        np.concatenate([np.zeros(0, dtype=bool), *(part.after.acknowledged for part in parts)]),
    )
    phase = _stacked([part.phase + begin for part, begin in zip(parts, names, strict=False)])
    plain = {
        column.name: _stacked([getattr(part, column.name) for part in parts])
        for column in fields(Flows)
        if column.name not in ("after", "phase", "phases")
    }
    phases = tuple(name for part in parts for name in part.phases)
    return Flows(**plain, after=after, phase=phase, phases=phases)


def _stacked(arrays: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])
