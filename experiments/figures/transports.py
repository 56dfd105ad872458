"""Two studies of congestion control that the paper does not show.

`ranking`: 8 MB permutations of 128 hosts with buffers of 800 KB and marks from 40 KB, as the paper
that introduced MSwift has them. It publishes CCT increases in %, for random spraying, AR and REPS:
Swift 1258, 1259, 1308; LSwift 154, 176, 198; MSwift 39, 30, 23; NSCC 51, 33, 49; MNSCC 44, 30, 46.
Others measured other levels; what is compared is who is better than whom.

`losses`: Ofan under every congestion control while one frame in a hundred is lost at random.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import COLUMN, PAGE, draw, look_of, name_ticks, remark
from experiments.figures.drawing import left_out
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.figure import MB, Claim, Figure, each, mean, plain
from testbed.hosts import congestion
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import matplotlib.figure
    import pandas as pd
    from matplotlib.axes import Axes

    from analysis.figures.style import Look

CCAS = ("dctcp", "swift", "lswift", "mswift", "nscc", "mnscc")
RANKED = CCAS[1:]
LOSS = 0.01


def _base(*, quick: bool) -> Scenario:
    return Scenario(k=4 if quick else 8, message_bytes=8 * MB, buffer_bytes=800_000)


def ranking_sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run spraying schemes under each congestion control."""
    variations = [{"cca": cca, "ecn_bytes": 40_000} for cca in RANKED]
    return each(_base(quick=quick), plain("rps", "ar", "reps"), variations)


def ranking_plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a group of bars a congestion control."""

    def groups(figure: matplotlib.figure.Figure) -> None:
        axes = figure.subplots()
        for place, (scheme, look) in enumerate(looks.items()):
            values = [100 * mean(table, "cct_increase", scheme=scheme, cca=cca) for cca in RANKED]
            spots = [number + (place - 1) * 0.27 for number in range(len(RANKED))]
            axes.bar(spots, values, width=0.27, color=look.color, label=look.label)
        axes.set_yscale("log")
        axes.set_ylabel("CCT increase (%)")
        name_ticks(axes, [congestion(cca).label for cca in RANKED])
        axes.legend(ncols=3)
        remark(figure, left_out(table))

    return [draw(stem, groups, width=PAGE, height=2.4)]


def ranking_claims(table: pd.DataFrame) -> list[Claim]:
    """Check which congestion control is better, over all three schemes."""

    def increase(cca: str) -> pd.Series[float]:
        return by_seed(table, "cct_increase", cca=cca)

    pairs = (("lswift", "swift"), ("mswift", "lswift"), ("mswift", "nscc"), ("mnscc", "nscc"))
    return [
        Claim(
            f"{congestion(better).label} against {congestion(worse).label}",
            "better",
            f"{increase(better).mean():.0%} against {increase(worse).mean():.0%}",
            estimate(increase(worse) - increase(better)).within(low=0),
        )
        for better, worse in pairs
    ]


def losses_sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run Ofan under each congestion control with losses and without."""
    variations = [
        {"cca": cca, "loss": loss, "ecn_bytes": 80_000} for cca in CCAS for loss in (0.0, LOSS)
    ]
    return each(_base(quick=quick), plain("ofan"), variations)


def losses_plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw two bars a congestion control."""

    def pairs(axes: Axes) -> None:
        for place, (loss, shade) in enumerate(((0.0, 0.4), (LOSS, 1.0))):
            values = [100 * mean(table, "cct_increase", cca=cca, loss=loss) for cca in CCAS]
            spots = [number + (place - 0.5) * 0.4 for number in range(len(CCAS))]
            color = look_of("ofan", looks).color
            axes.bar(spots, values, width=0.4, color=color, alpha=shade, label=f"{loss:.0%} lost")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylabel("CCT increase (%)")
        name_ticks(axes, [congestion(cca).label for cca in CCAS])
        axes.legend()

    def both(figure: matplotlib.figure.Figure) -> None:
        pairs(figure.subplots())
        remark(figure, left_out(table))

    return [draw(stem, both, width=COLUMN, height=2.4)]


def losses_claims(table: pd.DataFrame) -> list[Claim]:
    """Check that every run ends with all bytes delivered."""
    verdicts = {cca: set(table.loc[table["cca"] == cca, "verdict"]) for cca in CCAS}
    valid = all_of("no" if "INVALID" in found else "yes" for found in verdicts.values())
    return [
        Claim(
            "all is delivered under every congestion control",
            "not in the paper",
            f"{int((table['verdict'] != 'INVALID').sum())} of {len(table)} runs",
            valid,
        )
    ]


RANKING = Figure("ranking", "Congestion controls", ranking_sweep, ranking_plot, ranking_claims)
LOSSES = Figure("losses", "One frame in a hundred lost", losses_sweep, losses_plot, losses_claims)
