"""Measured mean queues by stage against queue models (Figs. 16 and 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patheffects import withStroke

from analysis.figures.queue_series import arrow
from analysis.figures.style import STAGE_COLORS, legend_above, name_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from matplotlib.axes import Axes

LINES = ("-", "--", ":")


def queue_models(
    axes: Axes, table: pd.DataFrame, models: Mapping[str, Mapping[str, float]]
) -> None:
    """Draw mean queues in packets as bars, and each model's value at each stage as a line.

    `table` has a row a run and stage: stage, mean_queue_packets. `models` gives names to values by
    stage, all in packets.
    """
    statistics = table.groupby("stage", sort=False)["mean_queue_packets"].agg(["mean", "sem"])
    for place, (stage, row) in enumerate(statistics.iterrows()):
        axes.bar(
            place,
            row["mean"],
            width=0.6,
            yerr=np.nan_to_num(row["sem"]),
            color=STAGE_COLORS[str(stage)],
            edgecolor="black",
            linewidth=0.3,
            error_kw={"elinewidth": 0.7, "capsize": 2},
        )
    for (name, values), style in zip(models.items(), LINES, strict=False):
        for place, stage in enumerate(statistics.index):
            axes.plot(
                [place - 0.42, place + 0.42],
                [values[str(stage)]] * 2,
                color="black",
                ls=style,
                lw=1.1,
                path_effects=[withStroke(linewidth=2.5, foreground="white")],
                label=name if place == 0 else None,
            )
    name_ticks(axes, [arrow(str(stage)) for stage in statistics.index])
    axes.set_ylabel("mean queue (data packets)")
    legend_above(axes)
