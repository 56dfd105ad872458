"""Figure 6: CCT increase of POfan's variants and DRB as the network grows.

Permutation of 1 MB messages. The paper's claim: 1Ofan, which decides per input as DRB does per
host, lies about half way between Ofan and DRB, thanks to consolidation at the aggregation.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from experiments.figures.drawing import HOSTS, INCREASE, Panel, draw_panels
from experiments.figures.evidence import Estimate, all_of, by_seed, estimate
from experiments.figures.figure import Claim, Figure, each
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES: list[tuple[str, Mapping[str, float]]] = [
    ("drb", {}),
    *(("pofan", {"pipe_ports": float(ports)}) for ports in (1, 2, 4)),
    ("ofan", {}),
]


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the size of the network."""
    return each(Scenario(), SCHEMES, [{"k": k} for k in ((4, 8) if quick else (4, 8, 12, 16))])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw the one panel."""
    return draw_panels(stem, table, looks, [Panel(HOSTS, INCREASE)])


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check the order at the largest size, and where 1Ofan lies."""
    k = table["k"].max()
    names = ["ofan", *(f"pofan(pipe_ports={ports})" for ports in (4, 2, 1)), "drb"]
    found = [by_seed(table, "cct_increase", variant=name, k=k) for name in names]
    ofan, one, drb = found[0], found[3], found[4]
    # A ratio of two means: its error to first order.
    place = float((one - ofan).mean() / (drb - ofan).mean())
    error = estimate((one - ofan) - place * (drb - ofan)).error / float((drb - ofan).mean())
    return [
        Claim(
            "wider pipes are better",
            "Ofan < 4Ofan < 2Ofan < 1Ofan < DRB",
            ", ".join(f"{float(part.mean()):.2%}" for part in found),
            all_of(estimate(wide - narrow).within(high=0) for wide, narrow in pairwise(found)),
        ),
        Claim(
            "1Ofan between Ofan (0) and DRB (1)",
            "roughly 0.5",
            f"{place:.2f} ± {error:.2f}",
            Estimate(place, error).within(0.25, 0.75),
            "0.25 to 0.75: nearer to half way than to either end",
        ),
    ]


FIGURE = Figure("fig6", "CCT increase of POfan's variants and DRB", sweep, plot, claims)
