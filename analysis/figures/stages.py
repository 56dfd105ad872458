"""Bars by stage: queues (mean and max) of each scheme, and link overload (Fig. 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.queue_series import BYTES_PER_KILOBYTE, arrow
from analysis.figures.style import (
    STAGE_COLORS,
    Look,
    legend_above,
    look_of,
    name_ticks,
    percent_axis,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUP_WIDTH = 0.82


def queues_by_stage(figure: Figure, table: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Draw the longest and the mean queue by stage, a bar a scheme.

    `table` has a row a run and stage: scheme, stage, max_queue_bytes, mean_queue_bytes. Bars are
    means over runs, with the standard error.
    """
    panels = figure.subplots(1, 2)
    quantities = (
        ("max_queue_bytes", "longest queue (KB)"),
        ("mean_queue_bytes", "mean queue (KB)"),
    )
    for panel, (column, label) in zip(panels, quantities, strict=True):
        in_kilobytes = table.assign(value=table[column] / BYTES_PER_KILOBYTE)
        _grouped(panel, in_kilobytes, "stage", "variant", looks)
        panel.set_ylabel(label)
    legend_above(panels[0])


def overload(
    axes: Axes, table: pd.DataFrame, looks: Mapping[str, Look], *, legend: bool = True
) -> None:
    """Draw the worst link overload by scheme, a bar a stage, as the paper's Fig. 3.

    `table` has a row a run and stage: scheme, stage, value (a share). Bars are means over runs,
    with the standard error.
    """
    _grouped(axes, table, "variant", "stage", looks)
    axes.set_ylabel("worst link overload (%)")
    percent_axis(axes)
    if legend:
        legend_above(axes)


def _grouped(
    axes: Axes, table: pd.DataFrame, group: str, bar: str, looks: Mapping[str, Look]
) -> None:
    """Draw groups of bars of the column `value`: its mean and standard error by group and bar."""
    statistics = table.groupby([group, bar], sort=False)["value"].agg(["mean", "sem"])
    groups, bars = (_order(table[column], looks) for column in (group, bar))
    width = GROUP_WIDTH / max(1, len(bars))
    for number, name in enumerate(bars):
        own = statistics.xs(name, level=bar).reindex(groups)
        at = np.arange(len(groups)) - GROUP_WIDTH / 2 + (number + 0.5) * width
        color, label = _appearance(name, looks, number)
        outline = 0.3 if bar == "stage" else 0.0
        axes.bar(
            at, own["mean"], width, color=color, label=label, edgecolor="black", linewidth=outline
        )
        if own["sem"].notna().any():
            axes.errorbar(at, own["mean"], own["sem"], fmt="none", ecolor="black", elinewidth=0.7)
    name_ticks(axes, [_appearance(name, looks, 0)[1] for name in groups])


def _order(column: pd.Series[str], looks: Mapping[str, Look]) -> list[str]:
    there = list(dict.fromkeys(column))
    return [name for name in looks if name in there] + [n for n in there if n not in looks]


def _appearance(name: str, looks: Mapping[str, Look], number: int) -> tuple[str, str]:
    if name in STAGE_COLORS:
        return STAGE_COLORS[name], arrow(name)
    look = look_of(name, looks, number)
    return look.color, look.label
