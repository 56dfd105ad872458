"""Figure 13: MoE dispatch among 128 GPUs, without and with NSCC, without and with EPLB.

128 experts, top 8, 8,192 B a token copy, servers of 8 GPUs, packets of 64 KB; every GPU sends 492
MB on average. The busiest receives 1.48 times the mean, 1.13 times with EPLB. The paper's claims:
without congestion control the receiver is the bottleneck, buffers grow beyond 100 MB and the load
balancer matters little; with NSCC, and with EPLB most, Ofan clearly outperforms the others.

The routing is synthetic with the paper's two skews (its trace is not published). Frames are marked
from 10 packets on. With NSCC buffers have 100 packets: what 800 KB and 80 KB are in the rest of the
paper's evaluation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.figures.bars import Bars, draw_bars
from experiments.figures.evidence import all_of, by_seed, estimate, mean_of
from experiments.figures.figure import Claim, Figure, each, plain
from testbed.hosts import congestion
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("rps", "reps", "ar", "pofan", "ofan")
OTHERS = ("rps", "reps", "ar")
MESSAGE, QUICK_MESSAGE = 491_520_000, 49_152_000
PAYLOAD = 64 << 10
FRAME = PAYLOAD + 62
MEGABYTE = 1e6
PARTS = (("none", 1), ("none", 2), ("nscc", 1), ("nscc", 2))
LITTLE = 0.05
CLEARLY = 0.01


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary congestion control and the slots of a GPU: two with EPLB."""
    base = Scenario(
        k=8,
        workload="moe",
        message_bytes=QUICK_MESSAGE if quick else MESSAGE,
        payload_bytes=PAYLOAD,
        ecn_bytes=10 * FRAME,
    )
    variations: list[dict[str, object]] = [
        {
            "cca": cca,
            "buffer_bytes": None if cca == "none" else 100 * FRAME,
            "workload_options": {"slots": slots},
        }
        for cca, slots in PARTS
    ]
    return each(base, SCHEMES, variations)


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw CCTs and longest queues, a column each for (a) to (d)."""

    def part(cca: str, slots: int) -> pd.Series[bool]:
        return (table["cca"] == cca) & (table["option slots"] == slots)

    titles = [
        ("No CCA" if cca == "none" else congestion(cca).label) + (" + EPLB" if slots > 1 else "")
        for cca, slots in PARTS
    ]
    panels = [
        [
            Bars(
                title,
                column,
                label,
                unit,
                lambda rows, cca=cca, slots=slots: part(cca, slots).loc[rows.index],  # type: ignore[misc]
            )
            for title, (cca, slots) in zip(titles, PARTS, strict=True)
        ]
        for column, label, unit in (
            ("cct_us", "CCT (ms)", 1000.0),
            ("max_queue_bytes", "max queue (MB)", MEGABYTE),
        )
    ]
    return draw_bars(stem, table, looks, panels)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check what load balancers matter in each part, and how long queues get without a CCA."""
    found = [_queue(table)]
    for cca, slots in PARTS:
        where = {"cca": cca, "option slots": slots}
        ofan = by_seed(table, "cct_us", scheme="ofan", **where)
        worse = {
            name: estimate(by_seed(table, "cct_us", scheme=name, **where) / ofan - 1)
            for name in OTHERS
        }
        ours = ", ".join(f"{name} {value.mean:+.1%}" for name, value in worse.items())
        text = f"CCT over Ofan's, {congestion(cca).label}, skew " + (
            "1.13" if slots > 1 else "1.48"
        )
        if cca == "none":
            paper, holds = (
                "small impact, Ofan a bit better",
                [value.within(-0.001, LITTLE) for value in worse.values()],
            )
            counted = "no more than 5 % above Ofan"
        else:
            paper, holds = (
                "Ofan clearly ahead",
                [value.within(low=CLEARLY) for value in worse.values()],
            )
            counted = "more than 1 % above Ofan"
        found.append(Claim(text, paper, ours, all_of(holds), counted))
    return found


def _queue(table: pd.DataFrame) -> Claim:
    longest = {
        name: mean_of(table, "max_queue_bytes", scheme=name, cca="none", **{"option slots": 1})
        for name in (*OTHERS, "ofan")
    }
    return Claim(
        "longest queue without a CCA, skew 1.48",
        "beyond 100 MB",
        ", ".join(f"{name} {value.mean / MEGABYTE:.0f} MB" for name, value in longest.items()),
        all_of(value.within(low=100 * MEGABYTE) for value in longest.values()),
    )


FIGURE = Figure("fig13", "MoE dispatch with and without EPLB and NSCC", sweep, plot, claims)
