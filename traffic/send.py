"""Send data frames at a steady rate: what `python -m traffic send` does."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from traffic.frames import Ends, with_psn
from traffic.framing import data_frame
from traffic.sockets import packet_socket

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SPIN_NS = 200_000  # the last stretch before a deadline is spent looking at the clock
NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sending:
    """How a run of frames went: times in nanoseconds, lateness against each frame's deadline."""

    frames: int
    wire_bytes: int
    elapsed_ns: int
    late_p99_ns: int

    def __str__(self) -> str:
        seconds = max(self.elapsed_ns, 1) / NANOSECONDS
        return (
            f"{self.frames} frames in {seconds:.3f} s: {self.frames / seconds:,.0f} frames/s, "
            f"{self.wire_bytes * 8 / seconds / 1e6:,.2f} Mb/s, "
            f"99 % sent at most {self.late_p99_ns / 1000:.0f} us late"
        )


def prebuilt(
    ends: Ends, *, flow: int, entropies: Sequence[int], payload_bytes: int, count: int
) -> list[bytes]:
    """Build `count` data frames with PSNs from 0, taking their entropies in turn."""
    templates = [
        data_frame(ends, flow=flow, entropy=entropy, payload_bytes=payload_bytes)
        for entropy in entropies
    ]
    return [with_psn(templates[psn % len(templates)], psn) for psn in range(count)]


def pace(frames: Sequence[bytes], rate: float, transmit: Callable[[bytes], object]) -> Sending:
    """Give frames to `transmit` at `rate` a second, each at an absolute deadline.

    A late frame does not move the deadlines of those after it, so that the rate is kept. Rate 0
    means as fast as possible.
    """
    interval_ns = NANOSECONDS / rate if rate else 0.0
    late: list[int] = []
    start = time.monotonic_ns()
    for number, frame in enumerate(frames):
        deadline = start + round(number * interval_ns)
        _wait_until(deadline)
        transmit(frame)
        late.append(time.monotonic_ns() - deadline)
    elapsed = time.monotonic_ns() - start
    if rate:
        late.sort()
    return Sending(
        frames=len(frames),
        wire_bytes=sum(len(frame) + 4 for frame in frames),
        elapsed_ns=max(elapsed, round(len(frames) * interval_ns)),
        late_p99_ns=late[int(0.99 * (len(late) - 1))] if rate and late else 0,
    )


def send(interface: str, frames: Sequence[bytes], rate: float) -> Sending:
    """Send frames out of `interface` at `rate` a second; raises UserError if it cannot."""
    with packet_socket(interface) as opened:
        return pace(frames, rate, opened.send)


def entropies(first: int, number: int) -> Iterator[int]:
    """Yield `number` UDP source ports from `first` on, staying within the dynamic ports."""
    for offset in range(number):
        yield 49_152 + (first - 49_152 + offset) % (65_536 - 49_152)


def _wait_until(deadline_ns: int) -> None:
    ahead = deadline_ns - time.monotonic_ns()
    if ahead > SPIN_NS:
        time.sleep((ahead - SPIN_NS) / NANOSECONDS)
    while time.monotonic_ns() < deadline_ns:
        pass
