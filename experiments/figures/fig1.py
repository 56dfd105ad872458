"""Figure 1: utilisation, longest queue and CCT as the load grows.

Permutation of 1 MB messages, no congestion control. The paper's claim: REPS and AR cannot keep up
beyond a load of 0.9 and stay below 95 % at full load, Ofan reaches about 99 %. The paper does not
define utilisation; ours is that of the receivers' links (see analysis.metrics.utilisation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.figures.drawing import CCT, LOAD, MAX_QUEUE, UTILISATION, Panel, draw_panels
from experiments.figures.figure import Claim, Figure, each, mean, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
LOADS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
QUICK_LOADS = (0.5, 0.8, 0.9, 1.0)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the load."""
    base = Scenario(k=8 if quick else 12)
    return each(base, SCHEMES, [{"load": load} for load in (QUICK_LOADS if quick else LOADS)])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw the three panels."""
    panels = (Panel(LOAD, UTILISATION, diagonal=True), Panel(LOAD, MAX_QUEUE), Panel(LOAD, CCT))
    return draw_panels(stem, table, looks, panels)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check utilisation at full load, and where schemes leave the diagonal."""
    full = {name: mean(table, "utilisation", scheme=name, load=1.0) for name, _ in SCHEMES}
    half = {name: mean(table, "utilisation", scheme=name, load=0.8) / 0.8 for name, _ in SCHEMES}
    others = max(full["reps"], full["ar"])
    return [
        Claim(
            "Ofan's utilisation at full load",
            "about 99 %",
            f"{full['ofan']:.1%}",
            full["ofan"] >= 0.975,
        ),
        Claim(
            "REPS and AR at full load",
            "below 95 %",
            f"REPS {full['reps']:.1%}, AR {full['ar']:.1%}",
            others < 0.95,
        ),
        Claim(
            "all follow the load up to 0.8",
            "on the line y = x",
            f"{min(half.values()):.1%} to {max(half.values()):.1%} of it",
            min(half.values()) > 0.97,
        ),
    ]


FIGURE = Figure("fig1", "Utilisation, queue and CCT over load", sweep, plot, claims)
