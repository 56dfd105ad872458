"""A metric over a swept quantity: one line a scheme, with the standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import Look, legend_above, look_of, name_ticks, percent_axis
from analysis.summary import by_scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

MOST_TICKS = 8
DODGE = 0.06  # between the schemes at a word


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a sweep: the column it shows, its label, and how it is scaled.

    Values are divided by `unit`; shares are written as `percent`. `from_zero` is for a vertical
    axis whose values are to be compared by their height. With `names` values are places of words,
    which no line connects.
    """

    column: str
    label: str
    logarithmic: bool = False
    percent: bool = False
    unit: float = 1.0
    from_zero: bool = False
    names: tuple[str, ...] = ()


def sweep(
    axes: Axes,
    table: pd.DataFrame,
    x: Axis,
    y: Axis,
    looks: Mapping[str, Look],
    *,
    diagonal: bool = False,
    legend: bool = True,
) -> None:
    """Draw the rows of summaries: `y` over `x` by scheme, means with their standard error.

    INVALID rows are left out. With `diagonal` the line y = x is drawn too.
    """
    means = by_scheme(table, y.column, x.column)
    names = [name for name in looks if name in set(means["variant"])]
    for number, name in enumerate(names):
        own = means[means["variant"] == name].sort_values(x.column)
        look = look_of(name, looks, number)
        line = look.line() | ({"linestyle": "none"} if x.names else {})
        beside = DODGE * (number - (len(names) - 1) / 2) if x.names else 0.0
        axes.errorbar(
            own[x.column] / x.unit + beside,
            own["mean"] / y.unit,
            yerr=own["sem"].fillna(0) / y.unit,
            capsize=1.5,
            capthick=0.7,
            clip_on=False,
            elinewidth=0.7,
            **line,
            **look.marks(),
        )
    _scale(axes, x, np.sort(np.asarray(means[x.column].unique(), dtype=float)) / x.unit)
    if y.logarithmic:
        axes.set_yscale("log")
    if diagonal:
        ends = np.array(axes.get_xlim())
        axes.plot(ends, ends, color="black", lw=0.7, ls=":", label="y = x", zorder=1)
        axes.set_xlim(*ends)
    if y.from_zero and (means["mean"] >= 0).all():
        axes.set_ylim(bottom=0)
    axes.set_xlabel(x.label)
    axes.set_ylabel(y.label)
    if y.percent:
        percent_axis(axes)
    if legend:
        legend_above(axes)


def _scale(axes: Axes, x: Axis, ticks: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Scale the horizontal axis; a logarithmic one gets the swept values as its ticks."""
    if x.names:
        name_ticks(axes, x.names)
        axes.set_xlim(-0.5, len(x.names) - 0.5)
    elif x.logarithmic:
        axes.set_xscale("log", base=2)
        shown = ticks[:: -(-len(ticks) // MOST_TICKS)]
        axes.set_xticks(shown, [_number(tick) for tick in shown])
        axes.minorticks_off()
    elif x.percent:
        percent_axis(axes, "x")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
