"""Figure 10: two-level network, CCT and longest queue.

Switches of 64 ports, 2,048 hosts, permutation of 1 MB messages. The paper's claim: Ofan and 4Ofan
reduce the CCT by more than 11 %. It does not say of what; the figures before it show the CCT as an
increase over the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import COLUMN, draw, look_of, name_ticks, remark
from analysis.summary import by_scheme
from experiments.figures.drawing import left_out
from experiments.figures.evidence import by_seed, estimate
from experiments.figures.figure import Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import matplotlib.figure
    import pandas as pd
    from matplotlib.axes import Axes

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run each scheme once."""
    return each(Scenario(topology="leaf-spine", k=16 if quick else 64), SCHEMES)


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw CCT and longest queue as bars."""

    def both(figure: matplotlib.figure.Figure) -> None:
        panels = figure.subplots(1, 2)
        bars(panels[0], table, "cct_us", 1.0, looks)
        panels[0].set_ylabel("CCT (µs)")
        bars(panels[1], table, "max_queue_bytes", 1000.0, looks)
        panels[1].set_ylabel("max queue (KB)")
        remark(figure, left_out(table))

    return [draw(stem, both, width=COLUMN, height=2.0)]


def bars(
    axes: Axes, table: pd.DataFrame, column: str, unit: float, looks: Mapping[str, Look]
) -> None:
    """Draw a bar a scheme with its standard error."""
    means = by_scheme(table, column).set_index("variant")
    names = [name for name in looks if name in means.index]
    for place, name in enumerate(names):
        value = means.loc[name, ["mean", "sem"]].fillna(0).to_numpy(dtype=float) / unit
        axes.bar(
            place,
            value[0],
            yerr=value[1],
            width=0.7,
            color=look_of(name, looks, place).color,
            error_kw={"elinewidth": 0.7, "capsize": 2},
        )
    name_ticks(axes, [look_of(name, looks).label for name in names])


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check how much is saved, of the bound as in Figures 5 to 8, and of the CCT."""
    return [
        _saved(table, "cct_increase", "of the bound, as Figures 5 to 8 show it", relative=False),
        _saved(table, "cct_us", "of their CCT", relative=True),
    ]


def _saved(table: pd.DataFrame, column: str, unit: str, *, relative: bool) -> Claim:
    values = {name: by_seed(table, column, variant=name) for name, _ in SCHEMES}
    means = {name: float(found.mean()) for name, found in values.items()}
    other = min(("reps", "ar"), key=lambda name: means[name])
    own = max(("pofan", "ofan"), key=lambda name: means[name])
    saved = values[other] - values[own]
    found = estimate(saved / values[other] if relative else saved)
    return Claim(
        f"saved by the worse of Ofan and 4Ofan against the better of REPS and AR, {unit}",
        "more than 11 %",
        f"{found.mean:.1%} ± {found.error:.1%}",
        found.within(low=0.11),
    )


FIGURE = Figure("fig10", "Two-level network: CCT and longest queue", sweep, plot, claims)
