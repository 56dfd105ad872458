"""Recovery and congestion control in small networks: what is lost arrives, once, and ends."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed import hosts
from testbed.dataplane import Ended
from tests.testbed.dataplane.network import Program, balance, chain, flows, star

CCAS = [each.name for each in hosts.CONGESTIONS]
RECOVERING = [each.name for each in hosts.RECOVERIES if each.name != "none"]
DEADLINE_PS = 10**12


def run(network: Any, rows: list[tuple[int, int, int]], **columns: Any) -> Any:
    network.dataplane.add_flows(flows(rows, routes=1, **columns), columns.pop("paths", ()))
    ended = network.dataplane.run_virtual(deadline_ps=DEADLINE_PS)
    records = network.dataplane.flows()
    assert balance(network.dataplane.totals()) == 0
    return ended, records


@pytest.mark.parametrize("recovery", RECOVERING)
@pytest.mark.parametrize("cca", CCAS)
def test_losses__are_made_good(program: Program, cca: str, recovery: str) -> None:
    network = star(
        program,
        4,
        congestion=cca,
        recovery=recovery,
        buffer_bytes=30_000,
        loss=0.02,
        ecn_bytes=9000,
    )
    ended, records = run(network, [(0, 3, 300_000), (1, 3, 300_001), (2, 3, 99_999)])
    assert ended is Ended.DONE, network.dataplane.message
    assert (records["received"] == records["packets"]).all()
    assert (records["acknowledged"] == records["packets"]).all()
    assert records["retransmitted"].sum() > 0
    assert (records["lost"] >= records["retransmitted"]).all()
    network.dataplane.close()


def test_lost_frames__leave_a_run_without_recovery_stuck(program: Program) -> None:
    network = star(program, 2, congestion="nscc", loss=0.1)
    ended, _ = run(network, [(0, 1, 400_000)])
    assert ended is Ended.STUCK
    network.dataplane.close()


@pytest.mark.parametrize("recovery", RECOVERING)
def test_link_that_stays_down__makes_a_flow_give_up(program: Program, recovery: str) -> None:
    network = chain(program, 1, recovery=recovery, recovery_parameters={"retries": 3})
    network.dataplane.add_flows(flows([(0, 1, 800_000)]))
    assert network.dataplane.run_virtual(deadline_ps=5_000_000) is Ended.DEADLINE
    network.dataplane.set_port(2, 2, up=False)
    assert network.dataplane.run_virtual() is Ended.STUCK
    assert "flow 0 from host 0 to host 1" in network.dataplane.message
    assert "gave up" in network.dataplane.message
    assert network.dataplane.flows()["timeouts"][0] == 4  # the fourth is one too many
    network.dataplane.close()


def test_link_that_comes_back__lets_a_flow_end(program: Program) -> None:
    network = chain(program, 1, recovery="selective")
    network.dataplane.add_flows(flows([(0, 1, 800_000)]))
    for deadline_ps, up in ((5_000_000, False), (100_000_000, True)):
        assert network.dataplane.run_virtual(deadline_ps=deadline_ps) is Ended.DEADLINE
        network.dataplane.set_port(2, 2, up=up)
    assert network.dataplane.run_virtual() is Ended.DONE
    assert network.dataplane.flows()["retransmitted"][0] > 0
    network.dataplane.close()


def test_window__bounds_what_is_in_flight(program: Program) -> None:
    """Ten frames a round trip of 2.17 us and one more in each, though the line could carry 52."""
    knobs = {"window_packets": 10, "threshold_packets": 1}
    network = chain(program, 1, congestion="dctcp", congestion_parameters=knobs)
    ended, records = run(network, [(0, 1, 100 * 4096)])
    assert ended is Ended.DONE
    took = int(records["finish_ps"][0] - records["start_ps"][0])
    assert took > 5 * 2_170_000
    network.dataplane.close()


def test_window_below_a_frame__sends_one_at_a_time(program: Program) -> None:
    network = chain(
        program,
        1,
        congestion="swift",
        congestion_parameters={"window_packets": 0.1, "queue_us": -2, "ai": 0},
    )
    ended, records = run(network, [(0, 1, 5 * 4096)])
    assert ended is Ended.DONE
    assert records["finish_ps"][0] - records["start_ps"][0] > 4 * 10 * 2_000_000
    network.dataplane.close()


def test_duplicates_of_a_program__do_not_end_a_flow_early(program: Program) -> None:
    """A switch floods each frame: no packet counts twice, neither data nor its ACK."""
    network = star(program, 2)
    program.route(network.switches[0], {1: 1, 2: 600})
    ended, records = run(network, [(0, 1, 20 * 4096)])
    assert ended is Ended.DONE
    assert records["received"][0] == records["acknowledged"][0] == 20
    network.dataplane.close()


def test_subflows__have_an_order_of_their_own(program: Program) -> None:
    """Under go-back-N a loss on one subflow repeats that one only."""
    rows = [(0, 1, 1_000_000)]
    repeated = {}
    for subflows in (1, 10):
        network = chain(program, 1, recovery="go-back-n", loss=0.01, seed=3)
        ended, records = run(network, rows, subflows=subflows)
        assert ended is Ended.DONE
        repeated[subflows] = int(records["retransmitted"][0])
        network.dataplane.close()
    assert 0 < repeated[10] < repeated[1] / 2


@pytest.mark.parametrize("cca", CCAS)
def test_threads__do_not_change_a_run_with_losses(program: Program, cca: str) -> None:
    found = []
    for threads in (1, 2, 3):
        network = star(
            program, 40, congestion=cca, recovery="selective", buffer_bytes=60_000, loss=0.01
        )
        rows = [(i, (i * 7 + 3) % 40, 100_000) for i in range(40)]
        network.dataplane.add_flows(flows(rows, routes=1))
        assert network.dataplane.run_virtual(threads=threads) is Ended.DONE
        found.append(network.dataplane.flows())
        network.dataplane.close()
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()


def test_loss__takes_its_share_by_the_seed(program: Program) -> None:
    lost = []
    for seed in (1, 1, 2):
        network = chain(program, 1, loss=0.1, seed=seed, acks=False)
        run(network, [(0, 1, 2000 * 4096)])
        lost.append(network.dataplane.totals()["dropped_loss"])
        network.dataplane.close()
    assert lost[0] == lost[1] != lost[2]
    assert abs(np.mean(lost) - 200) < 60


RUNS = st.fixed_dictionaries(
    {
        "congestion": st.sampled_from(CCAS),
        "recovery": st.sampled_from(["none", *RECOVERING]),
        "entropy": st.sampled_from(["flow", "random", "reps"]),
        "buffer_bytes": st.one_of(st.just(None), st.integers(4_158, 200 * 4_158)),
        "ecn_bytes": st.sampled_from([0, 5_000, 80_000]),
        "loss": st.sampled_from([0.0, 0.0, 0.01, 0.2]),
        "payload_bytes": st.sampled_from([512, 4096]),
        "trim": st.booleans(),
        "ack_priority": st.booleans(),
        "seed": st.integers(0, 2**32),
    }
)
SIZES = st.lists(st.integers(1, 120_000), min_size=1, max_size=6)


@given(run_of=RUNS, sizes=SIZES, subflows=st.sampled_from([1, 1, 3]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_byte__is_delivered_once_or_the_run_says_why_not(
    program: Program, run_of: dict[str, Any], sizes: list[int], subflows: int
) -> None:
    """Incasts of all kinds; nothing hangs."""
    run_of["trim"] &= hosts.recovery(run_of["recovery"]).trims
    network = star(program, 4, **run_of)
    rows = [(i % 3, 3, size) for i, size in enumerate(sizes)]
    pieces = [min(subflows, size) for size in sizes]
    network.dataplane.add_flows(flows(rows, routes=1, subflows=pieces))
    ended = network.dataplane.run_virtual(deadline_ps=DEADLINE_PS)
    records, totals = network.dataplane.flows(), network.dataplane.totals()
    message = network.dataplane.message
    network.dataplane.close()
    assert balance(totals) == 0
    assert (records["received"] <= records["packets"]).all()
    assert (records["acknowledged"] <= records["received"]).all()
    if ended is Ended.DONE:
        assert (records["received"] == records["packets"]).all()
        return
    assert ended is Ended.STUCK
    assert "flow" in message
    lost = sum(totals[f"dropped_{place}"] for place in ("queue", "loss", "down"))
    assert lost > 0
    assert run_of["recovery"] == "none" or "gave up" in message
