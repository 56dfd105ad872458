from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.theory import (
    STAGES,
    Sources,
    exact_queue,
    growth,
    sources,
    truncated_normal_queue,
)


def simulated_queue(number: int, period: float, runs: int = 300) -> float:
    """Mean packets in a queue of periodic sources with random phases, by simulation."""
    rng = np.random.default_rng(1)
    means = []
    for _ in range(runs):
        phases = np.sort(rng.random(number) * period)
        arrivals = np.concatenate([phases + period * turn for turn in range(5)])
        departures = np.empty_like(arrivals)
        free = -1.0
        for index, arrival in enumerate(arrivals):
            free = max(free, arrival) + 1
            departures[index] = free
        looks = (4 + rng.random(100)) * period
        inside = np.searchsorted(arrivals, looks, "right") - np.searchsorted(
            departures, looks, "right"
        )
        means.append(inside.mean())
    return float(np.mean(means))


@pytest.mark.parametrize(("number", "period"), [(1, 4.0), (6, 6.0), (7, 8.0), (24, 30.0)])
def test_exact_queue__agrees_with_simulation(number: int, period: float) -> None:
    exact = exact_queue(Sources(number, number / period))
    assert exact == pytest.approx(simulated_queue(number, period), rel=0.06)


def test_exact_queue__between_whole_numbers_interpolates() -> None:
    half = exact_queue(Sources(7.5, 0.9))
    assert half == pytest.approx((exact_queue(Sources(7, 0.9)) + exact_queue(Sources(8, 0.9))) / 2)


def test_truncated_normal_queue__of_the_papers_network() -> None:
    """1,024 hosts, w = 8, worked out from Appendix D with a table of the normal distribution.

    At an edge N = 8 (1 - 7/1023) = 7.945 flows go up, rho = 0.99316: mean -0.054, deviation 2.819.
    Cut off at 0.0193 deviations above the mean: -0.054 + 2.819 x 0.39887 / 0.49230 = 2.23.
    At an aggregation N = 64 (1 - 63/1023) = 60.06, rho = 0.93842: mean -3.699, deviation 7.750;
    -3.699 + 7.750 x 0.35598 / 0.31659 = 5.02.
    """
    stages = sources("drb", 16)
    assert truncated_normal_queue(stages["E-A"]) == pytest.approx(2.23, abs=0.005)
    assert truncated_normal_queue(stages["A-C"]) == pytest.approx(5.02, abs=0.01)


def test_truncated_normal_queue__at_full_load_is_half_a_normal_distribution() -> None:
    assert truncated_normal_queue(Sources(64, 1.0)) == pytest.approx(8 * math.sqrt(2 / math.pi))


@pytest.mark.parametrize("model", [exact_queue, truncated_normal_queue])
def test_models__grow_with_sources_and_load(model: object) -> None:
    def queue(number: float, load: float) -> float:
        return float(model(Sources(number, load)))  # type: ignore[operator]

    assert queue(8, 0.95) < queue(32, 0.95) < queue(32, 1.0)


def test_sources__ofan_consolidates_at_the_aggregation() -> None:
    ofan, drb = sources("ofan", 16), sources("drb", 16)
    assert tuple(ofan) == tuple(drb) == STAGES
    assert ofan["E-A"].number == pytest.approx(8 - 0.25, abs=0.05)
    assert ofan["A-C"].number == 15
    assert drb["A-C"].number == pytest.approx(64 * (1 - 63 / 1023))
    assert drb["A-C"].load == ofan["A-C"].load == pytest.approx(1 - 63 / 1023)


def test_sources__pofan_lies_between_ofan_and_flows() -> None:
    one, four, ofan = sources("pofan", 64, 1), sources("pofan", 64, 4), sources("ofan", 64)
    assert ofan["A-C"].number < four["A-C"].number <= 8 * 63
    assert four["A-C"].number <= one["A-C"].number <= 1024
    assert ofan["E-A"].number < four["E-A"].number < one["E-A"].number <= 32


def test_sources__ethereal_has_subflows() -> None:
    assert sources("ethereal", 16)["E-A"].number == pytest.approx(64 * (1 - 7 / 1023))


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
def test_growth__finds_the_exponent(exponent: float) -> None:
    sizes = [64, 128, 256, 512]
    fit = growth(sizes, [3 * size**exponent for size in sizes])
    assert fit.exponent == pytest.approx(exponent, abs=1e-9)
    assert fit.error == pytest.approx(0, abs=1e-6)


def test_growth__error_covers_the_truth() -> None:
    rng = np.random.default_rng(3)
    sizes = np.geomspace(64, 8192, 8)
    inside = 0
    for _ in range(200):
        fit = growth(list(sizes), list(sizes**0.5 * np.exp(0.1 * rng.standard_normal(8))))
        inside += abs(fit.exponent - 0.5) < 2.45 * fit.error  # 95 % of t with 6 degrees
    assert 178 <= inside <= 200


@pytest.mark.parametrize(("sizes", "values"), [([1.0], [1.0]), ([1.0, 2.0], [0.0, 1.0])])
def test_growth__not_enough__refuses(sizes: list[float], values: list[float]) -> None:
    with pytest.raises(ValueError, match="two points"):
        growth(sizes, values)
