"""Figure 11: half of the switches use 4Ofan, the other half AR.

Permutation of 1 MB messages. The paper's claims: every mix is better than AR alone, slightly worse
than the midpoint (7.3 %) between AR and 4Ofan, and the edge is the best place to start.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.figures.completion import cct_increase
from analysis.figures.style import PAGE, draw
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.figure import Claim, Figure
from testbed.mixing import WHERE
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run AR, 4Ofan, and AR with 4Ofan in each kind of half."""
    base = Scenario(k=8 if quick else 12, scheme="ar")
    mixes = [replace(base, mix=("pofan", where)) for where in WHERE]
    return [base, *mixes, replace(base, scheme="pofan")]


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a bar a deployment."""
    return [draw(stem, lambda figure: cct_increase(figure, table, looks), width=PAGE, height=2.4)]


def claims(table: pd.DataFrame) -> list[Claim]:
    """Compare mixes with AR, with the midpoint, and with each other."""
    ar, four = (by_seed(table, "cct_increase", variant=name) for name in ("ar", "pofan"))
    mixes = {where: by_seed(table, "cct_increase", variant=f"ar+pofan+{where}") for where in WHERE}
    ours = ", ".join(f"{where} {float(values.mean()):.1%}" for where, values in mixes.items())
    midpoint = (ar + four) / 2
    best = min(mixes, key=lambda where: float(mixes[where].mean()))
    return [
        Claim(
            "every mix is better than AR",
            "yes",
            f"AR {float(ar.mean()):.1%}; {ours}",
            all_of(estimate(ar - values).within(low=0) for values in mixes.values()),
        ),
        Claim(
            "mixes are slightly worse than the midpoint",
            "midpoint 7.3 %",
            f"midpoint {float(midpoint.mean()):.1%}",
            all_of(estimate(values - midpoint).within(low=0) for values in mixes.values()),
        ),
        Claim(
            "the best place is",
            "the edge",
            best,
            all_of(
                estimate(values - mixes["edge"]).within(low=0)
                for where, values in mixes.items()
                if where != "edge"
            ),
        ),
    ]


FIGURE = Figure("fig11", "Incremental deployment", sweep, plot, claims, seeds=40)
