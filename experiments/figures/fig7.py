"""Figure 7: CCT increase as messages grow, for permutations and all-to-alls.

The paper's claim: the order of schemes stays, the relative gap falls about like 1/sqrt(m), and REPS
gets worse again at very large messages of a permutation (its freezing mode, the paper supposes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.sweep import Axis
from analysis.theory import growth
from experiments.figures.drawing import INCREASE, MESSAGE, Panel, draw_panels
from experiments.figures.figure import KB, PACKET, Claim, Figure, each, mean, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
PACKETS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_PACKETS = (64, 256, 1024)


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

    def increase(scheme: str, size: int) -> float:
        return mean(permutation, "cct_increase", scheme=scheme, message_bytes=size)

    gaps = [increase("ar", size) - increase("ofan", size) for size in sizes]
    behind = [
        f"{size // KB} KiB"
        for size in sizes
        if max(increase("pofan", size), increase("ofan", size))
        >= min(increase("reps", size), increase("ar", size))
    ]
    fit = growth(sizes, gaps) if min(gaps) > 0 else None
    last, before = increase("reps", sizes[-1]), min(increase("reps", size) for size in sizes[:-1])
    return [
        Claim(
            "4Ofan and Ofan beat REPS and AR",
            "at every size",
            f"not at {', '.join(behind)}" if behind else "at every size",
            not behind,
        ),
        Claim(
            "exponent of the gap between AR and Ofan",
            "about -1/2",
            f"{fit.exponent:.2f} ± {fit.error:.2f}" if fit else "the gap closes",
            fit is not None and -0.8 < fit.exponent < -0.2,
        ),
        Claim(
            "REPS at the largest message against its best",
            "worse again",
            f"{last:.2%} against {before:.2%}",
            last > before,
        ),
    ]


FIGURE = Figure("fig7", "CCT increase over message size", sweep, plot, claims)
