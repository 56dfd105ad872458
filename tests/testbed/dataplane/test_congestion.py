"""Congestion control, one flow at a time, against references written from descriptions alone."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed import hosts
from testbed.dataplane.library import load
from testbed.dataplane.settings import Settings, constants, raw_settings
from testbed.hosts import Chosen
from testbed.scenario import Scenario
from tests.testbed.dataplane import cca_reference as reference

FRAME = 4158.0
PAYLOAD = 4096.0
RATE = 100.0  # bytes a nanosecond
RTT = 6253.32  # ns: six links of 500 ns each way, six frames and six ACKs
FIRST = 1.5 * RATE * RTT


class Event(NamedTuple):
    """What happens: `after` ns after the last event; `rtt` in ns, 0 for none."""

    kind: str
    after: int
    rtt: float
    marked: bool
    frames: int
    in_order: int
    in_flight: int


def chosen(name: str, **given: float) -> Settings:
    settled = hosts.choose(hosts.congestion(name), given)
    return Settings(
        scenario=Scenario(), rtt_ps=6_253_320, congestion=Chosen(name, settled.parameters)
    )


class Flow:
    """The algorithm in C, driven by hand."""

    def __init__(self, raw: Any) -> None:
        self._ffi, self._library = load()
        self._cca = self._library.dp_cca_new(raw)
        assert self._cca

    def window(self) -> float:
        return float(self._library.dp_cca_window(self._cca))

    def step(self, now_ps: int, event: Event) -> float:
        kinds = {"ack": "DP_ACK", "nack": "DP_NACK", "timeout": "DP_TIMEOUT"}
        signal = self._ffi.new(
            "struct dp_signal *",
            {
                "kind": getattr(self._library, kinds[event.kind]),
                "marked": event.marked,
                "now_ps": now_ps,
                "rtt_ps": round(event.rtt * 1000),
                "bytes": int(event.frames * FRAME),
                "in_order_bytes": int(event.in_order * FRAME),
                "in_flight_bytes": int(event.in_flight * FRAME),
            },
        )
        return float(self._library.dp_cca_step(self._cca, signal))

    def close(self) -> None:
        self._library.dp_cca_free(self._cca)


@contextmanager
def flow(name: str, **given: float) -> Iterator[Flow]:
    made = Flow(raw_settings(chosen(name, **given)))
    try:
        yield made
    finally:
        made.close()


def events(kinds: list[str], shortest: float, longest: float) -> st.SearchStrategy[list[Event]]:
    """Sequences in which delays stay on one side for a while, as they do in queues."""
    event = st.builds(
        Event,
        kind=st.sampled_from(kinds),
        after=st.sampled_from([40, 42, 300, 3_000, 9_000]),
        rtt=st.one_of(
            st.just(0.0), st.integers(int(shortest * RTT), int(longest * RTT)).map(float)
        ),
        marked=st.booleans(),
        frames=st.integers(0, 3),
        in_order=st.integers(0, 40),
        in_flight=st.integers(0, 300),
    )
    runs = st.tuples(event, st.integers(1, 40)).map(lambda run: [run[0]] * run[1])
    return st.lists(runs, min_size=1, max_size=30).map(lambda them: list(chain.from_iterable(them)))


def compare(name: str, model: Any, sequence: list[Event], **given: float) -> None:
    now = 100_000  # ns: no ACK comes before the longest round trip has passed
    with flow(name, **given) as own:
        assert own.window() == pytest.approx(model.cwnd, rel=1e-9)
        for place, event in enumerate(sequence):
            now += event.after
            window = own.step(now * 1000, event)
            size = event.frames * FRAME
            if event.kind == "ack":
                rtt = event.rtt or None
                order, flight = event.in_order * FRAME, event.in_flight * FRAME
                model.ack(reference.Ack(now, rtt, event.marked, size, order, flight))
            elif event.kind == "nack":
                model.nack(now, size, event.in_flight * FRAME)
            else:
                model.timeout(size)
            near = pytest.approx(model.cwnd, rel=1e-5, abs=1)  # a byte: windows shrink a lot
            assert window == near, (place, event)


@given(sequence=events(["ack", "ack", "ack", "nack", "timeout"], 0.6, 8))
@settings(max_examples=60, deadline=None)
def test_nscc__follows_its_description(sequence: list[Event]) -> None:
    compare("nscc", reference.Nscc(RATE, RTT, PAYLOAD, FRAME), sequence)


@given(sequence=events(["ack", "ack", "ack", "nack", "timeout"], 1, 8))
@settings(max_examples=60, deadline=None)
def test_mnscc__follows_its_description(sequence: list[Event]) -> None:
    compare("mnscc", reference.Mnscc(RATE, RTT, PAYLOAD, FRAME), sequence)


SWIFTS = {
    "swift": reference.Swift,
    "lswift": reference.LSwift,
    "mswift": reference.MSwift,
}


@pytest.mark.parametrize("name", SWIFTS)
@given(sequence=events(["ack"], 1, 3))
@settings(max_examples=60, deadline=None)
def test_swifts__follow_their_description(name: str, sequence: list[Event]) -> None:
    first = FIRST
    model = SWIFTS[name](
        base=RTT + 1000,
        range_=1000,
        mss=FRAME,
        cwnd=first,
        max_cwnd=1000 * FRAME,
        min_cwnd=0.01 * FRAME,
        srtt=RTT,
    )
    compare(name, model, sequence)


@given(sequence=events(["ack"], 1, 3))
@settings(max_examples=60, deadline=None)
def test_dctcp__follows_its_description(sequence: list[Event]) -> None:
    model = reference.Dctcp(FRAME, cwnd=FIRST, ssthresh=100 * FRAME)
    compare("dctcp", model, sequence)


@given(sequence=events(["ack"], 1, 3))
@settings(max_examples=40, deadline=None)
def test_dctcp__starts_slowly(sequence: list[Event]) -> None:
    model = reference.Dctcp(FRAME, cwnd=10 * FRAME, ssthresh=100 * FRAME)
    compare("dctcp", model, sequence, window_packets=10)


def test_nscc__has_the_constants_of_the_default_network() -> None:
    """Worked by hand: BDP 625,332 B over the reference's 150,000 B is 4.16888."""
    found = constants(chosen("nscc"))
    assert found["a"] == pytest.approx(4.16888)
    assert found["target_us"] == pytest.approx(6.25332)
    assert found["alpha_bytes_per_ns"] == pytest.approx(4 * 4096 * 4.16888 / 12_000)
    assert found["fi_bytes"] == pytest.approx(85_378.66, abs=0.01)
    assert found["eta_bytes"] == pytest.approx(2_561.36, abs=0.01)
    assert found["fi_scale"] == pytest.approx(1.04222)
    assert found["maxwnd_bytes"] == pytest.approx(937_998)
    assert found["qa_gate_bytes"] == pytest.approx(117_249.75)
    assert found["qa_threshold_us"] == pytest.approx(25.01328)


def test_nscc__has_the_constants_of_a_second_network() -> None:
    """1,000 B payloads, 10 us and 1.5 MB of bandwidth-delay product, with trimming's target."""
    scenario = Scenario(payload_bytes=1000, rate_gbps=1200)
    network = Settings(
        scenario=scenario,
        rtt_ps=10_000_000,
        congestion=hosts.choose(hosts.congestion("nscc"), {"target_rtts": 0.75}),
    )
    found = constants(network)
    assert found["a"] == pytest.approx(10)
    assert found["fi_bytes"] == pytest.approx(50_000)
    assert found["fi_scale"] == pytest.approx(2.5)
    assert found["eta_bytes"] == pytest.approx(1_500)
    assert found["alpha_bytes_per_ns"] == pytest.approx(10 / 3)
    assert found["target_us"] == pytest.approx(7.5)
    assert found["maxwnd_bytes"] == pytest.approx(2_250_000)
