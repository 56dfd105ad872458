"""Figure 4: CCT increase and longest queue of every scheme as messages grow.

Permutation. The paper's claim: queues grow about linearly with the message under SimpleRR, JSQ and
CONGA, like its square root under RPS, RSQ, REPS and AR, and not at all under Ethereal, DRB, 4Ofan
and Ofan. We fit the exponents of growth by least squares of logarithms. The paper proves linear
growth without ACKs, and without them ours is linear too; here ACKs share SimpleRR's pointer and
JSQ's queues as soon as the first data has arrived, which loosens the synchronisation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.sweep import Axis
from analysis.theory import Growth, growth
from experiments.figures.drawing import INCREASE, KILOBYTE, MESSAGE, Panel, draw_panels
from experiments.figures.figure import PACKET, Claim, Figure, each, plain
from testbed import schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from analysis.figures.style import Look

PACKETS = (64, 128, 256, 512, 1024, 2048, 4096)
QUICK_PACKETS = (64, 256, 1024)
LINEAR = ("simple_rr", "jsq", "conga")
ROOT = ("rps", "rsq", "reps", "ar")
CONSTANT = ("ethereal", "drb", "pofan", "ofan")


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the message under every scheme of Table 1."""
    base = Scenario(k=6 if quick else 12)
    sizes = QUICK_PACKETS if quick else PACKETS
    names = plain(*(name for name in schemes.names() if name != "ecmp"))
    return each(base, names, [{"message_bytes": packets * PACKET} for packets in sizes])


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw both panels with logarithmic axes."""
    increase = Axis("cct_increase", INCREASE.label, logarithmic=True, percent=True)
    queue = Axis("max_queue_bytes", "max queue (KB)", logarithmic=True, unit=KILOBYTE)
    return draw_panels(stem, table, looks, [Panel(MESSAGE, increase), Panel(MESSAGE, queue)])


def claims(table: pd.DataFrame) -> list[Claim]:
    """Fit the growth of the longest queue for each group."""
    groups = (
        ("SimpleRR, JSQ, CONGA", LINEAR, "about 1", (0.75, 1.1)),
        ("RPS, RSQ, REPS, AR", ROOT, "about 1/2", (0.25, 0.7)),
        ("Ethereal, DRB, 4Ofan, Ofan", CONSTANT, "about 0", (-0.1, 0.15)),
    )
    found = []
    for title, names, paper, (low, high) in groups:
        fits = {name: exponent(table, name) for name in names}
        ours = ", ".join(
            f"{schemes.label(schemes.find(name), {})} {fit.exponent:.2f} ± {fit.error:.2f}"
            for name, fit in fits.items()
        )
        holds = all(low <= fit.exponent <= high for fit in fits.values())
        found.append(Claim(f"exponent of the longest queue under {title}", paper, ours, holds))
    return found


def exponent(table: pd.DataFrame, scheme: str) -> Growth:
    """Fit how a scheme's longest queue grows with the message, over means of seeds."""
    own = table[(table["scheme"] == scheme) & (table["verdict"] != "INVALID")]
    means = own.groupby("message_bytes")["max_queue_packets"].mean()
    return growth(list(means.index), list(means))


FIGURE = Figure("fig4", "CCT increase and longest queue over message size", sweep, plot, claims)
