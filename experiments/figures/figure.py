"""What a figure of the paper is made of: a sweep, a plot, and the claims it must bear out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look
    from experiments.figures.evidence import Holds
    from testbed.scenario import Scenario

MB = 1 << 20
KB = 1 << 10
PACKET = 4096


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper, its value there, ours, and whether ours bears it out.

    `counted` says what counts as borne out and why, where the paper's words leave it open.
    """

    text: str
    paper: str
    ours: str
    holds: Holds
    counted: str = ""

    def __str__(self) -> str:
        mark = "NO" if self.holds == "no" else self.holds
        counted = f" (counted: {self.counted})" if self.counted else ""
        return f"{mark:>11}  {self.text}: paper {self.paper}; ours {self.ours}{counted}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: its name, the sweep at full or quick size, how it is drawn, and its claims.

    `sweep(quick)` lists scenarios without regard to seeds. `plot` draws a table with a row a run
    (see `points.row_of`) into files beginning with a stem, and returns the PNGs. `seeds` is how
    many the paper or we take at full size.
    """

    name: str
    title: str
    sweep: Callable[[bool], Sequence[Scenario]]
    plot: Callable[[pd.DataFrame, Mapping[str, Look], Path], list[Path]]
    claims: Callable[[pd.DataFrame], list[Claim]]
    seeds: int = 10
    quick_seeds: int = 2


def each(
    base: Scenario,
    schemes: Sequence[tuple[str, Mapping[str, float]]],
    variations: Sequence[Mapping[str, object]] = ({},),
) -> list[Scenario]:
    """Return a scenario for each scheme, with its parameters, under each variation of fields."""
    return [
        replace(base, scheme=scheme, parameters=dict(parameters), **variation)  # type: ignore[arg-type]
        for variation in variations
        for scheme, parameters in schemes
    ]


def plain(*names: str) -> list[tuple[str, Mapping[str, float]]]:
    """Pair names of schemes with no parameters."""
    return [(name, {}) for name in names]


def mean(table: pd.DataFrame, column: str, **where: object) -> float:
    """Return the mean of a column over the valid runs that have these values; NaN if none has."""
    chosen = table[table["verdict"] != "INVALID"]
    for name, value in where.items():
        chosen = chosen[chosen[name] == value]
    return float(chosen[column].mean())
