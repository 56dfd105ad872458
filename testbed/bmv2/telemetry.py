"""What p4/programs/fabric/telemetry.p4 noted in a switch's registers, as the event core's records.

Registers count microseconds since the switch's start and frames; records have picoseconds of paper
time and bytes as ports charge them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from testbed.dataplane.records import dtype_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from testbed.scenario import Scenario

PREFIX = "Departure."
COUNTS = ("packets", "bytes", "waited", "peak", "marks")
PER_PORT = ("gaps", "gaps_10", "gaps_25", "gaps_100", "late")
RING = ("slots",)
FRAME = PREFIX + "frame_us"
PEAK_BITS = 16
SLOTS = 64
SLOT_US = 1 << 14
FCS_BYTES = 4
PICOSECONDS = 1_000_000  # per microsecond

Registers = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Timing:
    """How a switch's microseconds become paper time: its 0 on the monotonic clock, and more.

    `start_us` is when paper time 0 was.
    """

    epoch_us: float
    start_us: float
    dilation: float

    def paper_ps(self, switch_us: float) -> int:
        """Return a switch's time as paper time; 0 for what was before."""
        real = self.epoch_us + switch_us - self.start_us
        return max(round(real * PICOSECONDS / self.dilation), 0)

    def span_ps(self, real_us: float) -> int:
        """Return a length of real time in paper time."""
        return round(real_us * PICOSECONDS / self.dilation)


def defines(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """Return the preprocessor definitions that make a program note and mark."""
    marked = scenario.ecn_bytes // scenario.data_frame_bytes if scenario.ecn_bytes else 0
    return (
        ("TELEMETRY", "1"),
        ("MARK_FRAMES", str(marked)),
    )


def port_records(
    node: int,
    ports: int,
    read: Mapping[str, Sequence[int]],
    *,
    scenario: Scenario,
    timing: Timing,
    frame_us: Sequence[float],
    window_us: float,
) -> NDArray[np.void]:
    """Return the records of a switch's ports 0 to `ports` from its registers.

    `frame_us` is the real time of a data frame on each port's link.
    Means are over `window_us` of real time, by Little's law: waiting and service of all frames,
    divided by the time.
    """
    rows = np.zeros(ports + 1, dtype=dtype_of("dp_port_record"))
    rows["node"], rows["port"] = node, np.arange(ports + 1)
    rows["peer"] = rows["peer_port"] = 2**32 - 1
    both = {name: np.array(read[name]).reshape(-1, 2)[: ports + 1] for name in COUNTS}
    data, acks = both["packets"].T
    charged = both["bytes"][:, 0] + FCS_BYTES * data
    rows["packets"], rows["data_packets"], rows["ack_packets"] = data + acks, data, acks
    rows["data_bytes"] = charged
    rows["bytes"] = charged + scenario.ack_bytes * acks
    rows["marks"] = both["marks"].sum(axis=1)
    rows["max_queue_packets"] = both["peak"][:, 0]
    rows["max_queue_bytes"] = both["peak"][:, 0] * scenario.data_frame_bytes
    if window_us > 0:
        present_us = both["waited"][:, 0] + data * np.asarray(frame_us)
        rows["mean_queue_packets"] = present_us / window_us
        rows["mean_queue_bytes"] = rows["mean_queue_packets"] * scenario.data_frame_bytes
    for name, column in (
        ("gaps", "gaps"),
        ("gaps_10", "gaps_within_10pct"),
        ("gaps_25", "gaps_within_25pct"),
        ("gaps_100", "gaps_within_frame"),
    ):
        rows[column] = np.array(read[name])[: ports + 1]
    rows["sending_queue_bytes"] = rows["sending_queue_packets"] = np.nan
    rows["late_max_ps"] = [timing.span_ps(late) for late in read["late"][: ports + 1]]
    return rows


class Series:
    """Queue time series of all switches, put together from readings of their rings of slots."""

    def __init__(self) -> None:
        """Start without a reading."""
        self._peaks: dict[tuple[int, int, int], int] = {}

    def add(self, node: int, read: Mapping[str, Sequence[int]]) -> None:
        """Take in one reading; slots that were read before grow or stay."""
        for cell, noted in enumerate(read["slots"]):
            slot, peak = divmod(noted, 1 << PEAK_BITS)
            if peak:
                key = (node, cell // SLOTS, slot)
                self._peaks[key] = max(peak, self._peaks.get(key, 0))

    def samples(self, timings: Mapping[int, Timing], frame_bytes: int) -> NDArray[np.void]:
        """Return rows of struct dp_sample, ordered by time: peaks, and 0 after the last of each."""
        rows = [
            (timings[node].paper_ps((slot + 1) * SLOT_US), node, port, packets)
            for (node, port, slot), packets in self._with_ends().items()
        ]
        samples = np.zeros(len(rows), dtype=dtype_of("dp_sample"))
        for place, (time_ps, node, port, packets) in enumerate(sorted(rows)):
            samples[place] = (time_ps, node, port, packets * frame_bytes, packets)
        return samples

    def _with_ends(self) -> dict[tuple[int, int, int], int]:
        ends = {
            (node, port, slot + 1): 0
            for node, port, slot in self._peaks
            if (node, port, slot + 1) not in self._peaks
        }
        return self._peaks | ends
