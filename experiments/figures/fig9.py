"""Figure 9: CCT increase as links fail.

Permutation of 1 MB messages; each link between switches fails with a probability, hosts pace at
rho_max, and CCTs are compared with the bound of the intact network. The paper's claim: the order of
schemes is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.sweep import Axis
from experiments.figures.drawing import INCREASE, Panel, draw_panels
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.figure import Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
PROBABILITIES = (0.0, 0.0025, 0.005, 0.01, 0.02, 0.04)
QUICK_PROBABILITIES = (0.0, 0.01, 0.04)
FAILED = Axis("failures", "failure probability of a link (%)", percent=True)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the probability of failures."""
    probabilities = QUICK_PROBABILITIES if quick else PROBABILITIES
    return each(Scenario(k=8 if quick else 12), SCHEMES, [{"failures": p} for p in probabilities])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw the one panel."""
    return draw_panels(stem, table, looks, [Panel(FAILED, INCREASE)])


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check the order at each probability."""
    found = []
    for probability in sorted(table["failures"].unique()):
        by_scheme = {
            name: by_seed(table, "cct_increase", variant=name, failures=probability)
            for name, _ in SCHEMES
        }
        means = {name: float(values.mean()) for name, values in by_scheme.items()}
        found.append(
            Claim(
                f"order with {100 * probability:g} % of links failed",
                "Ofan and 4Ofan ahead of REPS and AR",
                f"Ofan {means['ofan']:.1%}, 4Ofan {means['pofan']:.1%}, REPS {means['reps']:.1%}, "
                f"AR {means['ar']:.1%}",
                all_of(
                    estimate(by_scheme[other] - by_scheme[own]).within(low=0)
                    for own in ("ofan", "pofan")
                    for other in ("reps", "ar")
                ),
            )
        )
    return found


FIGURE = Figure("fig9", "CCT increase under link failures", sweep, plot, claims)
