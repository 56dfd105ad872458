from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.mininet.calibration import Costs, dilation_for, measure, plan_to_measure, rounded_up
from testbed.mininet.emulation import Measured
from testbed.scenario import Scenario
from testbed.topology import fat_tree

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.mininet.emulation import Emulation
    from testbed.mininet.share import Records

COSTS = Costs(switch_ns=2500.0, host_ns=6000.0)


@given(st.floats(min_value=1e3, max_value=1e9))
def test_rounded_up__never_below_and_two_digits(value: float) -> None:
    result = rounded_up(value)
    assert value <= result * (1 + 1e-9) <= value * 1.11
    assert float(f"{result:.1e}") == pytest.approx(result)


def test_dilation_for__grows_with_hosts_and_costs_and_falls_with_load() -> None:
    usual = dilation_for(Scenario(), fat_tree(4), COSTS)
    assert dilation_for(Scenario(k=8), fat_tree(8), COSTS) == pytest.approx(8 * usual, rel=0.1)
    assert dilation_for(Scenario(), fat_tree(4), Costs(5000.0, 6000.0)) > 1.8 * usual
    assert dilation_for(Scenario(load=0.5), fat_tree(4), COSTS) < 0.6 * usual


def test_dilation_for__work_at_full_load__takes_half_a_processor() -> None:
    # 16 hosts send a data frame and an ACK each 41.78 ns, each crossing five switches.
    work_ns = 16 * 2 * 5 * COSTS.switch_ns
    found = dilation_for(Scenario(), fat_tree(4), COSTS)
    assert 0.9 * 0.5 <= work_ns / (found * 41.78) <= 0.5


def test_measure__interrupted__ends_and_remembers_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("OFAN_CACHE", str(tmp_path))
    nothing = cast("Records", None)
    stopped = Measured("interrupted", "", nothing, nothing, 0, 0.0, KeyboardInterrupt())
    interrupted = SimpleNamespace(
        engine=SimpleNamespace(ask=lambda _: 0),
        traffic=SimpleNamespace(ask=lambda _: 0),
        topology=fat_tree(4),
        load=lambda _: None,
        run=lambda *_, **__: stopped,
    )
    with pytest.raises(KeyboardInterrupt):
        measure(cast("Emulation", interrupted), plan_to_measure(Scenario()))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
