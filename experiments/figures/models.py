"""Figures 16 and 18: mean queues by stage against the N·D/D/1 models, under DRB and under Ofan.

Permutation of 4 MB messages among 1,024 hosts. The paper's claim: the model is close at the edge
(E→A) and coarser beyond. We draw the exact N·D/D/1 mean, and the truncated Gaussian of the paper's
text as we read it (see analysis.theory).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.models import queue_models
from analysis.figures.style import draw, one_axes
from analysis.theory import STAGES, exact_queue, sources, truncated_normal_queue
from experiments.figures.figure import MB, Claim, Figure, each, plain
from testbed import schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analysis.figures.style import Look
    from analysis.theory import Model


def in_data_packets(table: pd.DataFrame, stage: str) -> pd.Series[float]:
    """Return the mean queues of a stage in full data frames: the models know no ACKs."""
    queued: pd.Series[float] = table[f"mean_queue_bytes {stage}"] / table["data_frame_bytes"]
    return queued


def _figure(name: str, scheme: str, model: Model) -> Figure:
    def sweep(quick: bool) -> Sequence[Scenario]:  # noqa: FBT001 - the registry's signature
        size = Scenario(k=8 if quick else 16, message_bytes=MB if quick else 4 * MB)
        return each(size, plain(scheme))

    def plot(table: pd.DataFrame, _looks: Mapping[str, Look], stem: Path) -> list[Path]:
        long = pd.concat(
            [
                pd.DataFrame({"stage": stage, "mean_queue_packets": in_data_packets(table, stage)})
                for stage in STAGES
            ]
        )
        seen = sources(model, int(table["k"].iloc[0]))
        lines = {
            "exact N·D/D/1": {stage: exact_queue(seen[stage]) for stage in STAGES},
            "truncated Gaussian": {stage: truncated_normal_queue(seen[stage]) for stage in STAGES},
        }
        return [draw(stem, one_axes(lambda axes: queue_models(axes, long, lines)), height=2.3)]

    def claims(table: pd.DataFrame) -> list[Claim]:
        seen = sources(model, int(table["k"].iloc[0]))
        exact = exact_queue(seen["E-A"])
        normal = truncated_normal_queue(seen["E-A"])
        valid = table[table["verdict"] != "INVALID"]
        measured = float(in_data_packets(valid, "E-A").mean())
        close = min(abs(measured - exact), abs(measured - normal)) / measured
        return [
            Claim(
                "mean queue at E→A against the model",
                "very close",
                f"{measured:.2f} packets; exact {exact:.2f}, Gaussian {normal:.2f}",
                close < 0.25,
            )
        ]

    title = f"Mean queues of {schemes.label(schemes.find(scheme), {})} against its model"
    return Figure(name, title, sweep, plot, claims)


FIGURE_16 = _figure("fig16", "drb", "drb")
FIGURE_18 = _figure("fig18", "ofan", "ofan")
