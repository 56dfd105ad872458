"""Each congestion control step by step, against values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from testbed.dataplane.library import load
from testbed.dataplane.settings import Settings, constants, raw_settings
from testbed.hosts import Chosen
from testbed.scenario import Scenario

ACK, NACK, LOST, RECOVERED, TIMEOUT = range(5)
RTT = 6_253_320  # picoseconds, k = 12 at the paper's defaults
FRAME = 4158


class Control:
    """One flow's congestion control."""

    def __init__(self, name: str, scenario: Scenario | None = None, **parameters: float) -> None:
        ffi, self._library = load()
        settings = Settings(
            scenario=scenario or Scenario(k=12), congestion=Chosen(name, parameters)
        )
        self._signal = ffi.new("struct dp_signal *")
        self._cca = ffi.gc(
            self._library.dp_cca_new(raw_settings(settings)), self._library.dp_cca_free
        )
        self.now = 0

    @property
    def window(self) -> float:
        return float(self._library.dp_cca_window(self._cca))

    @property
    def pace(self) -> int:
        return int(self._library.dp_cca_pace(self._cca))

    def step(self, kind: int = ACK, after: int = 0, **values: Any) -> float:
        """Let something happen `after` picoseconds; by default an ACK of a frame."""
        self.now += after
        given = {"rtt_ps": RTT, "bytes": FRAME, "in_order_bytes": FRAME, **values}
        for name, value in {"kind": kind, "now_ps": self.now, "marked": 0, **given}.items():
            setattr(self._signal, name, value)
        return float(self._library.dp_cca_step(self._cca, self._signal))


# --- NSCC ---


def test_nscc__has_the_papers_constants() -> None:
    found = constants(Settings(scenario=Scenario(k=12), congestion=Chosen("nscc")))
    assert found["a"] == pytest.approx(4.16888)
    assert found["target_us"] == pytest.approx(6.25332)
    assert found["alpha_bytes_per_ns"] == pytest.approx(5.6919, abs=1e-4)
    assert round(found["fi_bytes"]) == 85_379
    assert round(found["eta_bytes"]) == 2_561
    assert found["fi_scale"] == pytest.approx(1.0422, abs=1e-4)
    assert round(found["maxwnd_bytes"]) == 937_998
    assert round(found["qa_gate_bytes"]) == 117_250
    assert found["qa_threshold_us"] == pytest.approx(25.013, abs=1e-3)


def test_nscc__has_the_constants_of_an_independent_implementation() -> None:
    """MTU 1000, base round trip 10 us, BDP 1.5 MB, trimming's target."""
    scenario = Scenario(payload_bytes=1000, rate_gbps=1200)
    settings = Settings(
        scenario=scenario, rtt_ps=10_000_000, congestion=Chosen("nscc", {"target_rtts": 0.75})
    )
    found = constants(settings)
    assert found["a"] == pytest.approx(10)
    assert found["fi_bytes"] == pytest.approx(50_000)
    assert found["fi_scale"] == pytest.approx(2.5)
    assert found["eta_bytes"] == pytest.approx(1_500)
    assert found["alpha_bytes_per_ns"] == pytest.approx(10 / 3)
    assert found["target_us"] == pytest.approx(7.5)
    assert found["maxwnd_bytes"] == pytest.approx(2.25e6)


def test_nscc__starts_at_its_largest_window_and_stays_within_bounds() -> None:
    control = Control("nscc")
    most = 1.5 * RTT / 10
    assert control.window == pytest.approx(most)
    for _ in range(100):
        assert control.step(after=RTT) <= most
    for _ in range(400):
        control.step(TIMEOUT, after=1000)
    assert control.window == FRAME


def test_nscc__is_cut_by_the_average_delay_once_a_round_trip() -> None:
    """Marked and above the target: 0.8 of the average's excess, at most half."""
    control = Control("nscc")
    delay = 3 * RTT  # below quick adapt's 4 targets
    average = 0.0
    before = control.window
    cuts = []
    for _ in range(120):
        after = control.step(after=200_000, rtt_ps=RTT + delay, marked=1)
        average += 0.0125 * (delay - average)
        if after < before:
            cuts.append((control.now, before, after, average))
        before = after
    first, second = cuts[0], cuts[1]
    assert first[3] > RTT
    assert first[2] / first[1] == pytest.approx(1 - 0.8 * (first[3] - RTT) / first[3], rel=4e-3)
    assert second[0] - first[0] > RTT


def test_nscc__adds_a_fair_share_above_the_target_and_eta_once_a_round_trip() -> None:
    """Not marked: fi bytes for each byte acknowledged, over the window, each 8 MTU."""
    control = Control("nscc", most_bdps=1.5)
    control.step(TIMEOUT, bytes=800_000)  # from 937,998 B: room to grow
    start = control.window
    assert start == pytest.approx(137_998)
    first = control.step(after=RTT + 1, rtt_ps=2 * RTT)  # one frame, and eta: a round trip is over
    fair, eta = 5 * 4096 * 4.16888, 0.15 * 4096 * 4.16888
    assert first == pytest.approx(start + fair * FRAME / start + eta, rel=1e-9)
    for _ in range(8):
        assert control.step(after=1000, rtt_ps=2 * RTT) == first
    ninth = control.step(after=1000, rtt_ps=2 * RTT)
    assert ninth == pytest.approx(first + 9 * fair * FRAME / first, rel=1e-9)


def test_nscc__grows_in_proportion_below_the_target() -> None:
    control = Control("nscc")
    control.step(TIMEOUT, bytes=800_000)
    start = control.window
    delay = 2_000_000
    grown = control.step(after=RTT + 1, rtt_ps=RTT + delay)
    alpha = 4 * 4096 * 4.16888 / 12_000_000
    gain = alpha * FRAME * (RTT - delay) / start
    assert grown == pytest.approx(start + gain + 0.15 * 4096 * 4.16888, rel=1e-9)


def test_nscc__grows_fast_after_a_window_without_delay() -> None:
    """More than a window of bytes with hardly any delay: 1.04 bytes for each acknowledged."""
    control = Control("nscc")
    control.step(TIMEOUT, bytes=900_000)
    control.step(after=1, bytes=40_000)  # 37,998 B in the window
    before = control.window
    assert control.step(after=1, bytes=1000) - before == pytest.approx(0.25 * 4.16888 * 1000)
    before = control.window
    control.step(after=1, rtt_ps=RTT + 1_000_533, bytes=100)  # 0.16 round trips: it ends
    assert control.window == before


def test_nscc__adapts_quickly_to_what_arrived_in_a_bad_window() -> None:
    control = Control("nscc")
    window = 2 * RTT  # base and target
    control.step(after=RTT)  # begins a window
    for _ in range(5):
        control.step(after=1000, bytes=10_000, rtt_ps=2 * RTT, marked=1)
    before = control.window
    assert before > 900_000
    adapted = control.step(
        after=window, bytes=10_000, rtt_ps=RTT + 5 * RTT, marked=1, in_flight_bytes=30_000
    )
    assert adapted == 60_000  # the window's, this ACK's included
    for _ in range(2):  # 30,000 B are ignored
        assert control.step(after=1000, bytes=10_000, rtt_ps=6 * RTT, marked=1) == adapted


def test_nscc__takes_a_nacked_packet_off_its_window() -> None:
    control = Control("nscc")
    before = control.window
    assert control.step(NACK, after=1000) == before - FRAME


# --- DCTCP ---


def test_dctcp__cuts_every_window_while_its_average_is_above_zero() -> None:
    control = Control("dctcp", window_packets=10, threshold_packets=1)
    for _ in range(2):  # the first window is two frames, as in htsim
        control.step(in_order_bytes=0)
    assert control.window == 10 * FRAME
    for i in range(10):
        control.step(marked=i < 5, in_order_bytes=0)
    alpha = 0.5 / 16
    assert control.window == pytest.approx(10 * FRAME * (1 - alpha / 2))
    before = control.window
    for _ in range(10):  # not one is marked
        control.step(in_order_bytes=0)
    assert control.window == pytest.approx(before * (1 - alpha * 15 / 16 / 2))


def test_dctcp__grows_slowly_above_its_threshold_and_by_a_frame_an_ack_below() -> None:
    slow = Control("dctcp", window_packets=10, threshold_packets=5)
    assert slow.step() == pytest.approx(10 * FRAME + FRAME / 10)
    fast = Control("dctcp", window_packets=10, threshold_packets=50)
    assert fast.step() == 11 * FRAME
    assert fast.step(in_order_bytes=7 * FRAME) == 12 * FRAME
    assert fast.step(marked=1) == pytest.approx(12 * FRAME + FRAME / 12)


def test_dctcp__halves_on_a_loss_and_restarts_on_a_timeout() -> None:
    control = Control("dctcp", window_packets=20)
    assert control.step(LOST) == 13 * FRAME
    assert control.step() == 13 * FRAME
    assert control.step(RECOVERED) == 10 * FRAME
    assert control.step(TIMEOUT) == FRAME
    assert control.step(TIMEOUT) == FRAME
    assert [control.step() / FRAME for _ in range(4)] == [2, 3, 4, 5]  # slow start up to 5


# --- Swift and its kin ---


def test_swift__aims_at_the_round_trip_and_a_microsecond() -> None:
    control = Control("swift", window_packets=151)
    assert control.window == 151 * FRAME  # flow scaling adds nothing above 100 frames
    before = control.window
    assert control.step(rtt_ps=RTT + 999_999) == pytest.approx(before + FRAME**2 / before)
    before = control.window
    delay, target = 2 * RTT, RTT + 1_000_000
    cut = control.step(after=2 * RTT, rtt_ps=delay)
    assert cut == pytest.approx(before * (1 - 0.8 * (delay - target) / delay))
    assert control.step(after=1000, rtt_ps=delay) == cut, "once a round trip"


def test_swift__scales_its_target_with_small_windows() -> None:
    """At 4 frames: (1/2 - 1/10) / (1/sqrt(0.1) - 1/10) of the range."""
    target = RTT + 1_000_000 + round(1_000_000 * 0.4 / (0.1**-0.5 - 0.1))
    for rtt, grows in ((target - 2, True), (target + 2, False)):
        control = Control("swift", window_packets=4)
        assert (control.step(after=2 * RTT, rtt_ps=rtt) > 4 * FRAME) == grows


def test_swift__paces_below_one_frame() -> None:
    control = Control("swift", window_packets=0.5)
    assert control.pace == 2 * RTT
    assert control.step() == 1.5 * FRAME
    assert control.pace == 0


def test_swift__cuts_most_on_recovery_and_on_timeouts_and_resets_after_five() -> None:
    control = Control("swift", window_packets=151)
    assert control.step(RECOVERED, after=2 * RTT) == pytest.approx(75.5 * FRAME)
    assert control.step(TIMEOUT, after=1000) == pytest.approx(75.5 * FRAME), "once a round trip"
    for cut in range(1, 5):
        assert control.step(TIMEOUT, after=2 * RTT) == pytest.approx(75.5 * FRAME / 2**cut)
    assert control.step(TIMEOUT, after=2 * RTT) == pytest.approx(0.01 * FRAME)


@pytest.mark.parametrize("name", ["swift", "lswift", "mswift"])
def test_swift__acks_of_packets_sent_again__lead_out_of_the_smallest_window(name: str) -> None:
    control = Control(name)
    for _ in range(5):
        control.step(TIMEOUT, after=2 * RTT)
    assert control.window == pytest.approx(0.01 * FRAME)
    assert control.pace == pytest.approx(100 * RTT, rel=1e-6)
    assert control.step(after=RTT, rtt_ps=0) == pytest.approx(1.01 * FRAME)
    assert control.pace == 0


@pytest.mark.parametrize("name", ["swift", "lswift", "mswift"])
def test_swift__acks_without_a_delay__do_not_grow_it_where_queues_were_long(name: str) -> None:
    control = Control(name)
    for _ in range(60):
        control.step(after=RTT, rtt_ps=2 * RTT)
    window = control.window
    assert control.step(after=RTT, rtt_ps=0) == window


def test_lswift__needs_five_delays_in_a_row() -> None:
    control = Control("lswift")
    control.step(after=2 * RTT)
    before = control.window
    high = RTT + 3_000_000
    for _ in range(4):
        assert control.step(after=1000, rtt_ps=high) == before
    control.step(after=1000)  # one below: from the start again
    before = control.window
    for _ in range(4):
        assert control.step(after=1000, rtt_ps=high) == before
    excess = (high - RTT - 1_000_000) / high
    assert control.step(after=1000, rtt_ps=high) == pytest.approx(before * (1 - 0.8 * excess))
    assert control.step(LOST, after=2 * RTT) == control.window


def test_mswift__goes_by_the_median() -> None:
    """Of 75 delays, half a window of 151 frames; then of fewer."""
    control = Control("mswift", window_packets=151)
    low, high = RTT + 500_000, RTT + 20_000_000
    for _ in range(75):
        control.step(after=1_000_000, rtt_ps=low)
    grown = control.window
    for i in range(37):  # outliers are a minority
        assert control.step(after=1_000_000, rtt_ps=high) > grown, i
        grown = control.window
    before = control.window
    windows = [control.step(after=1_000_000, rtt_ps=high) for _ in range(6)]
    assert windows[:4] == [before] * 4, "a cut needs five medians in a row above the target"
    assert windows[4:] == [before / 2] * 2, "0.8 of the excess would be more than half"


def test_mnscc__is_nscc_with_the_median_of_four() -> None:
    plain, median = Control("nscc"), Control("mnscc")
    for control in (plain, median):
        control.step(TIMEOUT, bytes=800_000)
        for _ in range(4):
            control.step(after=RTT + 1, rtt_ps=RTT + 2_000_000)
    before = plain.window
    assert median.window == pytest.approx(before)
    outlier = {"after": RTT + 1, "rtt_ps": 3 * RTT}
    assert plain.step(**outlier) != pytest.approx(median.step(**outlier))
