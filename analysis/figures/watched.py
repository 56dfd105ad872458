"""Congestion control of watched flows over time: window, rate and queueing delay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import Look, legend_above, look_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure

PANELS = (
    ("window_bytes", "window (KB)", 1000),
    ("rate_gbps", "rate (Gb/s)", 1),
    ("queueing_ns", "queueing delay (µs)", 1000),
)


def watched(figure: Figure, tables: Mapping[str, pd.DataFrame], looks: Mapping[str, Look]) -> None:
    """Draw tables of transport.csv.gz: a panel a quantity, a colour a scheme, a line a flow."""
    panels = figure.subplots(1, len(PANELS))
    for panel, (column, words, unit) in zip(panels, PANELS, strict=True):
        for number, (name, table) in enumerate(tables.items()):
            look = look_of(name, looks, number)
            for place, (_, own) in enumerate(table.dropna(subset=[column]).groupby("flow")):
                line = look.line() | {"linewidth": 0.8, **({"label": None} if place else {})}
                shown = own[column].where(~_after_silence(own)) / unit
                panel.plot(own["time_ns"] / 1000, shown, **line)
        panel.set_title(words, pad=3)
        panel.set_xlim(left=0)
        panel.set_ylim(bottom=0)
    figure.supxlabel("time (µs)", fontsize=8)
    legend_above(panels[0])


def _after_silence(table: pd.DataFrame) -> pd.Series[bool]:
    """Tell the rows before which no news came for a round trip: no line leads across that time."""
    return table["time_ns"].diff() > table["rtt_ns"].median()
