"""Figure 12: congestion control on top of load balancing.

Permutation of 4 MB messages with buffers of 800 KB a port and marks from 80 KB, under DCTCP, NSCC
and MSwift. The paper's claims: DCTCP multiplies the CCTs of REPS and AR by 3 to 4 while Ofan and
4Ofan stay under 1 % above the bound; NSCC costs REPS and AR at least 8 % more, MSwift 14 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import PAGE, draw, remark
from experiments.figures.drawing import left_out
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.fig10 import bars
from experiments.figures.figure import MB, Claim, Figure, each, plain
from testbed.hosts import congestion
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import matplotlib.figure
    import pandas as pd

    from analysis.figures.style import Look
    from experiments.figures.evidence import Estimate

SCHEMES = plain("reps", "ar", "pofan", "ofan")
OTHERS, OWN = ("reps", "ar"), ("pofan", "ofan")
CCAS = ("dctcp", "nscc", "mswift")
COLUMNS = (
    ("cct_increase", 0.01, "CCT increase (%)"),
    ("utilisation", 0.01, "utilisation (%)"),
    ("max_queue_bytes", 1000.0, "max queue (KB)"),
)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run each scheme under each congestion control."""
    base = Scenario(
        k=8 if quick else 12, message_bytes=4 * MB, buffer_bytes=800_000, ecn_bytes=80_000
    )
    return each(base, SCHEMES, [{"cca": cca} for cca in CCAS])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a row of panels a congestion control."""

    def panels(figure: matplotlib.figure.Figure) -> None:
        rows = figure.subplots(len(CCAS), len(COLUMNS))
        for row, cca in zip(rows, CCAS, strict=True):
            for axes, (column, unit, name) in zip(row, COLUMNS, strict=True):
                bars(axes, table[table["cca"] == cca], column, unit, looks)
                axes.set_ylabel(name)
                axes.set_title(congestion(cca).label)
        remark(figure, left_out(table))

    return [draw(stem, panels, width=PAGE, height=5.4)]


def claims(table: pd.DataFrame) -> list[Claim]:
    """Compare with what §6.5 says of each congestion control."""
    dctcp = _increases(table, "dctcp")
    times = {name: estimate(1 + dctcp[name]) for name in OTHERS}
    own = {name: estimate(dctcp[name]) for name in OWN}
    return [
        Claim(
            "CCT of REPS and AR under DCTCP over the bound",
            "3 to 4 times",
            ", ".join(f"{name} {found.mean:.2f}" for name, found in _named(times)),
            all_of(found.within(2.5, 4.5) for found in times.values()),
            "2.5 to 4.5: the paper rounds to one",
        ),
        Claim(
            "CCT increase of 4Ofan and Ofan under DCTCP",
            "under 1 %",
            ", ".join(f"{name} {found.mean:.2%}" for name, found in _named(own)),
            all_of(found.within(high=0.01) for found in own.values()),
        ),
        _worse(table, "nscc", 0.08),
        _worse(table, "mswift", 0.14),
    ]


def _increases(table: pd.DataFrame, cca: str) -> dict[str, pd.Series[float]]:
    return {name: by_seed(table, "cct_increase", scheme=name, cca=cca) for name, _ in SCHEMES}


def _worse(table: pd.DataFrame, cca: str, least: float) -> Claim:
    found = _increases(table, cca)
    means = {name: float(values.mean()) for name, values in found.items()}
    other = min(OTHERS, key=lambda name: means[name])
    own = max(OWN, key=lambda name: means[name])
    gap = estimate(found[other] - found[own])
    return Claim(
        "the better of REPS and AR against the worse of 4Ofan and Ofan under "
        f"{congestion(cca).label}",
        f"worse by at least {least:.0%}",
        f"{gap.mean:.1%} ± {gap.error:.1%} ({means[other]:.1%} against {means[own]:.1%})",
        gap.within(low=least),
        "of the bound, as Figures 5 to 8",
    )


def _named(found: Mapping[str, Estimate]) -> list[tuple[str, Estimate]]:
    names = {"reps": "REPS", "ar": "AR", "pofan": "4Ofan", "ofan": "Ofan"}
    return [(names[name], part) for name, part in found.items()]


FIGURE = Figure("fig12", "Congestion control on top of load balancing", sweep, plot, claims)
