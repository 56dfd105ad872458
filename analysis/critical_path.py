"""The critical path of a collective whose messages wait for others: any graph, any waits.

Times are nanoseconds of paper time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Graph:
    """Steps of a collective, each of which waits for earlier ones only.

    Step i is a message of `source[i]`, or a computation there if it is its `destination` too. It
    waits for the steps `awaited[first[i] : first[i + 1]]`: until they are delivered if they end at
    its source, until they are sent if they come from there. Host h is a NIC of machine
    h % `machines`, and all NICs of a machine are one source. It begins `delay[i]` after the last of
    them, and not before `not_before[i]`.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    machines: int
    first: NDArray[np.int64]
    awaited: NDArray[np.int64]
    delay: NDArray[np.float64]
    not_before: NDArray[np.float64]

    @property
    def waits(self) -> bool:
        """Whether any step waits for another."""
        return len(self.awaited) > 0


def graph_of(steps: pd.DataFrame, machines: int) -> Graph:
    """Return the graph that the rows of flows.csv describe; no message begins before time 0."""
    not_before, messages = steps["not_before_ns"].to_numpy(), steps["bytes"].to_numpy() > 0
    first, awaited = _lists(steps["after"])
    return Graph(
        source=steps["src"].to_numpy(),
        destination=steps["dst"].to_numpy(),
        machines=machines,
        first=first,
        awaited=awaited,
        delay=steps["delay_ns"].to_numpy(),
        not_before=np.where(messages, np.maximum(not_before, 0), not_before),
    )


def _lists(texts: pd.Series[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all texts, one after the other, and where those of each text begin."""
    count = np.zeros(len(texts), dtype=np.int64)
    there = texts.to_numpy() != ""
    lists = texts[there]
    count[there] = lists.str.count(" ") + 1
    numbers = np.array(" ".join(lists).split(), dtype=np.int64)
    return np.concatenate(([0], np.cumsum(count))), numbers


@dataclass(frozen=True, slots=True)
class Lasting:
    """How long each step takes where links are idle; all 0 for computations.

    `delivered` is from when a message begins until it is at its receiver, `sent` until its last
    frame begins to leave, `frame` from then until the next frame of its host may leave. `reaches`
    is from when it begins until its first bit can be on the receiver's link, `fills` how long it
    takes that link, with a gap after each frame; `beyond` is from the end of that until the last of
    several messages to the same NIC is delivered, the link's delay less a gap.
    """

    delivered: NDArray[np.float64]
    sent: NDArray[np.float64]
    frame: NDArray[np.float64]
    reaches: NDArray[np.float64]
    fills: NDArray[np.float64]
    beyond: NDArray[np.float64]


def ready_times(graph: Graph, lasting: Lasting) -> NDArray[np.float64]:
    """Return when each step is ready to begin at the earliest.

    Every message finds idle links on its way, but those that a step waits for together share the
    link to their NIC, one after the other. The largest sum of a step's ready time and how long it
    takes to be delivered is the length of the critical path: nothing can be faster.
    """
    if not graph.waits:
        return graph.not_before
    delivered, sent = lasting.delivered.tolist(), lasting.sent.tolist()
    frame, delay = lasting.frame.tolist(), graph.delay.tolist()
    reaches, fills = lasting.reaches.tolist(), lasting.fills.tolist()
    beyond = lasting.beyond.tolist()
    source, destination = graph.source.tolist(), graph.destination.tolist()
    at = (graph.destination % graph.machines).tolist()
    machine = (graph.source % graph.machines).tolist()
    ready: list[float] = graph.not_before.tolist()
    begins, awaited = graph.first.tolist(), graph.awaited.tolist()
    for step in np.flatnonzero(np.diff(graph.first)).tolist():
        time, sends = ready[step], destination[step] != source[step]
        first: dict[int, float] = {}
        filled: dict[int, float] = {}
        rest: dict[int, float] = {}
        for other in awaited[begins[step] : begins[step + 1]]:
            if at[other] == machine[step]:
                begin = ready[other] + delivered[other] + delay[step]
                if fills[other]:
                    nic, reached = destination[other], ready[other] + reaches[other]
                    first[nic] = min(first.get(nic, math.inf), reached)
                    filled[nic] = filled.get(nic, 0.0) + fills[other]
                    rest[nic] = beyond[other]
            else:
                next_frame = frame[other] if sends and source[other] == source[step] else 0.0
                begin = ready[other] + sent[other] + max(delay[step], next_frame)
            time = max(time, begin)
        for nic, work in filled.items():
            time = max(time, first[nic] + work + rest[nic] + delay[step])
        ready[step] = time
    return np.array(ready)
