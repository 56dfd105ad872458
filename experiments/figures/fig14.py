"""Figure 14: a step of FSDP2's hierarchical rings for Llama-3 8B, 70B and 405B, NSCC and MSwift.

1,024 GPUs in 128 servers placed at random on k = 16: eight rings, GPU i sends to GPU i + 8.
A flow has the paper's 119, 418 or 1,533 packets a layer. Each run is one ring step of one layer, a
permutation of the hosts, with a placement of its own: layers of a model are alike, and the next one
begins when the one before has arrived. The paper's claims: while overheads of REPS and AR stay
about constant, Ofan's shrink as models grow; at 405B Ofan (4Ofan) cut the CCT increase of the best
of both by 16 (15) with NSCC and 39 (36) with MSwift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.figures.bars import Bars, draw_bars
from experiments.figures.evidence import all_of, by_seed, estimate, mean_of
from experiments.figures.figure import PACKET, Claim, Figure, each, plain
from testbed.hosts import congestion
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look
    from experiments.figures.evidence import Holds

SCHEMES = plain("reps", "ar", "pofan", "ofan")
MODELS = {"8B": 119 * PACKET, "70B": 418 * PACKET, "405B": 1533 * PACKET}
CCAS = {name: congestion(name).label for name in ("nscc", "mswift")}
FACTORS = {
    ("nscc", "ofan"): 16,
    ("nscc", "pofan"): 15,
    ("mswift", "ofan"): 39,
    ("mswift", "pofan"): 36,
}
BUFFER = 800_000
LARGEST = MODELS["405B"]


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary model and congestion control."""
    base = Scenario(
        k=8 if quick else 16,
        workload="fsdp",
        workload_options={"server": 8},
        buffer_bytes=BUFFER,
    )
    return each(
        base,
        SCHEMES,
        [{"message_bytes": size, "cca": cca} for cca in CCAS for size in MODELS.values()],
    )


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw (a) to (j): CCT increase by model, and utilisation and queue at the largest."""

    def panel(
        title: str,
        cca: str,
        size: int,
        column: str,
        *,
        label: str = "CCT increase (%)",
        unit: float = 0.01,
    ) -> Bars:
        def part(rows: pd.DataFrame) -> pd.Series[bool]:
            return (rows["cca"] == cca) & (rows["message_bytes"] == size)

        return Bars(title, column, label, unit, part)

    panels = [
        [
            *(
                panel(f"{model}, {called}", cca, size, "cct_increase")
                for model, size in MODELS.items()
            ),
            panel(f"405B, {called}", cca, LARGEST, "utilisation", label="utilisation (%)"),
            panel(
                f"405B, {called}", cca, LARGEST, "max_queue_bytes", label="max queue (KB)", unit=1e3
            ),
        ]
        for cca, called in CCAS.items()
    ]
    return draw_bars(stem, table, looks, panels)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check the factors at 405B, and how increases change with the model."""
    found = []
    for (cca, scheme), factor in FACTORS.items():
        where = {"cca": cca, "message_bytes": LARGEST}
        best = min(
            (by_seed(table, "cct_increase", scheme=name, **where) for name in ("reps", "ar")),
            key=lambda values: float(values.mean()),
        )
        ratio = estimate(best / by_seed(table, "cct_increase", scheme=scheme, **where))
        found.append(
            Claim(
                f"405B, {CCAS[cca]}: increase of the best of REPS and AR over {scheme}'s",
                f"{factor} x",
                f"{ratio.mean:.1f} x ± {ratio.error:.1f}",
                ratio.within(factor / 2, factor * 2),
                "within a factor of two: small increases hang on the bound's last percent",
            )
        )
    for cca, called in CCAS.items():
        increases = {
            name: [
                mean_of(table, "cct_increase", scheme=name, cca=cca, message_bytes=size)
                for size in MODELS.values()
            ]
            for name in ("reps", "ar", "ofan")
        }
        small, large = (
            by_seed(table, "cct_increase", scheme="ofan", cca=cca, message_bytes=size)
            for size in (MODELS["8B"], LARGEST)
        )
        found.append(
            Claim(
                f"{called}: increases from 8B to 405B",
                "REPS and AR about constant, Ofan falls",
                ", ".join(
                    f"{name} {' '.join(f'{value.mean:.1%}' for value in values)}"
                    for name, values in increases.items()
                ),
                all_of(
                    [
                        estimate(small - large).within(low=0),
                        *(_constant(table, cca, name) for name in ("reps", "ar")),
                    ]
                ),
                "constant: 405B within a factor of two of 8B",
            )
        )
    return found


def _constant(table: pd.DataFrame, cca: str, scheme: str) -> Holds:
    small, large = (
        by_seed(table, "cct_increase", scheme=scheme, cca=cca, message_bytes=size)
        for size in (MODELS["8B"], LARGEST)
    )
    return estimate(large / small).within(0.5, 2)


FIGURE = Figure("fig14", "FSDP2's rings under congestion control", sweep, plot, claims)
