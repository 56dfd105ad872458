"""A sender with SLEEK and a constant window, over one switch, from the description alone.

One flow of full packets; its frames and their ACKs meet no others. What comes to a port of the
switch while that is down is lost. Times are picoseconds.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTE, GAP, DELAY = 10, 200, 500_000
FRAME, HEADER, ACK = 4158, 64, 64
NEVER = 2**64


class Line:
    """A port and its link: frames one after the other, a gap between them."""

    def __init__(self, down: Sequence[tuple[int, int]] = ()) -> None:
        self.free_at = 0
        self.down = down

    def carry(self, time: int, size: int) -> int | None:
        """When a frame that comes now is at the other end; None if it is lost."""
        if any(begin <= time < end for begin, end in self.down):
            return None
        departure = max(time, self.free_at) + size * BYTE
        self.free_at = departure + GAP
        return departure + DELAY


@dataclass
class Sleek:
    """`sent` has (start, psn, whether it was a probe) of every frame that left the sender."""

    packets: int
    window: int
    rtt: int
    timeout: int
    data_down: Sequence[tuple[int, int]] = ()
    acks_down: Sequence[tuple[int, int]] = ()
    factor: float = 1.5
    least: int = 5
    sent: list[tuple[int, int, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.flying: dict[int, int] = {}
        self.lost: set[int] = set()
        self.acked: set[int] = set()
        self.base = self.next = 0
        self.there: set[int] = set()
        self.recovering = self.beyond = False
        self.recover = self.again_from = 0
        self.probe_at, self.probed = NEVER, (-1, NEVER)
        self.due = 0
        self.queued, self.probes, self.data_was_last = True, list[int](), False
        self.nic, self.back_nic = Line(), Line()
        self.port, self.back_port = Line(self.data_down), Line(self.acks_down)
        self.coming: list[tuple[int, int, tuple[int, int, bool, frozenset[int]]]] = []
        self.events = 0

    # --- The way there and back ---

    def launch(self, now: int, psn: int, *, probe: bool) -> None:
        """A frame leaves now; its answer is told `self.coming`, unless one of both is lost."""
        self.sent.append((now, psn, probe))
        size = HEADER if probe else FRAME
        reached = self.nic.carry(now, size)
        assert reached is not None
        arrived = self.port.carry(reached, size)
        if arrived is not None:
            heapq.heappush(self.arriving, (arrived, psn, probe))

    def answer(self, now: int, psn: int, *, probe: bool) -> None:
        if not probe:
            self.there.add(psn)
        cumulative = next(p for p in range(self.packets + 1) if p not in self.there)
        first = psn - 63 if psn - cumulative > 63 else cumulative
        known = frozenset(p for p in self.there if first <= p < first + 64)
        no = probe and psn not in self.there
        reached = self.back_nic.carry(now, ACK)
        assert reached is not None
        came = self.back_port.carry(reached, ACK)
        self.events += 1
        if came is not None:
            heapq.heappush(self.coming, (came, self.events, (psn, cumulative, no, known)))

    # --- The sender ---

    @property
    def in_flight(self) -> int:
        return len(self.flying) * FRAME

    def may_send(self) -> bool:
        if not self.lost and self.next == self.packets:
            return False
        fits = self.in_flight + FRAME <= self.window * FRAME
        return not self.flying or bool(self.beyond and self.lost) or fits

    def offer(self, now: int) -> None:
        if not self.queued and self.may_send():
            self.queued = True
            self.due = max(self.due, now)

    def send(self, now: int) -> None:
        self.queued = False
        if not self.may_send():
            return
        psn = min(self.lost) if self.lost else self.next
        self.lost.discard(psn)
        self.next = max(self.next, psn + 1)
        self.flying[psn] = now
        self.launch(now, psn, probe=False)
        self.due += FRAME * BYTE + GAP
        self.data_was_last = True
        self.offer(now)

    def follow(
        self, now: int, psn: int, cumulative: int, *, no: bool, known: frozenset[int]
    ) -> None:
        limit = self.probed[1] + 2 * self.rtt
        fast = no and psn == self.probed[0] and now < limit
        for each in known | set(range(cumulative)) | (set() if no else {psn}):
            self.acked.add(each)
            self.lost.discard(each)
            self.flying.pop(each, None)
        while self.base in self.acked:
            self.base += 1
        tail = self.next == self.packets
        self.probed = (-1, NEVER)
        self.probe_at = now + (2 * self.rtt if tail else 3 * self.rtt)
        if fast:
            self.again_from = self.base
            self.recovering, self.recover = True, self.next
        self.look()
        self.offer(now)

    def look(self) -> None:
        if self.recovering and self.base >= self.recover:
            self.recovering = False
        ahead = sum(psn > self.base for psn in self.acked)
        if (
            not self.recovering
            and not self.lost
            and ahead >= max(self.factor * self.window, self.least)
        ):
            self.recovering, self.recover = True, self.next
        if self.recovering:
            end = min(self.base + self.window, self.recover)
            for psn in range(max(self.again_from, self.base), end):
                if psn in self.flying:
                    del self.flying[psn]
                    self.lost.add(psn)
                    self.again_from = psn + 1
        self.beyond = self.recovering

    def alarm(self, now: int) -> None:
        overdue = [psn for psn, at in self.flying.items() if at + self.timeout <= now]
        for psn in overdue:
            del self.flying[psn]
            self.lost.add(psn)
        if overdue:
            self.recovering = False
        self.beyond = self.recovering
        if self.probe_at <= now:
            self.probe_at = NEVER
            if self.flying:
                self.probed = (min(self.flying), now)
                self.probes.append(min(self.flying))
                self.probe_at = now + 5 * self.rtt
        self.offer(now)

    # --- In order of time ---

    def run(self) -> list[tuple[int, int, bool]]:
        self.arriving: list[tuple[int, int, bool]] = []
        now = 0
        while len(self.acked) < self.packets:
            alarm = min([at + self.timeout for at in self.flying.values()], default=NEVER)
            alarm = min(alarm, self.probe_at)
            free = max(self.nic.free_at, now)
            sending = max(free, self.due) if self.queued else NEVER
            sending = min(sending, free if self.probes else NEVER)
            reached = self.arriving[0][0] if self.arriving else NEVER
            came = self.coming[0][0] if self.coming else NEVER
            now = min(alarm, sending, reached, came)
            if now == reached:
                _, psn, probe = heapq.heappop(self.arriving)
                self.answer(now, psn, probe=probe)
            elif now == came:
                _, _, (psn, cumulative, no, known) = heapq.heappop(self.coming)
                self.follow(now, psn, cumulative, no=no, known=known)
            elif now == alarm:
                self.alarm(now)
            elif self.queued and self.due <= now and not (self.probes and self.data_was_last):
                self.send(now)
            else:
                self.data_was_last = False
                self.launch(now, self.probes.pop(0), probe=True)
        return self.sent
