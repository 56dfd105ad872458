"""The same core on packet sockets and the real clock."""

from typing import Any

import pytest

from errors import UserError
from testbed.dataplane import Dataplane, Settings
from tests.apart import run_apart
from tests.testbed.dataplane.network import Program, flows, star
from tests.testbed.dataplane.on_wires import HOSTS, MESSAGE

FRAMES = -(-MESSAGE // 4096)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run_apart("tests.testbed.dataplane.on_wires", str(tmp_path_factory.mktemp("wires")))


@pytest.mark.root
def test_run__returns_when_asked_at_the_deadline_and_when_done(outcome: dict[str, Any]) -> None:
    assert outcome["ended"] == ["CONTROL", "DEADLINE", "DONE"]
    assert outcome["early"] == 0


@pytest.mark.root
def test_frames__all_arrive_and_are_accounted_for(outcome: dict[str, Any]) -> None:
    totals = outcome["totals"]
    assert outcome["acknowledged"] == [FRAMES] * HOSTS
    assert outcome["balance"] == 0
    assert totals["socket_drops"] == 0
    hosts_and_switch = 2
    assert totals["delivered"] >= hosts_and_switch * 2 * FRAMES * HOSTS


@pytest.mark.root
def test_frames_of_others__are_noise_and_ipv4_reaches_the_program(outcome: dict[str, Any]) -> None:
    """ARP is seen by the switch; IPv4 by the switch and, forwarded, by a host."""
    totals = outcome["totals"]
    assert totals["noise"] == 3
    assert totals["sent"] == 2 * 2 * FRAMES * HOSTS + 1


@pytest.mark.root
def test_time__is_that_of_the_virtual_clock_or_longer(
    outcome: dict[str, Any], program: Program
) -> None:
    network = star(program, HOSTS)
    network.dataplane.add_flows(flows([(i, (i + 1) % HOSTS, MESSAGE) for i in range(HOSTS)]))
    network.dataplane.run_virtual()
    ideal = int(network.dataplane.flows()["finish_ps"].max())
    network.dataplane.close()
    assert outcome["cct_ps"] >= ideal - 1000
    assert outcome["cct_ps"] < 20 * ideal
    assert outcome["gaps"] > FRAMES
    assert 0 < outcome["gaps_within_frame"] <= outcome["gaps"]
    assert outcome["samples"] > 0


@pytest.mark.root
def test_pacing__is_reported(outcome: dict[str, Any]) -> None:
    for offered, achieved in zip(outcome["offered"], outcome["achieved"], strict=True):
        assert 0.8 < offered <= 1.0
        assert 0 < achieved < 1.5
    for late, latest in zip(outcome["late_p99_ps"], outcome["late_max_ps"], strict=True):
        assert late <= latest


def test_run__needs_sockets_and_a_dilation(program: Program) -> None:
    network = star(program, 2)
    with pytest.raises(UserError, match="needs ports on sockets"):
        network.dataplane.run_real(start_ns=0, dilation=1.0)
    network.dataplane.close()


def test_socket__that_is_none_is_refused() -> None:
    with Dataplane(Settings(), [1, 2], 1) as dataplane:
        with pytest.raises(UserError, match="packet socket"):
            dataplane.attach([0], [0], [1], [0], [0])
        with pytest.raises(UserError, match="no port 7"):
            dataplane.attach([1], [7], [1], [0], [0])
