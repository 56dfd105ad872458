from __future__ import annotations

import pytest

from errors import UserError
from experiments.main import main
from experiments.work import announcement, check_size, sending_seconds, unevenness
from testbed.planning import plan_for
from testbed.scenario import Scenario


def test_check_size__beyond_what_was_tried__is_refused_in_every_world() -> None:
    for world in ("virtual", "mininet", "bmv2"):
        with pytest.raises(UserError, match=r"k is 66; .*tested up to k = 64"):
            check_size([Scenario(k=4), Scenario(k=66)], world)
    check_size([Scenario(k=64)], "mininet")


def test_check_size__counts_the_plans_of_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testbed.virtual.memory.available", lambda: 4 * 10**9)
    check_size([Scenario(k=64)], "virtual")
    with pytest.raises(UserError, match=r"GB of memory; 4\.0 GB are free"):
        check_size([Scenario(k=64)] * 18, "virtual")


def test_announcement__large_work_only() -> None:
    assert not announcement([Scenario()] * 18, "mininet")
    assert not announcement([Scenario(k=8)], "virtual")
    assert "65,536 hosts with 256 packets each" in announcement([Scenario(k=64)], "virtual")
    assert "GB of memory" in announcement([Scenario(k=64)], "virtual")
    small_packets = announcement([Scenario(payload_bytes=1)], "mininet")
    assert "16,777,216 packets in all" in small_packets
    assert "memory" not in small_packets


def test_sending_seconds__grows_with_what_small_packets_carry_besides() -> None:
    large, small = (plan_for(Scenario(payload_bytes=size)) for size in (4096, 1))
    assert sending_seconds(large) == pytest.approx(256 * (4096 + 82) * 10e-12)
    assert sending_seconds(small) == pytest.approx((1 << 20) * 83 * 10e-12)
    half = plan_for(Scenario(load=0.5))
    assert sending_seconds(half) == pytest.approx(2 * sending_seconds(large))


@pytest.mark.parametrize("arguments", [["--k", "128"], ["cross", "--on", "virtual", "--k", "66"]])
def test_main__too_large__is_refused_before_anything_is_made(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def made(_scenario: Scenario) -> None:
        raise AssertionError

    monkeypatch.setattr("experiments.preparation.plan_for", made)
    virtual = [] if "cross" in arguments else ["--on", "virtual"]
    assert main([*arguments, *virtual]) == 2
    assert "tested up to k = 64" in capsys.readouterr().err


def test_unevenness__is_told_where_hosts_do_not_receive_alike() -> None:
    assert not unevenness(plan_for(Scenario(message_bytes=4096)))
    incast = Scenario(workload="incast", workload_options={"senders": 3}, message_bytes=4096)
    assert "busiest host receives 16.000 times the mean" in unevenness(plan_for(incast))
    moe = Scenario(workload="moe", k=8, message_bytes=4 << 20)
    assert "moe, seed 1: the busiest host receives 1.48" in unevenness(plan_for(moe))
