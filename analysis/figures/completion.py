"""CCT increase of each scheme: bars with the standard error, and every run as a dot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import Look, look_of, name_ticks, percent_axis, remark
from analysis.summary import by_scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

LOG_FROM = 25.0  # ratio of the largest bar to the smallest from which on the axis is logarithmic


def cct_increase(figure: Figure, table: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Draw the rows of a summary as bars in the order of `looks`; INVALID runs are named below."""
    means = by_scheme(table, "cct_increase").set_index("variant")
    axes = figure.add_subplot()
    names = [name for name in looks if name in means.index]
    values = means.loc[names, "mean"]
    logarithmic = len(values) > 1 and values.min() > 0 and values.max() / values.min() > LOG_FROM
    if logarithmic:
        axes.set_yscale("log")
    for place, name in enumerate(names):
        runs = table[(table["variant"] == name) & (table["verdict"] != "INVALID")]["cct_increase"]
        _bar(axes, place, look_of(name, looks, place), runs.to_numpy())
    name_ticks(axes, [look_of(name, looks).label for name in names])
    axes.set_ylabel("CCT increase (%)")
    percent_axis(axes)
    axes.margins(y=0.12)
    if not logarithmic:
        axes.set_ylim(bottom=min(0.0, float(values.min())) if len(values) else None)
    remark(figure, excluded(table, looks))


def excluded(table: pd.DataFrame, looks: Mapping[str, Look]) -> str:
    """Say in words which runs of a summary a figure leaves out or shows with reserve."""
    parts = []
    for grade, what in (("INVALID", "INVALID runs left out"), ("DEGRADED", "DEGRADED runs shown")):
        counted = table.loc[table["verdict"] == grade, "variant"].value_counts(sort=False)
        if len(counted):
            named = ", ".join(
                f"{number} of {look_of(str(name), looks).label}" for name, number in counted.items()
            )
            parts.append(f"{what}: {named}")
    return "; ".join(parts)


def _bar(axes: Axes, place: int, look: Look, runs: NDArray[np.float64]) -> None:
    """Draw the mean of runs as a bar, their standard error, and each of them as a dot."""
    mean = float(runs.mean())
    error = float(runs.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else 0.0
    axes.bar(place, mean, width=0.7, color=look.color, label=look.label, zorder=2)
    if error:
        axes.errorbar(place, mean, yerr=error, color="black", capsize=2, lw=0.8, zorder=4)
    spread = np.linspace(-0.18, 0.18, len(runs)) if len(runs) > 1 else np.zeros(len(runs))
    axes.plot(place + spread, runs, ".", ms=2.5, color="black", alpha=0.55, zorder=3)
    top = max(mean + error, float(runs.max()))
    axes.annotate(
        f"{100 * mean:.3g}",
        (place, top),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        fontsize=6.5,
    )
