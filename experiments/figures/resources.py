"""Memory and gates of Ofan's pointers (§4.1, §5.1, App. I), and the number of port orders (F.2).

Nothing is run: the counts follow from the size of the switch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import PAGE, draw, legend_above
from analysis.resources import aggregation_memory, combining_gates, edge_memory, pipes
from experiments.figures.figure import Claim, Figure
from testbed import schemes
from testbed.orders import basis, distinct_orders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import matplotlib.figure
    import pandas as pd

    from analysis.figures.style import Look
    from experiments.figures.evidence import Holds
    from testbed.scenario import Scenario

PORTS = (8, 16, 32, 64, 128)
PAPERS_K = 64


def sweep(_quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Run nothing."""
    return []


def plot(_table: pd.DataFrame, _looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw memory and gates over the ports of a switch."""

    def both(figure: matplotlib.figure.Figure) -> None:
        memory, gates = figure.subplots(1, 2)
        lines = (
            ("4Ofan, edge", "pofan", "s-", lambda k: edge_memory(k, pipes(k, 4))),
            ("Ofan, edge", "ofan", "o-", edge_memory),
            ("Ofan, aggregation", "ofan", "^--", aggregation_memory),
        )
        for label, scheme, style, needed in lines:
            sizes = [needed(k).pointer_bytes for k in PORTS]
            memory.plot(PORTS, sizes, style, color=schemes.find(scheme).color, label=label)
        memory.set_ylabel("pointers (B)")
        gates.plot(PORTS, [combining_gates(k).total for k in PORTS], "o-", color="black")
        gates.set_ylabel("gates (combining)")
        for axes in (memory, gates):
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(PORTS, [str(k) for k in PORTS])
            axes.minorticks_off()
            axes.set_xlabel("ports of a switch")
        legend_above(memory)

    return [draw(stem, both, width=PAGE)]


def claims(_table: pd.DataFrame) -> list[Claim]:
    """Compare with the numbers the paper prints."""
    edge, aggregation = edge_memory(PAPERS_K), aggregation_memory(PAPERS_K)
    gates = combining_gates(PAPERS_K)
    orders = distinct_orders(basis(6), range(1000))
    piped = edge_memory(PAPERS_K, pipes(PAPERS_K, 4)).pointers / edge.pointers
    return [
        _exactly(
            "pointers of an edge switch (k = 64)", "4K of 5 bits, 2.5 KB", edge.pointer_bytes, 2560
        ),
        _exactly(
            "pointers of an aggregation switch",
            "126 of 5 bits, 79 B",
            aggregation.pointer_bytes,
            78.75,
        ),
        _exactly("basis permutation", "20 B", edge.order_bytes, 20),
        _exactly("POfan with four ports a pipe", "8 times the pointers", piped, 8),
        _exactly("cyclic port orders at w = 6", "30", orders, 30),
        Claim(
            "gates of the combining pipeline",
            "about 127K",
            f"{gates.total:,} (sorting {gates.sorting:,}, registers {gates.registers:,})",
            _yes(abs(gates.total / 127_000 - 1) < 0.005),
            "126,500 to 127,500: the paper rounds to a thousand",
        ),
        Claim(
            "its power at 1 GHz, a tenth switching",
            "about 6 mW",
            f"{1000 * gates.watts:.1f} mW with 0.5 fJ a toggle",
            _yes(0.0055 < gates.watts < 0.0065),
            "5.5 to 6.5 mW: the paper rounds to one; the energy of a toggle is ours",
        ),
    ]


def _exactly(text: str, paper: str, ours: float, wanted: float) -> Claim:
    return Claim(text, paper, f"{ours:,g}", _yes(ours == wanted))


def _yes(holds: bool) -> Holds:  # noqa: FBT001 - a yes or no is what it is about
    return "yes" if holds else "no"


FIGURE = Figure("resources", "Memory and gates", sweep, plot, claims, seeds=1, quick_seeds=1)
