"""Figure 3: worst link overload at each stage between switches, for small and large messages.

Random inter-pod permutation without ACKs (REPS cannot do without them), data packets counted. The
paper's claims: SimpleRR and JSQ balance the two uplink stages and collapse on the two downlink
stages, CHOICE and DRILL are similar, other schemes that do not know the destination suffer at both;
those that do are near-flat on all four, Ethereal ideally so, and DRB less so for small messages.
The caption gives neither sizes nor what is counted: docs/reproduction/readings.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.stages import overload
from analysis.figures.style import PAGE, draw, percent_axis
from experiments.figures.evidence import Estimate, all_of, by_seed, estimate
from experiments.figures.figure import PACKET, Claim, Figure, each, plain
from testbed import hosts, schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import matplotlib.figure

    from analysis.figures.style import Look
    from experiments.figures.evidence import Holds

UP, DOWN = ("E-A", "A-C"), ("C-A", "A-E")
STAGES = (*UP, *DOWN)
PACKETS = (64, 256, 1024)
STICKY = ("simple_rr", "jsq")
SAMPLED = ("choice", "drill")
OBLIVIOUS = ("conga", "dlb", "sglb", "rps", "rsq", "reps", "ar")
AWARE = ("drb", "ethereal", "pofan", "ofan")
FLAT = 0.05
WHAT_IS_FLAT = "5 %: less is hard to see where others are at 100 % and more"


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run every scheme of Table 1 with small and large messages."""
    base = Scenario(k=8 if quick else 12, workload="interpod", acks=False)
    names = plain(*(name for name in schemes.names() if name != "ecmp"))
    sizes = [{"message_bytes": number * PACKET} for number in PACKETS]
    return [replace(point, acks=_needs_acks(point.scheme)) for point in each(base, names, sizes)]


def _needs_acks(scheme: str) -> bool:
    return hosts.entropy(schemes.find(scheme).entropy).needs_ecn


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a panel a message, in it a group of four bars a scheme."""

    def panels(figure: matplotlib.figure.Figure) -> None:
        rows = figure.subplots(len(PACKETS), 1)
        for axes, number in zip(rows, PACKETS, strict=True):
            overload(axes, _long(table, number), looks, legend=number == PACKETS[0])
            axes.set_yscale("symlog", linthresh=0.01, linscale=0.5)
            percent_axis(axes)
            axes.set_title(f"{number:,} packets")

    return [draw(stem, panels, width=PAGE, height=2.0 * len(PACKETS))]


def _long(table: pd.DataFrame, packets: int) -> pd.DataFrame:
    """Return a row a run and stage."""
    valid = table[(table["verdict"] != "INVALID") & (table["message_bytes"] == packets * PACKET)]
    return pd.concat(
        [
            valid[["variant"]].assign(stage=stage, value=valid[f"overload {stage}"])
            for stage in STAGES
        ]
    )


@dataclass(frozen=True, slots=True)
class Statement:
    """That the worst overload of schemes at stages is below a limit, or above it if negative."""

    text: str
    paper: str
    schemes: tuple[str, ...]
    stages: tuple[str, ...]
    limit: float
    packets: tuple[int, ...] = PACKETS[1:]

    @property
    def counted(self) -> str:
        """What counts, in words."""
        side = "below" if self.limit > 0 else "above"
        return f"{side} {WHAT_IS_FLAT if abs(self.limit) == FLAT else f'{abs(self.limit):.1%}'}"

    def holds(self, found: Estimate) -> Holds:
        """Say whether an overload is on the right side of the limit."""
        return found.within(high=self.limit) if self.limit > 0 else found.within(low=-self.limit)


STATEMENTS = (
    Statement("SimpleRR and JSQ on uplinks", "essentially perfect", STICKY, UP, FLAT),
    Statement("SimpleRR and JSQ on downlinks", "collapse", STICKY, DOWN, -0.5),
    Statement("CHOICE and DRILL on uplinks", "similar: flat", SAMPLED, UP, FLAT),
    Statement("CHOICE and DRILL on downlinks", "similar: not flat", SAMPLED, DOWN, -FLAT),
    Statement("the other oblivious ones on uplinks", "suffer", OBLIVIOUS, UP, -FLAT),
    Statement("the other oblivious ones on downlinks", "suffer", OBLIVIOUS, DOWN, -FLAT),
    Statement("DRB, Ethereal, 4Ofan, Ofan", "near-flat", AWARE, STAGES, FLAT),
    Statement("Ethereal at every size", "ideal", ("ethereal",), STAGES, 0.001, PACKETS),
)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check which stages are balanced; where no size is named, for messages of 256 packets on."""
    small = PACKETS[0]
    drb, ofan = (worst(table, name, STAGES, small) for name in ("drb", "ofan"))
    return [
        *(_checked(table, statement) for statement in STATEMENTS),
        Claim(
            f"DRB at {small} packets against Ofan",
            "degrades",
            f"{float(drb.mean()):.1%} against {float(ofan.mean()):.1%}",
            estimate(drb - ofan).within(low=0),
        ),
    ]


def worst(
    table: pd.DataFrame, scheme: str, stages: Sequence[str], packets: int
) -> pd.Series[float]:
    """Return by seed the worst overload of a scheme at any of the stages."""
    where = {"variant": scheme, "message_bytes": packets * PACKET}
    columns = [by_seed(table, f"overload {stage}", **where) for stage in stages]
    return pd.concat(columns, axis=1).max(axis=1)


def _checked(table: pd.DataFrame, statement: Statement) -> Claim:
    found = {
        (name, size): estimate(worst(table, name, statement.stages, size))
        for name in statement.schemes
        for size in statement.packets
    }
    means = [part.mean for part in found.values()]
    missed = {name for (name, _), part in found.items() if statement.holds(part) == "no"}
    against = ", ".join(
        schemes.label(schemes.find(name), {}) for name in statement.schemes if name in missed
    )
    return Claim(
        statement.text,
        statement.paper,
        f"{min(means):.1%} to {max(means):.1%}" + (f"; not {against}" if against else ""),
        all_of(statement.holds(part) for part in found.values()),
        statement.counted,
    )


FIGURE = Figure("fig3", "Worst link overload at each stage", sweep, plot, claims)
