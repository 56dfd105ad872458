"""The rings of hybrid sharding: shards go around within a group, sums between its replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traffic.flows import Flows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from traffic.collectives.costs import Costs
    from traffic.collectives.graph import Block, Graph


@dataclass(frozen=True, slots=True)
class Turn:
    """What a collective waits for at each GPU: `rings` (sent and arrived), and `own` work."""

    rings: Sequence[Block] = ()
    own: Sequence[Block] = ()


@dataclass(frozen=True, slots=True)
class Rings:
    """One job's GPUs, shape (replicas, servers of a replica, GPUs of a server).

    GPU r of a server sends to GPU r of the next one: as many rings as a server has GPUs (§6.7).
    What a ring has brought to a server, its GPUs share over NVLink, which takes no time here.
    """

    gpus: NDArray[np.int64]
    costs: Costs

    def gather(self, graph: Graph, name: str, size: int, turn: Turn) -> tuple[Block, ...]:
        """Add an AllGather of shards of `size` bytes within each replica; returns its last step."""
        return self._around(graph, name, [(size, 0)] * (self.gpus.shape[1] - 1), 1, turn)

    def scatter(self, graph: Graph, name: str, size: int, turn: Turn) -> tuple[Block, ...]:
        """Add a ReduceScatter, whose later steps add what has come before they send."""
        steps = self.gpus.shape[1] - 1
        return self._around(
            graph, name, [(size, size if step else 0) for step in range(steps)], 1, turn
        )

    def reduce(self, graph: Graph, name: str, size: int, turn: Turn) -> tuple[Block, ...]:
        """Add an AllReduce of `size` bytes among the replicas of each GPU."""
        replicas = self.gpus.shape[0]
        part = max(1, -(-size // replicas))
        sums = [(part, part if 0 < step < replicas else 0) for step in range(2 * (replicas - 1))]
        return self._around(graph, name, sums, 0, turn)

    def _around(
        self, graph: Graph, name: str, steps: Sequence[tuple[int, int]], axis: int, turn: Turn
    ) -> tuple[Block, ...]:
        """Add steps, of so many bytes sent and summed, along an axis of the GPUs."""
        source = self.gpus.ravel()
        destination = np.roll(self.gpus, -1, axis=axis).ravel()
        before, own = tuple(turn.rings), tuple(turn.own)
        for size, summed in steps:
            flows = Flows.of(
                source,
                destination,
                np.full(len(source), size, dtype=np.int64),
                delay_ps=self.costs.delay_ps(source, summed),
                phases=(name,),
            )
            before, own = (graph.add(flows, own=(*before, *own), arriving=before),), ()
        return before
