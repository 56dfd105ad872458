"""Queues over time: the longest queue of each stage, a panel a stage and a line a scheme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import Look, legend_above, look_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.figure import Figure

BYTES_PER_KILOBYTE = 1000


def queue_series(
    figure: Figure, series: Mapping[str, pd.DataFrame], looks: Mapping[str, Look]
) -> None:
    """Draw the longest queue of each stage over time from tables of `metrics.queue_series`."""
    stages = list(dict.fromkeys(stage for table in series.values() for stage in table["stage"]))
    panels = figure.subplots(1, max(1, len(stages)), sharey=True, squeeze=False)[0]
    for panel, stage in zip(panels, stages, strict=False):
        for number, (name, table) in enumerate(series.items()):
            look = look_of(name, looks, number)
            own = table[table["stage"] == stage]
            longest = own["max_queue_bytes"] / BYTES_PER_KILOBYTE
            panel.plot(own["time_us"], longest, **({"linewidth": 1} | look.line()))
        panel.set_title(arrow(stage), pad=3)
        panel.set_xlim(left=0)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("longest queue (KB)")
    figure.supxlabel("time (µs)", fontsize=8)
    legend_above(panels[0])


def arrow(stage: str) -> str:
    """Write a stage as the paper does: `E-A` as E→A."""
    return stage.replace("-", "→")
