"""The paper's note on port orders (§4.1): what different orders of Ofan's pointers are good for.

Ofan with all pointers following one port order against Ofan with an order per pointer. The paper's
claim: different orders take about 0.2 % off the CCT of a permutation, and add about 0.1 % to that
of an all-to-all; their point is to avoid synchronisation that nobody foresaw.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.figures.drawing import HOSTS, INCREASE, Panel, draw_panels
from experiments.figures.evidence import Estimate, by_seed, estimate
from experiments.figures.figure import PACKET, Claim, Figure, each
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

SAME = "ofan(one_order=1)"
OWN = "ofan(one_order=0)"
OWN_ORDERS = "own orders"
SCHEMES: list[tuple[str, Mapping[str, float]]] = [
    ("ofan", {"one_order": 0.0}),
    ("ofan", {"one_order": 1.0}),
]


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run both kinds of orders under both workloads."""
    sizes = (8,) if quick else (8, 12)
    variations = [
        {"k": k} | work
        for work in ({}, {"workload": "all-to-all", "message_bytes": 4 * PACKET})
        for k in sizes
    ]
    return each(Scenario(), SCHEMES, variations)


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a panel a workload."""
    named = {
        name: replace(look, label=text, hollow=text == OWN_ORDERS, dashed=text != OWN_ORDERS)
        for (name, look), text in zip(looks.items(), (OWN_ORDERS, "one order"), strict=True)
    }

    def panel(work: str) -> Panel:
        return Panel(HOSTS, INCREASE, work, lambda rows: rows["workload"] == work)

    return draw_panels(stem, table, named, [panel("permutation"), panel("all-to-all")])


def claims(table: pd.DataFrame) -> list[Claim]:
    """Compare CCTs, seeds paired."""
    found = []
    for work, paper, sign in (("permutation", "-0.2 %", -1), ("all-to-all", "+0.1 %", 1)):
        k = int(table["k"].max())
        own, same = (by_seed(table, "cct_us", variant=s, workload=work, k=k) for s in (OWN, SAME))
        change = estimate(own / same - 1)
        signed = Estimate(sign * change.mean, change.error)
        found.append(
            Claim(
                f"CCT with own orders against one order, {work}",
                f"about {paper}",
                f"{change.mean:+.2%} ± {change.error:.2%}",
                signed.within(low=0),
                "its sign: the paper gives an order of magnitude",
            )
        )
    return found


FIGURE = Figure("orders", "Port orders of Ofan's pointers", sweep, plot, claims)
