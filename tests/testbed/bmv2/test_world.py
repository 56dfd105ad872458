from __future__ import annotations

import math

import pytest

from testbed.bmv2.emulation import path_delay_ns
from testbed.bmv2.switches import frame_rates
from testbed.bmv2.world import nearest_dilation, rate_error, vanished
from testbed.planning import plan_for
from testbed.scenario import Scenario


def test_frame_rates__of_data_and_acks() -> None:
    data, acks = frame_rates(Scenario(), 100_000.0)
    assert data == round(1e9 / (41.78 * 100_000))
    assert acks == round(1e9 / (0.84 * 100_000))


@pytest.mark.parametrize("wanted", [1_000.0, 87_000.0, 250_000.0, 990_000.0])
def test_nearest_dilation__suits_a_clock_of_microseconds(wanted: float) -> None:
    plan = plan_for(Scenario(k=4))
    dilation = nearest_dilation(plan, wanted)
    tick = 1_000_000 / dilation
    assert math.isclose(tick, round(tick), abs_tol=1e-9)
    assert wanted <= dilation <= 1.16 * wanted
    assert rate_error(plan, dilation) < 0.02


def test_nearest_dilation__ends_where_a_picosecond_lasts_a_microsecond() -> None:
    plan = plan_for(Scenario(k=4))
    assert nearest_dilation(plan, 700_000.0) == 1_000_000
    assert nearest_dilation(plan, 3_000_000.0) == 1_000_000


def test_path_delay__adds_links_and_what_switches_would_take() -> None:
    plan = plan_for(Scenario(k=4))
    assert math.isclose(path_delay_ns(plan), 6 * 500 + 5 * (41.58 + 0.64) / 2, abs_tol=0.01)
    without = plan_for(Scenario(k=4, acks=False, topology="leaf-spine"))
    assert math.isclose(path_delay_ns(without), 4 * 500 + 3 * 41.58, abs_tol=0.01)


def test_vanished__is_what_nobody_counts() -> None:
    totals = {"sent": 10, "copied": 0, "delivered": 6, "left": 1, "socket_drops": 1}
    assert vanished({**totals, "dropped_host": 1, "dropped_queue": 0}) == 1
    assert vanished({**totals, "dropped_host": 2, "dropped_queue": 3}) == 0
