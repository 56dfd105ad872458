"""Whole runs in virtual time against what can be worked out by hand."""

import numpy as np
import pytest

from errors import UserError
from testbed.dataplane import NEVER, Ended, Settings
from tests.testbed.dataplane.network import DROP, MULTICAST, Program, balance, chain, flows, star

FRAME_PS, FRAME_GAP_PS, DELAY_PS = 41_580, 41_780, 500_000
MESSAGE = 1 << 20


def test_pair__reaches_the_papers_bound_less_one_gap(program: Program) -> None:
    network = chain(program, 5)
    network.dataplane.add_flows(flows([(0, 1, MESSAGE), (1, 0, MESSAGE)]))
    assert network.dataplane.run_virtual() is Ended.DONE
    assert network.dataplane.flows()["finish_ps"].tolist() == [17_056_740] * 2
    network.dataplane.close()


def test_flow_alone__arrives_after_serialisation_and_delay(program: Program) -> None:
    network = chain(program, 3, acks=False)
    network.dataplane.add_flows(flows([(0, 1, 10 * 4096)], start_ps=[123]))
    assert network.dataplane.run_virtual() is Ended.DONE
    record = network.dataplane.flows()[0]
    assert record["start_ps"] == 123
    assert record["delivered_ps"] == 123 + 9 * FRAME_GAP_PS + 4 * (FRAME_PS + DELAY_PS)
    assert record["finish_ps"] == record["delivered_ps"]
    network.dataplane.close()


def test_two_flows__share_a_link_evenly(program: Program) -> None:
    network = star(program, 3, acks=False)
    network.dataplane.add_flows(flows([(0, 2, MESSAGE), (1, 2, MESSAGE)], start_ps=[0, 20_000]))
    network.dataplane.run_virtual()
    first, second = sorted(network.dataplane.flows()["delivered_ps"].tolist())
    whole = 2 * (FRAME_PS + DELAY_PS) + 511 * FRAME_GAP_PS
    assert second == whole
    assert whole - first == FRAME_GAP_PS
    network.dataplane.close()


def test_load__paces_data(program: Program) -> None:
    network = star(program, 2, acks=False, load=0.5)
    network.dataplane.add_flows(flows([(0, 1, 100 * 4096)]))
    network.dataplane.run_virtual()
    delivered = int(network.dataplane.flows()["delivered_ps"][0])
    assert delivered == 99 * 2 * FRAME_GAP_PS + 2 * (FRAME_PS + DELAY_PS)
    network.dataplane.close()


def test_flows_of_a_host__take_turns(program: Program) -> None:
    network = star(program, 4, acks=False)
    network.dataplane.add_flows(flows([(0, 1, 40_960), (0, 2, 40_960), (0, 3, 40_960)]))
    network.dataplane.run_virtual()
    delivered = network.dataplane.flows()["delivered_ps"].astype(np.int64)
    assert np.diff(delivered).tolist() == [FRAME_GAP_PS] * 2
    network.dataplane.close()


def test_dependent_flow__starts_when_the_other_is_delivered(program: Program) -> None:
    network = star(program, 3)
    rows = [(0, 1, 8192), (1, 2, 8192), (2, 0, 4096)]
    waits = {"after_first": [0, 0, 1], "after_count": [0, 1, 1]}
    network.dataplane.add_flows(flows(rows, **waits), after=[0, 1])
    assert network.dataplane.run_virtual() is Ended.DONE
    first, second, third = network.dataplane.flows()
    assert second["start_ps"] >= first["delivered_ps"] > 0
    assert second["start_ps"] - first["delivered_ps"] < FRAME_GAP_PS
    assert third["start_ps"] >= second["delivered_ps"]
    network.dataplane.close()


@pytest.mark.parametrize("threads", [2, 3])
def test_threads__change_nothing(program: Program, threads: int) -> None:
    def run(count: int) -> list[bytes]:
        rng = np.random.default_rng(5)
        network = star(program, 60, entropy="random", sample_ps=200_000)
        rows = [(i, int(rng.integers(60)), 200_000) for i in range(60)]
        rows = [(s, d if d != s else (s + 1) % 60, size) for s, d, size in rows]
        network.dataplane.add_flows(flows(rows, start_ps=rng.integers(0, 41_780, 60)))
        assert network.dataplane.run_virtual(threads=count) is Ended.DONE
        plane = network.dataplane
        made = [plane.flows(), plane.ports(), plane.samples(), network.frames()]
        plane.close()
        return [array.tobytes() for array in made]

    assert run(1) == run(threads)


def test_run__goes_on_after_a_deadline(program: Program) -> None:
    whole, parts = chain(program, 2), chain(program, 2)
    for network in (whole, parts):
        network.dataplane.add_flows(flows([(0, 1, MESSAGE), (1, 0, MESSAGE)]))
    whole.dataplane.run_virtual()
    for deadline in range(100_000, 20_000_000, 333_333):
        if parts.dataplane.run_virtual(deadline_ps=deadline) is Ended.DONE:
            break
        assert parts.dataplane.now_ps <= deadline
        assert balance(parts.dataplane.totals()) == 0
    assert (whole.dataplane.flows() == parts.dataplane.flows()).all()
    whole.dataplane.close()
    parts.dataplane.close()


def test_lost_frames__leave_the_run_stuck(program: Program) -> None:
    network = star(program, 2)
    program.route(network.switches[0], {1: 1, 2: DROP})
    network.dataplane.add_flows(flows([(0, 1, 8192)]))
    assert network.dataplane.run_virtual() is Ended.STUCK
    assert "flow 0 from host 0 to host 1" in network.dataplane.message
    assert network.dataplane.totals()["dropped_program"] == 2
    assert network.dataplane.flows()["delivered_ps"][0] == NEVER
    network.dataplane.close()


def test_port_that_is_down__loses_frames(program: Program) -> None:
    network = star(program, 2)
    network.dataplane.set_port(2, 2, up=False)
    network.dataplane.add_flows(flows([(0, 1, 8192)]))
    assert network.dataplane.run_virtual() is Ended.STUCK
    totals = network.dataplane.totals()
    assert totals["dropped_down"] == 2
    assert balance(totals) == 0
    network.dataplane.close()


def test_copies__are_counted(program: Program) -> None:
    network = star(program, 3)
    program.route(network.switches[0], {1: 1, 2: 2, 3: MULTICAST})
    network.dataplane.add_flows(flows([(0, 2, 8192)]))
    network.dataplane.run_virtual()
    totals = network.dataplane.totals()
    assert totals["copied"] == 2
    assert totals["dropped_host"] == 4
    assert balance(totals) == 0
    network.dataplane.close()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"load": 0.0}, "load is 0"),
        ({"entropy": "guess"}, "entropy guess is unknown"),
        ({"congestion": "guess"}, "congestion guess is unknown"),
        ({"congestion": "nscc", "acks": False}, "need ACKs"),
        ({"entropy": "reps", "entropy_parameters": {"speed": 1}}, "no parameter speed"),
    ],
)
def test_wrong_settings__are_named(
    program: Program, wrong: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        star(program, 2, **wrong)
    assert Settings().load == 1


@pytest.mark.parametrize(
    ("row", "columns", "message"),
    [
        ((0, 0, 1), {}, "its source is its destination"),
        ((0, 7, 1), {}, "no such host"),
        ((0, 1, 0), {}, "no bytes"),
        ((0, 1, 1), {"after_count": [1]}, "not in the list"),
        ((0, 0, 0), {"subflows": [0]}, "no subflows"),
        ((0, 1, 1), {"path_count": [3]}, "not in the list of paths"),
    ],
)
def test_wrong_flows__are_named(
    program: Program, row: tuple[int, int, int], columns: dict[str, list[int]], message: str
) -> None:
    network = star(program, 2)
    with pytest.raises(UserError, match=f"flow 0: .*{message}"):
        network.dataplane.add_flows(flows([row], **columns))
    network.dataplane.close()


def test_delay_of_nothing__is_refused(program: Program) -> None:
    network = star(program, 2, delay_ns=0)
    network.dataplane.add_flows(flows([(0, 1, 1)]))
    with pytest.raises(UserError, match="delay"):
        network.dataplane.run_virtual()
    network.dataplane.close()


@pytest.mark.parametrize("threads", [1, 2])
def test_frames_in_a_circle__end_the_run_and_are_told(program: Program, threads: int) -> None:
    network = chain(program, 3)
    program.route(network.switches[1], {1: 1, 2: 1})  # what is for host 1 goes back
    network.dataplane.add_flows(flows([(0, 1, 5 * 4096)]))
    assert network.dataplane.run_virtual(threads=threads) is Ended.STUCK
    assert "of 5 frames 5 were sent, 0 arrived" in network.dataplane.message
    assert "frames go in circles between switches" in network.dataplane.message
    assert network.dataplane.totals()["left"] == 5
    assert balance(network.dataplane.totals()) == 0
    network.dataplane.close()


def test_frames_in_a_circle__while_a_host_computes__wait_for_it(program: Program) -> None:
    network = chain(program, 3)
    program.route(network.switches[1], {1: 1, 2: 1})
    later = [0, 10**10]
    network.dataplane.add_flows(flows([(0, 1, 4096), (1, 0, 4096)], start_ps=later))
    assert network.dataplane.run_virtual() is Ended.STUCK
    assert network.dataplane.flows()["delivered_ps"][1] > 10**10
    network.dataplane.close()


def test_frames_in_a_circle__until_the_deadline(program: Program) -> None:
    """What happens at a deadline, such as new routes, may set them free."""
    network = chain(program, 3)
    program.route(network.switches[1], {1: 1, 2: 1})
    network.dataplane.add_flows(flows([(0, 1, 4096)]))
    assert network.dataplane.run_virtual(deadline_ps=10**10) is Ended.DEADLINE
    program.route(network.switches[1], {1: 1, 2: 2})
    assert network.dataplane.run_virtual() is Ended.DONE
    network.dataplane.close()


def test_few_frames_over_slow_links__are_no_circle(program: Program) -> None:
    network = chain(program, 5, rate_gbps=0.01, delay_ns=1)
    network.dataplane.add_flows(flows([(0, 1, 3 * 4096)]))
    assert network.dataplane.run_virtual() is Ended.DONE
    network.dataplane.close()
