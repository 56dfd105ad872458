"""Figures 16 and 18: mean queues by stage against the N·D/D/1 models, under DRB and under Ofan.

Permutation of 4 MB messages among 1,024 hosts. Queues are averaged over the time in which hosts
send, as §3.3 defines q(m). The paper's model is a truncated Gaussian; drawn beside it is the exact
mean of N·D/D/1, of which it is an approximation. The paper's claims: under DRB the model is very
close at E→A, a bit pessimistic at the two core stages and relatively close at the two below; under
Ofan it holds well at E→A, and the fit is slightly poorer beyond. See docs/reproduction/readings.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.models import queue_models
from analysis.figures.style import draw, one_axes
from analysis.theory import STAGES, exact_queue, sources, truncated_normal_queue
from experiments.figures.evidence import Estimate, all_of, mean_of
from experiments.figures.figure import MB, Claim, Figure, each, plain
from testbed import schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from analysis.figures.style import Look
    from analysis.theory import Model

CLOSE, NEAR = 0.1, 0.3
WHAT_IS_CLOSE = "within 10 %: less cannot be seen in the paper's figure"
WHAT_IS_NEAR = "within 30 %: the model calls itself an even coarser approximation there"


@dataclass(frozen=True, slots=True)
class Fit:
    """A stage's mean queue in data packets against the paper's model and the exact one."""

    measured: Estimate
    model: float
    exact: float

    @property
    def above(self) -> Estimate:
        """By which share the model is above what was measured."""
        ratio = self.model / self.measured.mean
        return Estimate(ratio - 1, ratio * self.measured.error / self.measured.mean)

    def __str__(self) -> str:
        return f"{self.measured.mean:.2f} (model {self.model:.2f}, exact {self.exact:.2f})"


def in_data_packets(table: pd.DataFrame, stage: str) -> pd.Series[float]:
    """Return the mean queues of a stage in full data frames: the models know no ACKs."""
    queued: pd.Series[float] = table[f"sending_queue_bytes {stage}"] / table["data_frame_bytes"]
    return queued


def fits(table: pd.DataFrame, model: Model) -> dict[str, Fit]:
    """Compare each stage with its models."""
    seen = sources(model, int(table["k"].iloc[0]))
    queues = table.assign(**{stage: in_data_packets(table, stage) for stage in STAGES})
    return {
        stage: Fit(
            mean_of(queues, stage), truncated_normal_queue(seen[stage]), exact_queue(seen[stage])
        )
        for stage in STAGES
    }


def drb_claims(table: pd.DataFrame) -> list[Claim]:
    """Check what Appendix D says of Figure 16."""
    found = fits(table, "drb")
    core, below = ("A-C", "C-A"), ("A-E", "E-H")
    return [
        _at_uplinks(found, "very close"),
        Claim(
            "the model at the two core stages",
            "a bit pessimistic",
            _listed(found, core),
            all_of(found[stage].above.within(low=0) for stage in core),
            "above what was measured",
        ),
        Claim(
            "the model at the two stages below",
            "relatively close",
            _listed(found, below),
            all_of(found[stage].above.within(-NEAR, NEAR) for stage in below),
            WHAT_IS_NEAR,
        ),
    ]


def ofan_claims(table: pd.DataFrame) -> list[Claim]:
    """Check what Appendix F says of Figure 18."""
    found = fits(table, "ofan")
    beyond = tuple(stage for stage in STAGES if stage != "E-A")
    return [
        _at_uplinks(found, "holds well"),
        Claim(
            "the model beyond",
            "a slightly poorer fit",
            _listed(found, beyond),
            all_of(found[stage].above.within(-1 / 2, 1) for stage in beyond),
            "within a factor of 2",
        ),
    ]


def _at_uplinks(found: Mapping[str, Fit], paper: str) -> Claim:
    fit = found["E-A"]
    return Claim(
        "the model at E→A", paper, str(fit), fit.above.within(-CLOSE, CLOSE), WHAT_IS_CLOSE
    )


def _listed(found: Mapping[str, Fit], stages: Sequence[str]) -> str:
    return "; ".join(f"{stage.replace('-', '→')} {found[stage]}" for stage in stages)


def _figure(
    name: str, scheme: str, model: Model, claims: Callable[[pd.DataFrame], list[Claim]]
) -> Figure:
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
        found = fits(table, model)
        lines = {
            "truncated Gaussian": {stage: fit.model for stage, fit in found.items()},
            "exact N·D/D/1": {stage: fit.exact for stage, fit in found.items()},
        }
        return [draw(stem, one_axes(lambda axes: queue_models(axes, long, lines)), height=2.3)]

    title = f"Mean queues of {schemes.label(schemes.find(scheme), {})} against its model"
    return Figure(name, title, sweep, plot, claims)


FIGURE_16 = _figure("fig16", "drb", "drb", drb_claims)
FIGURE_18 = _figure("fig18", "ofan", "ofan", ofan_claims)
