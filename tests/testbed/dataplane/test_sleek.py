"""SLEEK against a reference in Python, frame by frame, with losses of data and of ACKs."""

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from testbed.dataplane import Ended
from testbed.scenario import Scenario
from tests.testbed.dataplane.network import Program, balance, chain, flows
from tests.testbed.dataplane.sleek_reference import Sleek

if TYPE_CHECKING:
    from collections.abc import Sequence

RTT = Scenario().round_trip_ps
CONSTANT = ("window_packets", "least_packets", "most_packets")


def frames_sent(
    program: Program,
    packets: int,
    window: int,
    timeout_us: int,
    *,
    data_down: "Sequence[tuple[int, int]]" = (),
    acks_down: "Sequence[tuple[int, int]]" = (),
) -> tuple[list[tuple[int, int, bool]], Any]:
    """(start, psn, whether a probe) of what host 0 sent, and its flow's record."""
    network = chain(
        program,
        1,
        congestion="lswift",
        congestion_parameters=dict.fromkeys(CONSTANT, window),
        recovery="sleek",
        recovery_parameters={"timeout_us": timeout_us},
    )
    network.dataplane.add_flows(flows([(0, 1, packets * 4096)]))
    network.dataplane.trace(on=True)
    changes = [
        (time, port, up)
        for port, spans in ((2, data_down), (1, acks_down))
        for span in spans
        for time, up in zip(span, (False, True), strict=True)
    ]
    ended = Ended.DEADLINE
    for time, port, up in sorted(changes):
        if ended is Ended.DEADLINE or ended is Ended.STUCK:
            ended = network.dataplane.run_virtual(deadline_ps=time)
        network.dataplane.set_port(2, port, up=up)
    if ended is not Ended.DONE:
        assert network.dataplane.run_virtual() is Ended.DONE, network.dataplane.message
    hops = network.dataplane.hops()
    here = hops[(hops["place"] == 0) & (hops["kind"] != 2)]
    found = [
        (int(hop["departure_ps"]) - int(hop["bytes"]) * 10, int(hop["psn"]), bool(hop["kind"] == 3))
        for hop in here
    ]
    record = network.dataplane.flows()[0]
    assert balance(network.dataplane.totals()) == 0
    assert record["received"] == packets
    network.dataplane.close()
    return found, record


def spans(most: int) -> "st.SearchStrategy[list[tuple[int, int]]]":
    """Times in which a port is down, one after the other."""
    times = st.lists(st.integers(600, 12_000), max_size=2 * most, unique=True)
    return times.map(
        lambda drawn: [
            (1_000 * begin + 3, 1_000 * end + 3)
            for begin, end in zip(*[iter(sorted(drawn))] * 2, strict=False)
        ]
    )


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    packets=st.integers(1, 200),
    window=st.integers(1, 60),
    timeout_us=st.sampled_from([15, 40, 200]),
    data_down=spans(3),
    acks_down=spans(2),
)
@example(packets=4, window=3, timeout_us=15, data_down=[(600003, 626003)], acks_down=[])
def test_sender__sends_what_the_reference_sends(
    program: Program,
    *,
    packets: int,
    window: int,
    timeout_us: int,
    data_down: list[tuple[int, int]],
    acks_down: list[tuple[int, int]],
) -> None:
    found, _ = frames_sent(
        program, packets, window, timeout_us, data_down=data_down, acks_down=acks_down
    )
    reference = Sleek(packets, window, RTT, timeout_us * 1_000_000, data_down, acks_down)
    assert found == reference.run()


def test_a_hole__is_sent_again_once_reordering_cannot_explain_it(program: Program) -> None:
    """Packet 10 of 100 is lost, the window is 20: with 30 packets beyond it, it is sent again."""
    lost_at = 10 * 41_780 + 41_580 + 500_000
    found, record = frames_sent(program, 100, 20, 200, data_down=[(lost_at - 10, lost_at + 10)])
    again = [place for place, (_, psn, _) in enumerate(found) if psn == 10]
    assert len(again) == 2
    assert again[1] == pytest.approx(10 + 1 + 30 + 20, abs=2)
    assert (record["retransmitted"], record["timeouts"]) == (1, 0)


def test_the_last_packet__is_probed_for_and_sent_again_without_a_timeout(program: Program) -> None:
    lost_at = 19 * 41_780 + 41_580 + 500_000
    found, record = frames_sent(program, 20, 60, 200, data_down=[(lost_at - 10, lost_at + 10)])
    assert [(psn, probe) for _, psn, probe in found[-2:]] == [(19, True), (19, False)]
    assert (record["retransmitted"], record["timeouts"]) == (1, 0)
