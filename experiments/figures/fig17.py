"""Figure 17: longest queue of DRB over that of Ofan as the network grows.

Random inter-pod permutation, 30 seeds. The paper's claim: the ratio is above 1 and rises with the
number of hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import draw, one_axes
from experiments.figures.evidence import all_of, estimate
from experiments.figures.figure import Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from analysis.figures.style import Look


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the size of the network under DRB and Ofan."""
    sizes = (4, 6, 8) if quick else (4, 6, 8, 10, 12, 16)
    base = Scenario(workload="interpod")
    return each(base, plain("drb", "ofan"), [{"k": k} for k in sizes])


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """Return the ratio with a row a seed and a column a number of hosts."""
    valid = table[table["verdict"] != "INVALID"]
    queues = valid.pivot_table(
        index=["seed", "hosts"], columns="variant", values="max_queue_bytes", aggfunc="mean"
    )
    ratio = (queues["drb"] / queues["ofan"]).rename("ratio").reset_index()
    return ratio.pivot_table(index="seed", columns="hosts", values="ratio")


def plot(table: pd.DataFrame, _looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw the ratio over the number of hosts."""

    def line(axes: Axes) -> None:
        found = ratios(table)
        axes.errorbar(
            found.columns,
            found.mean(),
            yerr=found.sem().fillna(0),
            color="black",
            marker="o",
            capsize=2,
        )
        axes.axhline(1, color="black", lw=0.7, ls=":")
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(found.columns), [f"{hosts:,}" for hosts in found.columns])
        axes.minorticks_off()
        axes.set_xlabel("hosts")
        axes.set_ylabel("max queue, DRB over Ofan")

    return [draw(stem, one_axes(line))]


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check that the ratio is above 1 at the largest size, and rises."""
    found = ratios(table)
    first, last = found.iloc[:, 0], found.iloc[:, -1]
    ours = ", ".join(f"{hosts} hosts {ratio:.2f}" for hosts, ratio in found.mean().items())
    return [
        Claim(
            "ratio of the longest queues",
            "above 1 and rising",
            ours,
            all_of((estimate(last).within(low=1), estimate(last - first).within(low=0))),
            "above 1 in the largest network, and above that of the smallest",
        )
    ]


FIGURE = Figure("fig17", "Longest queue of DRB over Ofan's", sweep, plot, claims, seeds=30)
