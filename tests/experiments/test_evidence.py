"""What counts as decided: hand-made seeds."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from experiments.figures.evidence import Estimate, all_of, by_seed, estimate


def test_estimate__has_the_standard_error_of_the_mean() -> None:
    """1, 2, 3, 6: mean 3, sample variance 14/3, error sqrt(14/12)."""
    found = estimate(pd.Series([1.0, 2.0, 3.0, 6.0]))
    assert found.mean == 3
    assert found.error == pytest.approx(math.sqrt(14 / 12))


@pytest.mark.parametrize(
    ("mean", "holds"),
    [(0.90, "yes"), (0.94, "not decided"), (0.95, "not decided"), (0.96, "not decided"),
     (0.971, "no")],
)  # fmt: skip
def test_within__two_errors_decide(mean: float, holds: str) -> None:
    assert Estimate(mean, 0.01).within(high=0.95) == holds


def test_within__both_sides() -> None:
    assert Estimate(0.5, 0.05).within(0.25, 0.75) == "yes"
    assert Estimate(0.3, 0.05).within(0.25, 0.75) == "not decided"
    assert Estimate(0.1, 0.05).within(0.25, 0.75) == "no"


def test_within__without_an_error_nothing_is_decided() -> None:
    assert estimate(pd.Series([0.1])).within(high=0.95) == "not decided"
    assert estimate(pd.Series([1.0]).iloc[:0]).within(low=0) == "not decided"


def test_within__exact_values_decide() -> None:
    assert Estimate(0.0, 0.0).within(high=0.001) == "yes"
    assert Estimate(1.0, 0.0).within(high=1.0) == "not decided"


def test_all_of__one_that_fails_decides() -> None:
    assert all_of(["yes", "not decided", "no"]) == "no"
    assert all_of(["yes", "not decided"]) == "not decided"
    assert all_of(["yes", "yes"]) == "yes"


def test_by_seed__leaves_invalid_runs_out_and_pairs() -> None:
    table = pd.DataFrame(
        {
            "variant": ["a", "b", "a", "b", "a"],
            "seed": [1, 1, 2, 2, 3],
            "x": [10.0, 11.0, 20.0, 21.0, 99.0],
            "verdict": ["VALID", "VALID", "VALID", "DEGRADED", "INVALID"],
        }
    )
    a, b = (by_seed(table, "x", variant=name) for name in "ab")
    assert (b - a).tolist() == [1, 1]
