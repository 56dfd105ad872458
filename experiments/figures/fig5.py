"""Figure 5: CCT increase as the network grows, for permutations and all-to-alls.

The paper's claim: the gap between 4Ofan and the better of AR and REPS grows from about 5 % at 16
hosts to about 11 % at 1,024 under permutations, and the order of schemes stays for all-to-alls with
constant messages or with constant bytes a host. The paper does not give its all-to-all sizes: we
take 4 packets a message, and 1 MB a host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.figures.drawing import HOSTS, INCREASE, Panel, draw_panels
from experiments.figures.figure import MB, PACKET, Claim, Figure, each, mean, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SCHEMES = plain("reps", "ar", "pofan", "ofan")
WORKLOADS: tuple[dict[str, object], ...] = (
    {"workload": "permutation", "message_bytes": MB},
    {"workload": "all-to-all", "message_bytes": 4 * PACKET},
    {"workload": "all-to-all", "message_bytes": MB, "workload_options": {"constant": "host"}},
)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the size of the network under three workloads."""
    sizes = (4, 8) if quick else (4, 8, 12, 16)
    return each(Scenario(), SCHEMES, [{"k": k} | work for work in WORKLOADS for k in sizes])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a panel a workload."""

    def part(number: int) -> Panel:
        wanted = WORKLOADS[number]
        titles = ("permutation", "all-to-all, constant message", "all-to-all, constant host")
        return Panel(
            HOSTS,
            INCREASE,
            titles[number],
            lambda rows: (
                (rows["workload"] == wanted["workload"])
                & (rows["message_bytes"] == wanted["message_bytes"])
            ),
        )

    return draw_panels(stem, table, looks, [part(number) for number in range(3)])


def gap(table: pd.DataFrame, **where: object) -> float:
    """Return how much more of the bound the better of AR and REPS takes than 4Ofan."""
    existing = min(mean(table, "cct_increase", scheme=name, **where) for name in ("reps", "ar"))
    return existing - mean(table, "cct_increase", scheme="pofan", **where)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Check how the gap grows, and that 4Ofan is never behind in an all-to-all."""
    sizes = sorted(table["k"].unique())
    gaps = {k: gap(table, workload="permutation", k=k) for k in sizes}
    ours = ", ".join(f"{k**3 // 4} hosts {value:.1%}" for k, value in gaps.items())
    all_to_all = [
        gap(table, workload="all-to-all", message_bytes=work["message_bytes"], k=k)
        for work in WORKLOADS[1:]
        for k in sizes
    ]
    return [
        Claim(
            "gap between 4Ofan and the better of AR and REPS",
            "5 % at 16 hosts to 11 % at 1,024",
            ours,
            gaps[sizes[-1]] > gaps[sizes[0]] > 0,
        ),
        Claim(
            "4Ofan is ahead in all-to-alls too",
            "order holds",
            f"ahead by {min(all_to_all):.2%} to {max(all_to_all):.2%}",
            min(all_to_all) > -0.002,
        ),
    ]


FIGURE = Figure("fig5", "CCT increase over network size", sweep, plot, claims)
