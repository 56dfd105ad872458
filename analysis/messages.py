"""The messages of a run as columns, and the frames that each is sent in.

All times of this room's bounds are whole picoseconds of paper time, rounded as the event core
rounds them, so that what must not be exceeded is compared exactly.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.critical_path import Graph, graph_of
from testbed.scenario.distances import hops_between
from testbed.scenario.speeds import STAGES, tier_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from testbed.scenario import Scenario
    from testbed.scenario.speeds import Speed

    Column = NDArray[np.int64]

PICOSECONDS = 1000  # per nanosecond


@dataclass(frozen=True, slots=True)
class Messages:
    """Host numbers, bytes and links between the two ends, a row a message.

    `subflows` are the pieces that a message is cut into before packets are. `graph` says who waits
    for whom among messages and computations, `step` which of its steps each message is.
    """

    source: Column
    destination: Column
    size: Column
    hops: Column
    subflows: Column
    graph: Graph
    step: Column


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames of up to three sizes for each message, in the order in which its source sends them.

    `payload` and `count` have a row a size, a column a message: full ones, then what is left of the
    longer subflows and of the others, where any message has such.
    """

    payload: Column
    count: Column


def messages_of(scenario: Scenario, steps: pd.DataFrame) -> Messages:
    """Return the messages of a run from the rows of its flows.csv."""
    step = np.flatnonzero(steps["bytes"].to_numpy())
    source, destination, size, subflows = (
        steps[name].to_numpy()[step] for name in ("src", "dst", "bytes", "subflows")
    )
    hops = hops_between(source, destination, scenario)
    machines = scenario.shape.hosts_per_plane
    return Messages(source, destination, size, hops, subflows, graph_of(steps, machines), step)


def frames_of(messages: Messages, payload_bytes: int) -> Frames:
    """Cut messages into subflows of equal size to a byte, and those into packets."""
    piece, longer = np.divmod(messages.size, messages.subflows)
    whole, rest = np.divmod(piece, payload_bytes)
    filled = rest + 1 == payload_bytes
    count = np.stack(
        (
            whole * messages.subflows + np.where(filled, longer, 0),
            np.where(filled, 0, longer),
            np.where(rest > 0, messages.subflows - longer, 0),
        )
    )
    payload = np.stack((np.full_like(rest, payload_bytes), rest + 1, rest))
    used = count.any(axis=1) | (payload[:, 0] == payload_bytes)
    return Frames(payload[used], count[used])


LAST = len(STAGES) - 1
LEAST_HOPS = (0, 4, 6, 6, 4, 0)
"""Between hosts how far apart a frame crosses each of STAGES."""


@dataclass(frozen=True)
class Link:
    """What the frames of messages take on the links on their way, in picoseconds.

    Hosts' links count with their own rates and delays: a column a message where they differ,
    otherwise one number. Where other links of a tier differ, each counts as the fastest of them.
    """

    scenario: Scenario
    source: Column
    destination: Column

    @classmethod
    def of(cls, scenario: Scenario, messages: Messages) -> Link:
        """Return what data frames take."""
        return cls(scenario, messages.source, messages.destination)

    @property
    def of_acks(self) -> Link:
        """What ACKs take, which go the other way."""
        return Link(self.scenario, self.destination, self.source)

    @functools.cached_property
    def speeds(self) -> tuple[Speed, ...]:
        """The highest speed of each of STAGES."""
        speeds = self.scenario.speeds
        return tuple(speeds.best(tier) for tier in STAGES)

    @functools.cached_property
    def _per_byte(self) -> tuple[NDArray[np.float64] | float, ...]:
        between = [speed.picoseconds_per_byte for speed in self.speeds[1:LAST]]
        first, last = (self._of_hosts(hosts)[0] for hosts in (self.source, self.destination))
        return first, *between, last

    @functools.cached_property
    def _delays(self) -> tuple[Column | int, ...]:
        between = [speed.delay_ps for speed in self.speeds[1:LAST]]
        first, last = (self._of_hosts(hosts)[1] for hosts in (self.source, self.destination))
        return first, *between, last

    def _of_hosts(self, hosts: Column) -> tuple[NDArray[np.float64] | float, Column | int]:
        """Return what a byte takes on the links of hosts, and their delays."""
        speeds = self.scenario.speeds
        usual = speeds.tiers[STAGES[0]]
        own = {
            int(lower[1:]): speed
            for (lower, upper), speed in speeds.links.items()
            if tier_of(lower, upper) == STAGES[0] and speed != usual
        }
        if not own:
            return usual.picoseconds_per_byte, usual.delay_ps
        number = self.scenario.shape.hosts
        per_byte = np.full(number, usual.picoseconds_per_byte)
        delay = np.full(number, usual.delay_ps)
        for host, speed in own.items():
            per_byte[host], delay[host] = speed.picoseconds_per_byte, speed.delay_ps
        return per_byte[hosts], delay[hosts]

    def time(self, wire_bytes: Column | int) -> Column:
        """Time that a frame of so many bytes takes on its sender's link, without the gap."""
        return self._time(0, wire_bytes)

    def _time(self, stage: int, wire_bytes: Column | int) -> Column:
        return _rounded(np.asarray(wire_bytes) * self._per_byte[stage])

    def upto(self, stage: int, wire_bytes: Column | int, hops: Column | int) -> Column:
        """Time that a frame takes over the links before a stage, delays included."""
        parts = [
            np.where(
                np.asarray(hops) >= LEAST_HOPS[before],
                self._delays[before] + self._time(before, wire_bytes),
                0,
            )
            for before in range(stage)
        ]
        return np.asarray(sum(parts), dtype=np.int64)

    def way(self, wire_bytes: Column | int, hops: Column | int) -> Column:
        """Time that a frame takes over so many links."""
        return self.upto(len(STAGES), wire_bytes, hops)

    def after(self, stage: int, wire_bytes: Column | int, hops: Column | int) -> Column:
        """Time that a frame takes over the links behind a stage."""
        return self.way(wire_bytes, hops) - self.upto(stage + 1, wire_bytes, hops)

    @property
    def gap(self) -> Column:
        """Time between two frames of a sender: T_g."""
        return self.time(self.scenario.gap_bytes)

    @property
    def delay(self) -> Column | int:
        """Time that a bit is on its way over the sender's link."""
        return self._delays[0]

    @property
    def last_gap(self) -> Column:
        """Time between two frames to a receiver."""
        return self._time(LAST, self.scenario.gap_bytes)

    @property
    def last_delay(self) -> Column | int:
        """Time that a bit is on its way over the receiver's link."""
        return self._delays[LAST]

    def data(self, payload_bytes: Column | int) -> Column:
        """Time that a data frame takes on its sender's link: T_d for a full one."""
        return self.time(np.asarray(payload_bytes) + self.scenario.header_bytes)

    def received(self, payload_bytes: Column | int) -> Column:
        """Time that a data frame takes on its receiver's link, with the gap after it."""
        frame = np.asarray(payload_bytes) + self.scenario.header_bytes
        return self._time(LAST, frame) + self.last_gap

    def pace(self, payload_bytes: Column | int) -> Column:
        """Time from a data frame to the next of the same host."""
        return _rounded((self.data(payload_bytes) + self.gap) / self.scenario.load)

    def back(self, hops: Column | int) -> Column:
        """Time from a delivery to its ACK at the sender; nothing where there are none."""
        return self.way(self.scenario.ack_bytes, hops) * int(self.scenario.acks)

    def frame(self, payload_bytes: Column) -> Column:
        """Bytes of a data frame."""
        return payload_bytes + self.scenario.header_bytes


def first_bits(link: Link, messages: Messages, frames: Frames) -> Column:
    """Return how soon after its start a message's first bit can be at the receiver.

    A smaller frame that is sent later may be there first: it takes less time at every switch.
    """
    work = frames.count * link.pace(frames.payload)
    leaves = np.cumsum(work, axis=0) - work
    there = leaves + link.upto(LAST, link.frame(frames.payload), messages.hops)
    there = there + link.last_delay
    earliest: Column = np.where(frames.count > 0, there, np.iinfo(np.int64).max).min(axis=0)
    return earliest


def _rounded(times: NDArray[np.float64]) -> Column:
    rounded: Column = np.floor(times + 0.5).astype(np.int64)
    return rounded
