"""Utilisation of the receivers' links over time, one line a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import Look, legend_above, look_of, percent_axis

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes


def utilisation(axes: Axes, tables: Mapping[str, pd.DataFrame], looks: Mapping[str, Look]) -> None:
    """Draw tables of `metrics.utilisation_over_time`, by scheme."""
    for number, (name, table) in enumerate(tables.items()):
        look = look_of(name, looks, number)
        axes.plot(table["time_us"], table["utilisation"], **look.line())
    axes.set_xlabel("time (µs)")
    axes.set_ylabel("utilisation (%)")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.05)
    percent_axis(axes)
    legend_above(axes)
