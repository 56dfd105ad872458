"""Rings against double trees: measured times and bus bandwidths, and the model's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.style import FALLBACK_COLORS
from analysis.ring_tree import best_tree_time, bus_bandwidth, crossover, ring_time

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    Time = Callable[[float, int, float, float], float]

ALGORITHMS: tuple[tuple[str, str, str, Time], ...] = (
    ("ring", "ring", "o", ring_time),
    ("double-tree", "double tree", "s", best_tree_time),
)


def crossover_figure(
    figure: Figure, *, table: pd.DataFrame, ranks: int, alpha: float, beta: float
) -> None:
    """Draw time and bus bandwidth over the size: dots are runs, lines the model.

    `table` has columns algorithm, bytes and cct_us; alpha is in seconds, beta in seconds a byte.
    """
    times, rates = figure.subplots(1, 2)
    found = crossover(ranks, alpha, beta)
    for color, (name, label, marker, model) in zip(FALLBACK_COLORS, ALGORITHMS, strict=False):
        rows = table[table["algorithm"] == name]
        sizes = rows["bytes"].to_numpy(dtype=float)
        seconds = rows["cct_us"].to_numpy(dtype=float) * 1e-6
        lines = _powers(sizes)
        modelled = np.array([model(size, ranks, alpha, beta) for size in lines])
        for axes, measured, line in (
            (times, seconds * 1e6, modelled * 1e6),
            (rates, _bus(sizes, seconds, ranks), _bus(lines, modelled, ranks)),
        ):
            axes.plot(sizes, measured, marker, color=color, markersize=3, label=label)
            axes.plot(lines, line, "-", color=color, linewidth=0.8)
    for axes, what in ((times, "time (µs)"), (rates, "bus bandwidth (GB/s)")):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("all-reduce of (B)")
        axes.set_ylabel(what)
        _mark(axes, found)
    times.set_yscale("log")
    rates.set_ylim(bottom=0)
    times.legend(title=f"{ranks} ranks; lines: the model", fontsize="small", title_fontsize="small")


def _powers(sizes: np.ndarray) -> np.ndarray:
    """Return the powers of two from the least to the largest size: chunks are such too."""
    if not len(sizes):
        return sizes
    return 2.0 ** np.arange(np.floor(np.log2(sizes.min())), np.ceil(np.log2(sizes.max())) + 1)


def _bus(sizes: np.ndarray, seconds: np.ndarray, ranks: int) -> np.ndarray:
    return np.array(
        [bus_bandwidth(size, time, ranks) / 1e9 for size, time in zip(sizes, seconds, strict=True)]
    )


def _mark(axes: Axes, size: float | None) -> None:
    """Mark from where the model has the ring ahead, if that is in sight."""
    low, high = axes.get_xlim()
    if size is not None and low < size < high:
        axes.axvline(size, color="0.6", linewidth=0.6, linestyle=":")
