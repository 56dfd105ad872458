"""Figure 4: CCT increase and longest queue of every scheme as messages grow.

Permutation. The paper's claim: queues grow about linearly with the message under SimpleRR, JSQ and
CONGA, like its square root under RPS, RSQ, REPS and AR, and not at all under Ethereal, DRB, 4Ofan
and Ofan. We fit the exponents of growth by least squares of logarithms, for each seed. The theorems
suppose that there are no ACKs; with them SimpleRR's pointer and JSQ's queues are shared with ACKs
as soon as the first data has arrived, which loosens the synchronisation. Both are shown. REPS lives
on ACKs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.sweep import Axis
from analysis.theory import growth
from experiments.figures.drawing import INCREASE, KILOBYTE, MESSAGE, Panel, draw_panels
from experiments.figures.evidence import Estimate, all_of, estimate
from experiments.figures.figure import PACKET, Claim, Figure, each, plain
from testbed import schemes
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from analysis.figures.style import Look

PACKETS = (64, 128, 256, 512, 1024, 2048)
QUICK_PACKETS = (64, 256, 1024)
ALONE_PACKETS = (64, 256, 1024)  # without ACKs


@dataclass(frozen=True, slots=True)
class Group:
    """Schemes whose longest queue is said to grow alike, and which exponents count as that."""

    schemes: tuple[str, ...]
    paper: str
    low: float
    high: float
    counted: str


GROUPS = (
    Group(
        ("simple_rr", "jsq", "conga"), "about 1", 0.75, math.inf, "above 0.75: nearer to 1 than ½"
    ),
    Group(
        ("rps", "rsq", "reps", "ar"), "about ½", 0.25, 0.75, "0.25 to 0.75: nearer to ½ than 0 or 1"
    ),
    Group(
        ("ethereal", "drb", "pofan", "ofan"),
        "about 0",
        -math.inf,
        0.25,
        "below 0.25: nearer to 0 than ½",
    ),
)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the message under every scheme of Table 1, and under those of groups without ACKs."""
    base = Scenario(k=6 if quick else 12)
    sizes = QUICK_PACKETS if quick else PACKETS
    names = plain(*(name for name in schemes.names() if name != "ecmp"))
    alone = plain(*(name for group in GROUPS for name in group.schemes if name != "reps"))
    return [
        *each(base, names, [{"message_bytes": packets * PACKET} for packets in sizes]),
        *each(
            replace(base, acks=False),
            alone,
            [{"message_bytes": packets * PACKET} for packets in ALONE_PACKETS],
        ),
    ]


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw both panels with logarithmic axes."""
    increase = Axis("cct_increase", INCREASE.label, logarithmic=True, percent=True)
    queue = Axis("max_queue_bytes", "max queue (KB)", logarithmic=True, unit=KILOBYTE)
    return draw_panels(
        stem,
        table,
        looks,
        [
            Panel(MESSAGE, increase, "with ACKs", lambda rows: rows["acks"]),
            Panel(MESSAGE, queue, "with ACKs", lambda rows: rows["acks"]),
            Panel(MESSAGE, queue, "without ACKs", lambda rows: ~rows["acks"]),
        ],
    )


def claims(table: pd.DataFrame) -> list[Claim]:
    """Fit the growth of the longest queue for each group, with ACKs and without."""
    return [
        _group_claim(table[table["acks"] == acks], group, acks=acks)
        for acks in (True, False)
        for group in GROUPS
    ]


def _group_claim(table: pd.DataFrame, group: Group, *, acks: bool) -> Claim:
    known = [name for name in group.schemes if name in set(table["variant"])]
    fits = {name: exponent(table, name) for name in known}
    ours = ", ".join(
        f"{schemes.label(schemes.find(name), {})} {fit.mean:.2f} ± {fit.error:.2f}"
        for name, fit in fits.items()
    )
    labels = ", ".join(schemes.label(schemes.find(name), {}) for name in known)
    return Claim(
        f"exponent of the longest queue under {labels}, {'with' if acks else 'without'} ACKs",
        group.paper,
        ours,
        all_of(fit.within(group.low, group.high) for fit in fits.values()),
        group.counted,
    )


def exponent(table: pd.DataFrame, scheme: str) -> Estimate:
    """Fit how a scheme's longest queue grows with the message, for each seed, and average."""
    own = table[(table["variant"] == scheme) & (table["verdict"] != "INVALID")]
    fitted = {
        seed: growth(list(rows["message_bytes"]), list(rows["max_queue_packets"])).exponent
        for seed, rows in own.groupby("seed")
        if len(rows) > 1
    }
    return estimate(pd.Series(fitted, dtype=float))


FIGURE = Figure("fig4", "CCT increase and longest queue over message size", sweep, plot, claims)
