from __future__ import annotations

import math

import pytest

from errors import UserError
from testbed.bmv2.emulation import path_delay_ns, with_path_delays
from testbed.bmv2.switches import frame_rates
from testbed.bmv2.world import check, nearest_dilation, rate_error, vanished
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.scenario.speeds import Speed

USUAL = Speed(800, 500)
COUNTS = {"pods": 2.0, "edges": 2.0, "hosts": 2.0, "aggregations": 2.0, "cores": 4.0}


def test_frame_rates__of_data_and_acks() -> None:
    data, acks = frame_rates(Scenario(), USUAL, 100_000.0)
    assert data == round(1e9 / (41.78 * 100_000))
    assert acks == round(1e9 / (0.84 * 100_000))
    assert frame_rates(Scenario(), Speed(400, 500), 100_000.0)[0] == round(1e9 / (83.56 * 100_000))


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
    assert math.isclose(
        path_delay_ns(Scenario(), USUAL), 6 * 500 + 5 * (41.58 + 0.64) / 2, abs_tol=0.01
    )
    without = Scenario(k=4, acks=False, topology="leaf-spine")
    assert math.isclose(path_delay_ns(without, USUAL), 4 * 500 + 3 * 41.58, abs_tol=0.01)


def test_vanished__is_what_nobody_counts() -> None:
    totals = {"sent": 10, "copied": 0, "delivered": 6, "left": 1, "socket_drops": 1}
    assert vanished({**totals, "dropped_host": 1, "dropped_queue": 0}) == 1
    assert vanished({**totals, "dropped_host": 2, "dropped_queue": 3}) == 0


def test_path_delays__of_unequal_links__are_of_each_hosts_own() -> None:
    network = {
        **COUNTS, "rate_gbps.core": 400.0, "delay_ns.core": 900.0,
        "rate_gbps.e0_1-h2": 200.0, "rate_gbps.a0_1-c3": 100.0,
    }  # fmt: skip
    scenario = Scenario(network=network)
    made = with_path_delays(scenario).speeds
    both = (4158 + 64) / 2  # bytes
    between = 2 * 500 + 2 * 900 + both * (8 / 800 * 2 + 8 / 400 * 2)
    usual = made.between("h0", "e0_0")
    assert usual.rate_gbps == 800
    assert math.isclose(usual.delay_ns, between + 2 * 500 + both * 8 / 800)
    slow = made.between("h2", "e0_1")
    assert slow.rate_gbps == 200
    assert math.isclose(slow.delay_ns, between + 2 * 500 + both * 8 / 200)
    assert made.between("a0_1", "c3").rate_gbps == 100
    assert made.between("a0_0", "c0").rate_gbps == 400


@pytest.mark.parametrize(
    ("network", "fault"),
    [
        ({"delay_ns.e0_0-a0_1": 90.0}, "e0_0-a0_1 = 90: BMv2 has no delay of a single link"),
        ({"delay_ns.e0_0-h1": 90.0}, "h1-e0_0 = 90: BMv2 has no delay of a single link"),
        ({"rate_gbps.e0_0-h1": 1.0}, "links of 1 Gb/s: simple_switch sends whole frames a second"),
    ],
)
def test_check__refuses_what_it_cannot_make_of_single_links(
    network: dict[str, float], fault: str
) -> None:
    plan = plan_for(Scenario("ecmp", network={**COUNTS, **network}))
    with pytest.raises(UserError, match=fault):
        check(plan, 500_000.0)


def test_check__takes_rates_of_any_link_and_delays_of_tiers() -> None:
    network = {"rate_gbps.a0_1-c3": 400.0, "rate_gbps.e0_0-h1": 400.0, "delay_ns.edge": 90.0}
    plan = plan_for(Scenario("ecmp", network={**COUNTS, **network}))
    check(plan, nearest_dilation(plan, 200_000.0))
