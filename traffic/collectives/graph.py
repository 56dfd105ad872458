"""Blocks of messages and computations, added in an order of time: what a schedule is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traffic.flows import Flows, joined
from traffic.waits import waits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that belong together, and the number of the first of them in the graph."""

    first: int
    flows: Flows


class Graph:
    """A schedule in the making: each block waits, host by host, for blocks before it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._blocks: list[Block] = []
        self._rows = 0
        self._edges: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []

    def add(
        self, flows: Flows, *, own: Iterable[Block] = (), arriving: Iterable[Block] = ()
    ) -> Block:
        """Add rows that wait for what their host does in `own` blocks, and gets from `arriving`."""
        block = Block(self._rows, flows)
        for other in own:
            self._wait(block, other, other.flows.source)
        for other in arriving:
            self._wait(block, other, other.flows.destination)
        self._blocks.append(block)
        self._rows += len(flows)
        return block

    def compute(
        self,
        name: str,
        hosts: NDArray[np.int64],
        delay_ps: int,
        *,
        own: Iterable[Block] = (),
        arriving: Iterable[Block] = (),
    ) -> Block:
        """Add a computation of each of the hosts."""
        work = Flows.of(hosts, hosts, np.zeros_like(hosts), delay_ps=delay_ps, phases=(name,))
        return self.add(work, own=own, arriving=arriving)

    def flows(self) -> Flows:
        """Return all blocks as flows."""
        whole = joined([block.flows for block in self._blocks])
        nobody = np.zeros((2, 0), dtype=np.int64)
        row, flow = np.concatenate([nobody, *map(np.stack, self._edges)], axis=1)
        return whole.waiting(waits(len(whole), row, flow))

    def _wait(self, block: Block, other: Block, at: NDArray[np.int64]) -> None:
        """Let each row wait for the rows of another block that are at its source."""
        order = np.argsort(at, kind="stable")
        begin, end = (
            np.searchsorted(at[order], block.flows.source, side=side) for side in ("left", "right")
        )
        count = end - begin
        row = np.repeat(np.arange(len(count)), count)
        within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        self._edges.append((block.first + row, other.first + order[begin[row] + within]))
