"""What made a flow late, drawn: the parts of its critical path over time, a row a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.patches import Patch

from analysis.causes import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from analysis.causes import Part

COLORS = dict(
    zip(
        KINDS,
        ("#0072B2", "#BBBBBB", "#D55E00", "#CC79A7", "#000000", "#F0E442", "#009E73", "#E69F00"),
        strict=True,
    )
)
PICOSECONDS_PER_MICROSECOND = 1e6
HEIGHT = 0.7
LEAST_SHARE = 0.002
"""Shortest bar that is drawn, as a share of the axis: shorter parts would not be seen."""


def places(parts: Sequence[Part]) -> list[str]:
    """List the places of a path in the order in which it comes to them."""
    return list(dict.fromkeys(part.where for part in parts))


def causes(axes: Axes, parts: Sequence[Part], first_ps: int) -> None:
    """Draw parts over the time since the first packet."""
    rows = places(parts)
    whole = parts[-1].end - parts[0].begin
    bars: dict[str, list[tuple[float, float]]] = {where: [] for where in rows}
    colors: dict[str, list[str]] = {where: [] for where in rows}
    for part in parts:
        begin = (part.begin - first_ps) / PICOSECONDS_PER_MICROSECOND
        length = max(part.end - part.begin, LEAST_SHARE * whole) / PICOSECONDS_PER_MICROSECOND
        bars[part.where].append((begin, length))
        colors[part.where].append(COLORS[part.what])
    for row, where in enumerate(rows):
        axes.broken_barh(
            bars[where], (row - HEIGHT / 2, HEIGHT), facecolors=colors[where], linewidth=0
        )
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, (parts[-1].end - first_ps) / PICOSECONDS_PER_MICROSECOND)
    axes.set_xlabel("time since the first packet (µs)")
    axes.grid(visible=True, axis="x")
    there = {part.what for part in parts}
    axes.legend(
        handles=[Patch(color=COLORS[kind], label=kind) for kind in KINDS if kind in there],
        loc="lower center",
        bbox_to_anchor=(0.4, 1.0),
        ncols=3,
    )
