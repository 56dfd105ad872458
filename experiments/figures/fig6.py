"""Figure 6: CCT increase of POfan's variants and DRB as the network grows.

Permutation of 1 MB messages. The paper's claim: 1Ofan, which decides per input as DRB does per
host, lies about half way between Ofan and DRB, thanks to consolidation at the aggregation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.figures.drawing import HOSTS, INCREASE, Panel, draw_panels
from experiments.figures.figure import Claim, Figure, each, mean
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
    drb, ofan = (mean(table, "cct_increase", scheme=name, k=k) for name in ("drb", "ofan"))
    one, two, four = (
        mean(table, "cct_increase", scheme=f"pofan(pipe_ports={ports})", k=k) for ports in (1, 2, 4)
    )
    place = (one - ofan) / (drb - ofan)
    slack = 0.002
    ordered = ofan <= four + slack and four <= two + slack and two <= one + slack
    return [
        Claim(
            "wider pipes are better",
            "Ofan < 4Ofan < 2Ofan < 1Ofan < DRB",
            f"{ofan:.2%}, {four:.2%}, {two:.2%}, {one:.2%}, {drb:.2%}",
            ordered and one <= drb + slack,
        ),
        Claim("1Ofan between Ofan (0) and DRB (1)", "about 0.5", f"{place:.2f}", 0.2 < place < 0.8),
    ]


FIGURE = Figure("fig6", "CCT increase of POfan's variants and DRB", sweep, plot, claims)
