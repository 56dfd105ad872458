"""Figure 1: peak utilisation, longest queue and CCT as the load grows.

Permutation of 1 MB messages, no congestion control. The paper's claim: REPS and AR cannot keep up
beyond a load of 0.9 and stay below 95 % at full load, Ofan reaches about 99 %; and their CCTs
improve less beyond 0.9. The caption of the first panel is "Max utilization": the most that hosts
received in any microsecond (see analysis.metrics.peak_utilisation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.sweep import Axis
from experiments.figures.drawing import CCT, LOAD, MAX_QUEUE, Panel, draw_panels
from experiments.figures.evidence import ERRORS, Estimate, all_of, by_seed, estimate
from experiments.figures.figure import Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
LOADS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
QUICK_LOADS = (0.5, 0.8, 0.9, 1.0)
KNEE = 0.9
OTHERS = {"reps": "REPS", "ar": "AR"}
PEAK = Axis("peak_utilisation", "max utilization (%)", percent=True)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the load."""
    base = Scenario(k=8 if quick else 12)
    return each(base, SCHEMES, [{"load": load} for load in (QUICK_LOADS if quick else LOADS)])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw the three panels."""
    panels = (Panel(LOAD, PEAK, diagonal=True), Panel(LOAD, MAX_QUEUE), Panel(LOAD, CCT))
    return draw_panels(stem, table, looks, panels)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check utilisation at full load, where schemes leave the diagonal, and what load gains."""

    def peak(scheme: str, load: float) -> pd.Series[float]:
        return by_seed(table, "peak_utilisation", variant=scheme, load=load)

    full = {name: estimate(peak(name, 1.0)) for name, _ in SCHEMES}
    loads = [load for load in sorted(table["load"].unique()) if load < KNEE]
    off = {
        (name, load): estimate(peak(name, load) / load - 1) for name, _ in SCHEMES for load in loads
    }
    gain = {
        name: estimate(
            1
            - by_seed(table, "cct_us", variant=name, load=1.0)
            / by_seed(table, "cct_us", variant=name, load=KNEE)
        )
        for name, _ in SCHEMES
    }
    better = min(gain[name].mean - ERRORS * gain[name].error for name in ("pofan", "ofan"))
    return [
        Claim(
            "peak utilisation of 4Ofan and Ofan at full load",
            "about 99 %",
            f"4Ofan {full['pofan'].mean:.1%}, Ofan {full['ofan'].mean:.1%}",
            all_of(full[name].within(0.985, 0.995) for name in ("pofan", "ofan")),
            "98.5 % to 99.5 %: the paper rounds to a percent",
        ),
        Claim(
            "peak utilisation of REPS and AR at full load",
            "below 95 %",
            ", ".join(_with_error(label, full[name]) for name, label in OTHERS.items()),
            all_of(full[name].within(high=0.95) for name in OTHERS),
        ),
        Claim(
            "all follow the load below 0.9",
            "on the line y = x",
            f"{1 + min(part.mean for part in off.values()):.1%} to "
            f"{1 + max(part.mean for part in off.values()):.1%} of it",
            all_of(part.within(-0.03, 0.03) for part in off.values()),
            "within 3 %: frames of ACKs are 1.5 % of the data's, and the peak of a run is above "
            "its mean",
        ),
        Claim(
            "CCT gained from load 0.9 to 1 by REPS and AR",
            "less than by Ofan",
            ", ".join(f"{label} {gain[name].mean:.1%}" for name, label in OTHERS.items())
            + f"; 4Ofan {gain['pofan'].mean:.1%}, Ofan {gain['ofan'].mean:.1%}",
            all_of(gain[name].within(high=better) for name in OTHERS),
        ),
    ]


def _with_error(label: str, found: Estimate) -> str:
    return f"{label} {found.mean:.1%} ± {found.error:.1%}"


FIGURE = Figure("fig1", "Utilisation, queue and CCT over load", sweep, plot, claims)
