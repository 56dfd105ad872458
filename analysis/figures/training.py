"""Where the time of a training step goes: computation, communication, and what schemes add."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import FALLBACK_COLORS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

PARTS = (
    ("computation_us", "computation", "#bbbbbb"),
    ("exposed_at_bound_us", "communication that any scheme exposes", FALLBACK_COLORS[5]),
    ("added_us", "added by the scheme", FALLBACK_COLORS[1]),
)


def step_figure(figure: Figure, *, table: pd.DataFrame) -> None:
    """Draw stacked bars of a step's parts, a panel for each placement of jobs.

    `table` has a row for each placement and scheme, with columns placement, label and the parts.
    """
    placements = list(dict.fromkeys(table["placement"]))
    panels = figure.subplots(1, len(placements), sharey=True, squeeze=False)[0]
    for axes, placement in zip(panels, placements, strict=True):
        rows = table[table["placement"] == placement]
        places = np.arange(len(rows))
        below = np.zeros(len(rows))
        for column, label, color in PARTS:
            height = rows[column].to_numpy(dtype=float) / 1000
            axes.bar(places, height, bottom=below, width=0.7, color=color, label=label)
            below = below + height
        for place, top, added in zip(places, below, rows["added_percent"], strict=True):
            axes.annotate(
                f"+{added:.1f}%", (place, top), ha="center", va="bottom", fontsize="x-small"
            )
        axes.set_xticks(places, rows["label"], rotation=30, ha="right")
        axes.margins(y=0.12)
        if len(placements) > 1:
            axes.set_title(placement)
    panels[0].set_ylabel("time of a step (ms)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
