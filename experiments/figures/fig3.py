"""Figure 3: worst link overload at each stage between switches.

Random inter-pod permutation of 1 MB messages. The paper's claim: SimpleRR, JSQ, CHOICE and DRILL
balance the two uplink stages and collapse on the two downlink stages; schemes that know the
destination are flat on all four. Only data is counted; SimpleRR's one pointer serves ACKs too,
which unbalances its data on the uplinks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.stages import overload
from analysis.figures.style import PAGE, draw, one_axes
from experiments.figures.figure import Claim, Figure, each, mean, plain
from testbed import schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from analysis.figures.style import Look

STAGES = ("E-A", "A-C", "C-A", "A-E")
UP_ONLY = ("simple_rr", "jsq", "choice", "drill")
FLAT = ("drb", "ethereal", "pofan", "ofan")
SMALL = 0.06


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run every scheme of Table 1."""
    base = Scenario(k=8 if quick else 12, workload="interpod")
    return each(base, plain(*(name for name in schemes.names() if name != "ecmp")))


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a group of four bars a scheme."""
    valid = table[table["verdict"] != "INVALID"]
    long = pd.concat(
        [
            valid[["scheme"]].assign(stage=stage, value=valid[f"overload {stage}"])
            for stage in STAGES
        ]
    )
    return [draw(stem, one_axes(lambda axes: overload(axes, long, looks)), width=PAGE, height=2.5)]


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check which stages are balanced."""

    def worst(names: tuple[str, ...], stages: tuple[str, ...]) -> float:
        return max(
            mean(table, f"overload {stage}", scheme=name) for name in names for stage in stages
        )

    def least(names: tuple[str, ...], stages: tuple[str, ...]) -> float:
        return min(
            mean(table, f"overload {stage}", scheme=name) for name in names for stage in stages
        )

    up = worst(UP_ONLY[1:], STAGES[:2])
    one_pointer = worst(UP_ONLY[:1], STAGES[:2])
    down = least(UP_ONLY, STAGES[2:])
    flat = worst(FLAT, STAGES)
    synchronised = least(("simple_rr", "jsq"), STAGES[2:])
    return [
        Claim("JSQ, CHOICE, DRILL on uplinks", "near 0", f"at most {up:.1%}", up < SMALL),
        Claim("SimpleRR on uplinks", "near 0", f"at most {one_pointer:.1%}", one_pointer < SMALL),
        Claim("all four on downlinks", "high", f"at least {down:.1%}", down > 2 * SMALL),
        Claim(
            "SimpleRR and JSQ collapse on downlinks",
            "highest of all",
            f"at least {synchronised:.0%}",
            synchronised > 0.5,
        ),
        Claim(
            "DRB, Ethereal, 4Ofan, Ofan on all stages", "flat", f"at most {flat:.1%}", flat < SMALL
        ),
    ]


FIGURE = Figure("fig3", "Worst link overload at each stage", sweep, plot, claims)
