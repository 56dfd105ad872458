"""Figure 7: CCT increase as messages grow, for permutations and all-to-alls.

The paper's claim: the order of schemes stays, the relative gap falls about like 1/sqrt(m), and REPS
gets worse again at very large messages of a permutation (its freezing mode, the paper supposes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.sweep import Axis
from analysis.theory import growth
from experiments.figures.drawing import INCREASE, MESSAGE, Panel, draw_panels
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.figure import KB, PACKET, Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
PACKETS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_PACKETS = (64, 256, 1024)
LARGE = 1024 * PACKET  # from here on growth is no longer that of a start


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the message under both workloads."""
    packets, each_to_all = (QUICK_PACKETS, (1, 4)) if quick else (PACKETS, (1, 2, 4, 8, 16))
    variations = [{"message_bytes": number * PACKET} for number in packets]
    all_to_all = [
        {"workload": "all-to-all", "message_bytes": number * PACKET} for number in each_to_all
    ]
    return each(Scenario(k=6 if quick else 12), SCHEMES, [*variations, *all_to_all])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a panel a workload."""
    kilobytes = Axis("message_bytes", "message (KiB)", logarithmic=True, unit=float(KB))
    panels = (
        Panel(MESSAGE, INCREASE, "permutation", lambda rows: rows["workload"] == "permutation"),
        Panel(kilobytes, INCREASE, "all-to-all", lambda rows: rows["workload"] == "all-to-all"),
    )
    return draw_panels(stem, table, looks, panels)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check the order, how the gap falls, and REPS at the largest message."""
    permutation = table[table["workload"] == "permutation"]
    sizes = sorted(permutation["message_bytes"].unique())

    def increase(scheme: str, size: int) -> pd.Series[float]:
        return by_seed(permutation, "cct_increase", variant=scheme, message_bytes=size)

    ahead = {
        size: all_of(
            estimate(increase(other, size) - increase(own, size)).within(low=0)
            for own in ("pofan", "ofan")
            for other in ("reps", "ar")
        )
        for size in sizes
    }
    behind = [f"{size // KB} KiB" for size, holds in ahead.items() if holds != "yes"]
    gaps = pd.DataFrame({size: increase("ar", size) - increase("ofan", size) for size in sizes})
    reps = {size: increase("reps", size) for size in sizes}
    best = min(sizes[:-1], key=lambda size: float(reps[size].mean()))
    return [
        Claim(
            "4Ofan and Ofan beat REPS and AR",
            "at every size",
            f"not surely at {', '.join(behind)}" if behind else "at every size",
            all_of(ahead.values()),
        ),
        *(_falls(gaps[[size for size in sizes if size >= least]]) for least in (0, LARGE)),
        Claim(
            "REPS at the largest message against its best",
            "worse again",
            f"{float(reps[sizes[-1]].mean()):.2%} against {float(reps[best].mean()):.2%}",
            estimate(reps[sizes[-1]] - reps[best]).within(low=0),
        ),
    ]


def _falls(gaps: pd.DataFrame) -> Claim:
    """Fit how the gap, a row a seed and a column a message, falls with the message."""
    first = int(gaps.columns[0]) // PACKET
    usable = gaps.dropna() if len(gaps.columns) > 1 else gaps.iloc[:0]
    fitted = [
        growth([float(size) for size in gaps.columns], list(row)).exponent
        for row in usable.to_numpy()
        if min(row) > 0
    ]
    found = estimate(pd.Series(fitted, dtype=float))
    return Claim(
        f"exponent of the gap between AR and Ofan from {first:,} packets on",
        "about -½",
        f"{found.mean:.2f} ± {found.error:.2f}",
        found.within(-0.75, -0.25),
        "-0.75 to -0.25: nearer to -½ than to 0 or -1",
    )


FIGURE = Figure("fig7", "CCT increase over message size", sweep, plot, claims)
