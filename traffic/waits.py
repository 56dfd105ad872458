"""Who waits for whom among flows."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True)
class Waits:
    """Who waits for whom: row i waits for `flow[first[i] : first[i + 1]]`.

    `first` has one number more than there are rows. Every row waits for earlier rows only, so that
    rows in order are an order in which everything can be done, and nothing waits for itself.
    `acknowledged` says, for each number in `flow`, whether a sender's own flow must have been
    acknowledged, not only sent.
    """

    first: NDArray[np.int64]
    flow: NDArray[np.int64]
    acknowledged: NDArray[np.bool_]

    @property
    def count(self) -> NDArray[np.int64]:
        """How many flows each row waits for."""
        return np.diff(self.first)

    @property
    def row(self) -> NDArray[np.int64]:
        """The row that waits, for each number in `flow`."""
        return np.repeat(np.arange(len(self.first) - 1), self.count)

    def of(self, row: int) -> NDArray[np.int64]:
        """Return the flows that a row waits for."""
        return self.flow[self.first[row] : self.first[row + 1]]


def waits(rows: int, row: ArrayLike, flow: ArrayLike, *, acknowledged: ArrayLike = False) -> Waits:
    """Return who waits for whom, given as pairs in any order: `row[i]` waits for `flow[i]`."""
    row, flow = _whole(row), _whole(flow)
    order = np.argsort(row, kind="stable")
    first = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=rows), out=first[1:])
    return Waits(first, flow[order], np.broadcast_to(np.asarray(acknowledged), len(row))[order])


def waits_for_one(flow: NDArray[np.int64]) -> Waits:
    """Return who waits for whom where row i waits for `flow[i]`, or for nobody if that is -1."""
    waiting = flow >= 0
    awaited = flow[waiting]
    first = np.concatenate(([0], np.cumsum(waiting)))
    return Waits(first, awaited, np.broadcast_to(np.False_, len(awaited)))


class CycleError(ValueError):
    """Flows that wait for each other: `rows`, each of which waits for the next, the last for the
    first.
    """  # noqa: D205

    def __init__(self, rows: list[int]) -> None:
        """Keep the rows of the cycle."""
        self.rows = rows
        super().__init__(f"flows wait for each other: {rows}")


def execution_order(
    rows: int, row: NDArray[np.int64], flow: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return an order of all rows in which each comes after those it waits for.

    `row[i]` waits for `flow[i]`. Rows keep their order as far as that goes. Raises CycleError if
    there is no such order.
    """
    if np.all(flow < row):
        return np.arange(rows)
    missing = np.bincount(row, minlength=rows).tolist()
    released = waits(rows, flow, row)
    first, waiting = released.first.tolist(), released.flow.tolist()
    ready = [number for number, count in enumerate(missing) if count == 0]
    order: list[int] = []
    while ready:
        number = heapq.heappop(ready)
        order.append(number)
        for other in waiting[first[number] : first[number + 1]]:
            missing[other] -= 1
            if missing[other] == 0:
                heapq.heappush(ready, other)
    if len(order) < rows:
        raise CycleError(_cycle(missing, waits(rows, row, flow)))
    return np.array(order, dtype=np.int64)


def _cycle(missing: list[int], after: Waits) -> list[int]:
    """Follow, from any row that never gets ready, rows that it waits for and that do not either."""
    way = [next(number for number, count in enumerate(missing) if count)]
    while True:
        following = next(int(flow) for flow in after.of(way[-1]) if missing[flow])
        if following in way:
            return way[way.index(following) :]
        way.append(following)


def _whole(numbers: ArrayLike) -> NDArray[np.int64]:
    return np.asarray(numbers, dtype=np.int64)
