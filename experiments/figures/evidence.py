"""What seeds say about a number: its mean, its standard error, and whether a claim is decided.

A claim is borne out, or not, where its limit is at least two standard errors away from the mean (in
19 of 20 cases the truth is not beyond). Between it is not decided. What is compared is paired by
seed: equal seeds have equal permutations and phases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

Holds = Literal["yes", "no", "not decided"]
ERRORS = 2


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its standard error, NaN with a single seed."""

    mean: float
    error: float

    def within(self, low: float = -math.inf, high: float = math.inf) -> Holds:
        """Say whether the number lies between two limits."""
        margin = ERRORS * self.error
        if math.isnan(self.mean) or math.isnan(margin):
            return "not decided"
        if low < self.mean - margin and self.mean + margin < high:
            return "yes"
        if self.mean + margin < low or self.mean - margin > high:
            return "no"
        return "not decided"


def estimate(values: pd.Series[float]) -> Estimate:
    """Return the estimate of a number from its values by seed."""
    deviation = float(values.std()) if len(values) > 1 else math.nan
    return Estimate(float(values.mean()), deviation / math.sqrt(max(len(values), 1)))


def by_seed(table: pd.DataFrame, column: str, **where: object) -> pd.Series[float]:
    """Return a column by seed for the valid runs that have these values."""
    chosen = table[table["verdict"] != "INVALID"]
    for name, value in where.items():
        chosen = chosen[chosen[name] == value]
    return chosen.groupby("seed")[column].mean()


def mean_of(table: pd.DataFrame, column: str, **where: object) -> Estimate:
    """Return the estimate of a column's mean over the valid runs that have these values."""
    return estimate(by_seed(table, column, **where))


def all_of(parts: Iterable[Holds]) -> Holds:
    """Say whether all parts of a claim hold: one that does not decides, else one that is open."""
    answers = list(parts)
    if "no" in answers:
        return "no"
    return "not decided" if "not decided" in answers else "yes"
