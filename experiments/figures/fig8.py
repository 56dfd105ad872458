"""Figure 8: CCT increase as packets grow, for messages of 0.5 and 4 MB, and Theorem 6's optimum.

All CCTs are compared with the lowest bound over all packet sizes, the paper's best constructed one.
The rings are Theorem 6: its payload, and the bound there with alpha = 10 packets of queueing. The
paper's claim: there is a sweet spot, and the theorem roughly predicts it and its CCT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.bounds import optimal_payload, permutation_bound
from analysis.figures.sweep import Axis
from experiments.figures.drawing import Panel, draw_panels
from experiments.figures.evidence import all_of, by_seed, estimate
from experiments.figures.figure import MB, Claim, Figure, each, plain
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from analysis.figures.style import Look
    from experiments.figures.evidence import Holds

SCHEMES = plain("reps", "ar", "pofan", "ofan")
MESSAGES = (MB // 2, 4 * MB)
PAYLOADS = (1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384)
QUICK_PAYLOADS = (1024, 2048, 4096, 8192)
QUEUED = 10
PAYLOAD = Axis("payload_bytes", "payload of a packet (B)", logarithmic=True)
ABOVE_BEST = Axis("above_best", "CCT increase (%)", percent=True, from_zero=True)


def sweep(quick: bool) -> list[Scenario]:  # noqa: FBT001 - the registry's signature
    """Vary the payload for both messages."""
    variations = [
        {"message_bytes": message, "payload_bytes": payload}
        for message in MESSAGES
        for payload in (QUICK_PAYLOADS if quick else PAYLOADS)
    ]
    return each(Scenario(k=6 if quick else 12), SCHEMES, variations)


def plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    """Draw a panel a message, with the theorem's ring."""
    compared = above_best(table)

    def panel(message: int) -> Panel:
        return Panel(
            PAYLOAD,
            ABOVE_BEST,
            f"{message / MB:g} MB message",
            lambda rows: rows["message_bytes"] == message,
            more=_theorem(message, _best_bound(table, message)),
        )

    return draw_panels(stem, compared, looks, [panel(message) for message in MESSAGES])


def above_best(table: pd.DataFrame) -> pd.DataFrame:
    """Add the column `above_best`: the CCT over the lowest bound of its message, less 1."""
    best = table.groupby("message_bytes")["cct_bound_us"].transform("min")
    return table.assign(above_best=table["cct_us"] / best - 1)


def claims(table: pd.DataFrame) -> list[Claim]:
    """Compare Ofan's best payload and its CCT with the theorem's."""
    return [_sweet_spot(above_best(table), message) for message in MESSAGES]


def _sweet_spot(table: pd.DataFrame, message: int) -> Claim:
    increases = {
        size: by_seed(
            table, "above_best", variant="ofan", message_bytes=message, payload_bytes=size
        )
        for size in sorted(table["payload_bytes"].unique())
    }
    best = min(increases, key=lambda size: float(increases[size].mean()))
    payload, increase = predicted(message, _best_bound(table, message))
    rivals = [
        size
        for size, values in increases.items()
        if size == best or estimate(values - increases[best]).within(low=0) != "yes"
    ]
    found = estimate(increases[best])
    tied = ", ".join(f"{size}" for size in rivals if size != best)
    return Claim(
        f"Ofan's sweet spot for {message / MB:g} MB",
        f"{payload:.0f} B and {increase:.1%} (Theorem 6)",
        f"{best} B and {found.mean:.1%}" + (f"; as good: {tied} B" if tied else ""),
        all_of(
            (
                _share_within(rivals, payload / 2, payload * 2),
                found.within(increase / 2, increase * 2),
            )
        ),
        "both within a factor of 2: the model predicts them roughly",
    )


def _share_within(sizes: list[int], low: float, high: float) -> Holds:
    """Say whether the best size is between limits, of sizes that seeds do not tell apart."""
    inside = [low <= size <= high for size in sizes]
    if all(inside):
        return "yes"
    return "not decided" if any(inside) else "no"


def predicted(message: int, best_bound_us: float) -> tuple[float, float]:
    """Return Theorem 6's payload and the CCT increase it foresees."""
    payload = optimal_payload(message, queued=QUEUED)
    scenario = Scenario(payload_bytes=round(payload))
    waiting = QUEUED * (scenario.data_ns + scenario.gap_ns)
    return payload, (permutation_bound(message, scenario) + waiting) / 1000 / best_bound_us - 1


def _best_bound(table: pd.DataFrame, message: int) -> float:
    return float(table.loc[table["message_bytes"] == message, "cct_bound_us"].min())


def _theorem(message: int, best_bound_us: float) -> Callable[[Axes], None]:
    def ring(axes: Axes) -> None:
        axes.plot(
            *predicted(message, best_bound_us),
            "o",
            color="black",
            mfc="none",
            ms=8,
            zorder=5,
            clip_on=False,
        )
        axes.annotate(
            "Thm. 6",
            predicted(message, best_bound_us),
            xytext=(4, 6),
            textcoords="offset points",
            fontsize=7,
        )

    return ring


FIGURE = Figure("fig8", "CCT increase over packet size", sweep, plot, claims)
