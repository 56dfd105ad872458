"""Panels of a figure side by side, with one legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures.style import COLUMN, PAGE, draw, legend_above, remark
from analysis.figures.sweep import Axis, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from analysis.figures.style import Look

KILOBYTE = 1000.0
CCT = Axis("cct_us", "CCT (µs)")
INCREASE = Axis("cct_increase", "CCT increase (%)", percent=True, from_zero=True)
MAX_QUEUE = Axis("max_queue_bytes", "max queue (KB)", unit=KILOBYTE, from_zero=True)
UTILISATION = Axis("utilisation", "utilisation (%)", percent=True)
HOSTS = Axis("hosts", "hosts", logarithmic=True)
MESSAGE = Axis("message_bytes", "message (MiB)", logarithmic=True, unit=float(1 << 20))
LOAD = Axis("load", "load (%)", percent=True)


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel: its axes, the part of the table it shows, a title, and what else is drawn."""

    x: Axis
    y: Axis
    title: str = ""
    part: Callable[[pd.DataFrame], pd.Series[bool]] | None = None
    diagonal: bool = False
    more: Callable[[Axes], None] | None = None


def draw_panels(
    stem: Path, table: pd.DataFrame, looks: Mapping[str, Look], panels: Sequence[Panel]
) -> list[Path]:
    """Draw panels in one row as `stem`.png and .pdf; invalid runs are left out and named."""

    def plot(figure: Figure) -> None:
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, panel in zip(row, panels, strict=True):
            part = table if panel.part is None else table[panel.part(table)]
            if not part.empty:
                sweep(axes, part, panel.x, panel.y, looks, diagonal=panel.diagonal, legend=False)
            axes.set_title(panel.title)
            if panel.more:
                panel.more(axes)
        legend_above(row[0])
        remark(figure, left_out(table))

    width = COLUMN if len(panels) == 1 else PAGE
    return [draw(stem, plot, width=width, height=2.4 if len(panels) > 1 else 2.5)]


def left_out(table: pd.DataFrame) -> str:
    """Say how many INVALID runs a figure leaves out; empty if none."""
    invalid = int((table["verdict"] == "INVALID").sum())
    return f"{invalid} INVALID of {len(table)} runs left out" if invalid else ""
