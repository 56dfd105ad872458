"""Ofan's four-stage combining pipeline (paper, Appendix I) as a model that can be run.

A batch of packets arrives at once, one a lane, several perhaps for the same pointer. The pipeline
sorts the batch by pointer, combines the counts of equal ones, updates each pointer once, and hands
each packet the port it would have had if the packets had come one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IDLE = None
Lane = tuple[int, int]  # (pointer, lane it came from)


@dataclass(slots=True)
class Pipeline:
    """Pointers of a switch with `width` uplinks, and how often each register was written."""

    width: int
    pointers: list[int]
    updates: int = 0

    def process(self, batch: Sequence[int | None]) -> list[int | None]:
        """Return the uplink of each lane's packet; lanes without a packet are None.

        `batch` names each packet's pointer. Its length is the number of lanes, a power of two.
        Every pointer named in it is read and written exactly once.
        """
        lanes = _sorted(batch, len(self.pointers))
        position = _positions(lanes)
        ports: list[int | None] = [IDLE] * len(batch)
        fetched = 0
        for place, (pointer, _) in reversed(list(enumerate(lanes))):
            if pointer == len(self.pointers):
                continue
            if place + 1 == len(lanes) or lanes[place + 1][0] != pointer:  # the group's master
                fetched = self._fetch_and_add(pointer, position[place] + 1)
            ports[lanes[place][1]] = (fetched + position[place]) % self.width
        return ports

    def _fetch_and_add(self, pointer: int, count: int) -> int:
        value = self.pointers[pointer]
        self.pointers[pointer] = (value + count) % self.width
        self.updates += 1
        return value


def one_by_one(
    width: int, pointers: Sequence[int], batch: Sequence[int | None]
) -> tuple[list[int | None], list[int]]:
    """Return the ports and the pointers afterwards if lanes are served in order: the reference."""
    after = list(pointers)
    ports: list[int | None] = []
    for pointer in batch:
        if pointer is None:
            ports.append(IDLE)
        else:
            ports.append(after[pointer])
            after[pointer] = (after[pointer] + 1) % width
    return ports, after


def bitonic_stages(lanes: int) -> Iterator[list[tuple[int, int, bool]]]:
    """Yield the stages of a bitonic sorting network as comparators (low, high, ascending).

    Each stage has lanes/2 comparators that touch every lane once, so that it is one step of
    hardware; there are b(b+1)/2 stages for 2^b lanes. Raises ValueError for other numbers of lanes.
    """
    if lanes < 1 or lanes & (lanes - 1):
        raise ValueError(f"{lanes} lanes; a bitonic network needs a power of two")
    block = 2
    while block <= lanes:
        distance = block // 2
        while distance:
            yield [
                (lane, lane | distance, not lane & block)
                for lane in range(lanes)
                if not lane & distance
            ]
            distance //= 2
        block *= 2


def _sorted(batch: Sequence[int | None], pointers: int) -> list[Lane]:
    """Stage 1: sort lanes by (pointer, lane); idle lanes come last."""
    lanes = [(pointers if key is None else key, lane) for lane, key in enumerate(batch)]
    for stage in bitonic_stages(len(lanes)):
        for low, high, ascending in stage:
            if (lanes[low] > lanes[high]) == ascending:
                lanes[low], lanes[high] = lanes[high], lanes[low]
    return lanes


def _positions(lanes: list[Lane]) -> list[int]:
    """Stage 2: each lane's position within its group, by a segmented scan in log2(lanes) steps."""
    position = [0] * len(lanes)
    reach = 1
    while reach < len(lanes):
        position = [
            position[place] + (position[place - reach] + 1)
            if position[place] == reach - 1
            and place >= reach
            and lanes[place - reach][0] == lanes[place][0]
            else position[place]
            for place in range(len(lanes))
        ]
        reach *= 2
    return position
