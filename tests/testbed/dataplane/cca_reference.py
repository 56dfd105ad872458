"""Short references of the congestion controls in plain floats, written from descriptions alone.

Times are nanoseconds, sizes bytes; `cwnd` is the result. No packets are sent: the caller says what
is in flight.
"""

from __future__ import annotations

import math
from collections import deque
from statistics import median
from typing import NamedTuple


class Ack(NamedTuple):
    """An acknowledgement: `newly` bytes for the first time, `advanced` of them in order.

    `rtt` is None where no sample is valid: the packet was sent twice, or its record is gone.
    """

    now: float
    rtt: float | None
    marked: bool
    newly: float
    advanced: float
    in_flight: float


class Nscc:
    """UEC's network signal based congestion control, profile htsim."""

    REFERENCE_BDP = 150_000.0  # 100 Gb/s x 12 us
    REFERENCE_RTT = 12_000.0

    def __init__(self, rate: float, rtt: float, mss: float, mtu: float) -> None:
        self.rate, self.network_rtt, self.mss = rate, rtt, mss
        self.mtu = mtu
        self.base_rtt = rtt
        self.bdp = rate * rtt
        self.maxwnd = 1.5 * self.bdp
        self.cwnd = self.maxwnd
        self.a = self.bdp / self.REFERENCE_BDP
        self.target = rtt
        self.b = self.target / self.REFERENCE_RTT
        self.fi = 5 * mss * self.a
        self.alpha = 4 * mss * self.a * self.b / self.target
        self.eta = 0.15 * mss * self.a
        self.fi_scale = 0.25 * self.a
        self.fast_threshold = 0.16 * rtt
        self.average = 0.0
        self.inc = 0.0
        self.received = self.achieved = 0.0
        self.fi_count, self.fast = 0.0, False
        self.window_end = 0.0
        self.to_ignore = self.ignored = 0.0
        self.lost = False
        self.last_decrease = 0.0
        self.last_adjust = 0.0

    def filtered(self, rtt: float) -> float:
        return rtt

    def _blend(self, delay: float, *, skip: bool) -> None:
        goal = self.base_rtt / 4 if (not skip and delay > self.target) else delay
        self.average = 0.0125 * goal + (1 - 0.0125) * self.average

    def _clamp(self) -> None:
        self.cwnd = min(max(self.cwnd, self.mtu), self.maxwnd)

    def _quick_adapt(
        self, now: float, delay: float, in_flight: float, *, loss: bool, skip: bool
    ) -> bool:
        acted = False
        if self.ignored < self.to_ignore and skip:
            acted = True
        elif now > self.window_end:
            if (
                self.window_end != 0
                and (self.lost or loss or delay > 4 * self.target)
                and self.achieved < self.maxwnd / 8
            ):
                self.cwnd = max(self.achieved, self.mtu)
                self.to_ignore, self.ignored = in_flight, 0.0
                self.lost = False
                acted = True
            self.achieved = 0.0
            self.window_end = now + self.base_rtt + self.target
        if acted:
            self.inc = self.received = 0.0
        return acted

    def ack(self, ack: Ack) -> None:
        self.achieved += ack.newly
        self.received += ack.newly
        self.ignored += ack.newly
        delay = self.average if ack.rtt is None else self._delay(ack.rtt, ack)
        if self._quick_adapt(ack.now, delay, ack.in_flight, loss=False, skip=ack.marked):
            return
        if ack.marked:
            if delay >= self.target:
                self._decrease(ack.now)
        elif delay >= self.target:
            self.inc += self.fi * ack.newly
        else:
            self._increase(delay, ack.newly)
        self._clamp()
        self._adjust(ack.now)
        self._clamp()

    def _delay(self, rtt: float, ack: Ack) -> float:
        if rtt < self.base_rtt:
            self.base_rtt = rtt
            self.bdp = self.rate * rtt
            self.maxwnd = 1.5 * self.bdp
        delay = self.filtered(rtt) - self.base_rtt
        self._blend(delay, skip=ack.marked)
        return delay

    def _increase(self, delay: float, newly: float) -> None:
        self.fi_count = self.fi_count + newly if delay < self.fast_threshold else 0.0
        wide = self.fi_count > self.cwnd or self.fast
        self.fast = delay < self.fast_threshold and wide
        if self.fast:
            self.cwnd += newly * self.fi_scale
        else:
            self.inc += self.alpha * newly * (self.target - delay)

    def _decrease(self, now: float) -> None:
        self.fast, self.fi_count = False, 0.0
        if self.average > self.target and now - self.last_decrease > self.base_rtt:
            self.cwnd *= max(1 - 0.8 * (self.average - self.target) / self.average, 0.5)
            self.cwnd = max(self.cwnd, self.mtu)
            self.last_decrease = now

    def _adjust(self, now: float) -> None:
        if self.received <= 8 * self.mtu and now - self.last_adjust <= self.network_rtt:
            return
        self.cwnd += self.inc / self.cwnd
        if now - self.last_adjust >= self.network_rtt:
            self.cwnd += self.eta
            self.last_adjust = now
        self.inc = self.received = 0.0

    def nack(self, now: float, size: float, in_flight: float) -> None:
        self.ignored += size
        self._blend(self.network_rtt, skip=True)
        self.lost = True
        if not self._quick_adapt(now, 0.0, in_flight, loss=True, skip=True):
            self.cwnd -= size
            self._clamp()

    def timeout(self, size: float) -> None:
        self.cwnd = max(self.cwnd - size, self.mtu)


class Mnscc(Nscc):
    """NSCC fed with the median of its last H round trips.

    H is max(min(W / 2, 4), 1), W the window in packets.
    """

    def __init__(self, rate: float, rtt: float, mss: float, mtu: float) -> None:
        super().__init__(rate, rtt, mss, mtu)
        self.recent: deque[float] = deque()

    def filtered(self, rtt: float) -> float:
        self.recent.append(rtt)
        room = int(max(min(self.cwnd / self.mtu / 2, 4), 1))
        while len(self.recent) > room:
            self.recent.popleft()
        return float(median(self.recent))


class Swift:
    """Swift as htsim has it, without losses; `base` is the target without flow scaling."""

    def __init__(
        self,
        *,
        base: float,
        range_: float,
        mss: float,
        cwnd: float,
        max_cwnd: float,
        min_cwnd: float,
        srtt: float,
    ) -> None:
        self.base, self.range, self.mss = base, range_, mss
        self.cwnd, self.max_cwnd, self.min_cwnd = cwnd, max_cwnd, min_cwnd
        self.fs_a = range_ / (1 / math.sqrt(0.1) - 1 / math.sqrt(100))
        self.fs_b = -self.fs_a / math.sqrt(100)
        self.ai, self.beta, self.max_cut = 1.0, 0.8, 0.5
        self.srtt = srtt
        self.last_cut: float | None = None

    def target(self) -> float:
        packets = self.cwnd / self.mss
        return self.base + min(max(self.fs_a / math.sqrt(packets) + self.fs_b, 0.0), self.range)

    def _smooth(self, rtt: float) -> None:
        self.srtt = 7 * self.srtt / 8 + rtt / 8

    def _may_cut(self, now: float) -> bool:
        # against the smoothed RTT as it was before this sample
        return self.last_cut is None or now - self.last_cut >= self.srtt

    def _grow(self, acked: float) -> None:
        if self.cwnd >= self.mss:
            self.cwnd += self.mss * self.ai * acked / self.cwnd
        else:
            self.cwnd += self.ai * acked

    def _cut(self, now: float, delay: float, target: float) -> None:
        self.cwnd *= max(1 - self.beta * (delay - target) / delay, 1 - self.max_cut)
        self.last_cut = now

    def _limits(self) -> None:
        self.cwnd = min(max(self.cwnd, self.min_cwnd), self.max_cwnd)

    def _go_on(self, acked: float) -> None:
        # an ACK of a packet that was sent again tells no delay: what is known stands
        if self.srtt < self.target():
            self._grow(acked)
        self._limits()

    def ack(self, ack: Ack) -> None:
        if ack.rtt is None:
            self._go_on(ack.advanced)
            return
        may = self._may_cut(ack.now)
        self._smooth(ack.rtt)
        target = self.target()
        if ack.rtt < target:
            self._grow(ack.advanced)
        elif may:
            self._cut(ack.now, ack.rtt, target)
        self._limits()


class LSwift(Swift):
    """Swift with selective recovery: a cut needs 5 successive delays over the target."""

    def __init__(self, **kwargs: float) -> None:
        super().__init__(**kwargs)
        self.over = 0

    def filtered(self, rtt: float) -> float:
        return rtt

    def ack(self, ack: Ack) -> None:
        if ack.rtt is None:
            self._go_on(ack.newly)
            return
        may = self._may_cut(ack.now)
        self._smooth(ack.rtt)
        delay, target = self.filtered(ack.rtt), self.target()
        if delay < target:
            self.over = 0
            self._grow(ack.newly)
        else:
            self.over += 1
            if self.over >= 5 and may:
                self._cut(ack.now, delay, target)
                self.over = 0
        self._limits()


class MSwift(LSwift):
    """LSwift fed with the median of its last H delays, H = max(W/2, 1)."""

    def __init__(self, **kwargs: float) -> None:
        super().__init__(**kwargs)
        self.recent: deque[float] = deque()

    def filtered(self, rtt: float) -> float:
        self.recent.append(rtt)
        room = max(int(self.cwnd / self.mss / 2), 1)
        while len(self.recent) > room:
            self.recent.popleft()
        return float(median(self.recent))


class Dctcp:
    """DCTCP's window without loss: alpha, its cut once a window, and growth."""

    def __init__(self, mss: float, cwnd: float, ssthresh: float) -> None:
        self.mss, self.cwnd, self.ssthresh = mss, cwnd, ssthresh
        self.alpha, self.seen, self.marked = 0.0, 0, 0
        self.window = 2 * mss  # bytes of ACKs after which alpha is updated

    def ack(self, ack: Ack) -> None:
        self.seen += 1
        if ack.marked:
            self.marked += 1
            self.ssthresh = min(self.ssthresh, self.cwnd)
        if self.seen * self.mss >= self.window:
            self.alpha = 15 / 16 * self.alpha + self.marked / self.seen / 16
            self.seen = self.marked = 0
            if self.alpha > 0:
                self.cwnd = max(self.cwnd * (1 - self.alpha / 2), self.mss)
                self.ssthresh = self.cwnd
            self.window = self.cwnd
        if ack.advanced > 0:
            acked = min(ack.advanced, self.mss)
            if self.cwnd < self.ssthresh:
                self.cwnd += min(self.ssthresh - self.cwnd, acked)
            else:
                self.cwnd += acked * self.mss / self.cwnd
