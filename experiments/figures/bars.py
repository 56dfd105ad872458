"""Panels of bars: a scheme each, with the standard error of its seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import PAGE, draw, look_of, name_ticks, remark
from experiments.figures.drawing import left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from analysis.figures.style import Look


@dataclass(frozen=True, slots=True)
class Bars:
    """A panel: its title, the column it shows and in what unit, and the rows it is made of."""

    title: str
    column: str
    label: str
    unit: float
    part: Callable[[pd.DataFrame], pd.Series[bool]]


def draw_bars(
    stem: Path, table: pd.DataFrame, looks: Mapping[str, Look], rows: Sequence[Sequence[Bars]]
) -> list[Path]:
    """Draw rows of panels as `stem`.png and .pdf; invalid runs are left out and named."""

    def plot(figure: Figure) -> None:
        grid = figure.subplots(len(rows), max(map(len, rows)), squeeze=False)
        for line, panels in zip(grid, rows, strict=True):
            for axes, panel in zip(line, panels, strict=True):
                _draw(axes, table[panel.part(table)], panel, looks)
        remark(figure, left_out(table))

    return [draw(stem, plot, width=PAGE, height=2.2 * len(rows) + 0.2)]


def _draw(axes: Axes, table: pd.DataFrame, panel: Bars, looks: Mapping[str, Look]) -> None:
    valid = table[table["verdict"] != "INVALID"]
    names = [name for name in looks if name in set(valid["scheme"])]
    for place, name in enumerate(names):
        values = valid.loc[valid["scheme"] == name, panel.column].to_numpy(dtype=float) / panel.unit
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        look = look_of(name, looks, place)
        axes.bar(place, float(values.mean()), 0.7, yerr=error, color=look.color, capsize=2)
    name_ticks(axes, [look_of(name, looks).label for name in names])
    axes.set_title(panel.title)
    axes.set_ylabel(panel.label)
