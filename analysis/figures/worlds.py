"""The same scenarios in two worlds, side by side: emulation against virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.agreement import paired
from analysis.figures.style import Look, legend_above, look_of, name_ticks, percent_axis
from analysis.summary import by_scheme

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

HATCHES = ("", "////", "....")


def worlds(
    axes: Axes, table: pd.DataFrame, looks: Mapping[str, Look], *, legend: bool = True
) -> None:
    """Draw the CCT increase of each scheme, a bar a world, with the standard error.

    `table` holds rows of summaries from several worlds. INVALID rows are left out.
    """
    means = by_scheme(table, "cct_increase", "world")
    there = list(dict.fromkeys(means["world"]))
    names = [name for name in looks if name in set(means["variant"])]
    width = 0.8 / max(1, len(there))
    for number, world in enumerate(there):
        own = means[means["world"] == world].set_index("variant").reindex(names)
        at = np.arange(len(names)) - 0.4 + (number + 0.5) * width
        axes.bar(
            at,
            own["mean"],
            width,
            yerr=own["sem"].fillna(0),
            color=[look_of(name, looks, place).color for place, name in enumerate(names)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor="black",
            linewidth=0.4,
            error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )
        axes.bar(
            [0], [0], color="white", edgecolor="black", lw=0.4, hatch=HATCHES[number], label=world
        )
    name_ticks(axes, [look_of(name, looks).label for name in names])
    axes.set_ylabel("CCT increase (%)")
    percent_axis(axes)
    if legend:
        legend_above(axes)


def agreement(axes: Axes, table: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Draw each scenario's CCT in the other worlds over that in the first, and the line y = x."""
    reference, *others = dict.fromkeys(table["world"])
    for other in others:
        pairs = paired(table, reference, other)
        for number, (name, own) in enumerate(pairs.groupby("variant", sort=False)):
            look = look_of(str(name), looks, number)
            axes.plot(
                own["cct_us_reference"], own["cct_us_other"], look.marker, color=look.color, ms=3
            )
    ends = axes.get_xlim()
    axes.plot(ends, ends, color="black", lw=0.7, ls=":")
    axes.set_xlabel(f"CCT in {reference} (µs)")
    axes.set_ylabel(f"CCT in {' and '.join(others)} (µs)")
