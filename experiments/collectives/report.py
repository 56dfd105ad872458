"""What came out of rings and trees: in a table as of nccl-tests, in words, and as a figure."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from analysis.figures.collectives import crossover_figure
from analysis.figures.style import PAGE, draw
from analysis.ring_tree import best_tree_time, bus_bandwidth, crossover, fit, ring_time
from experiments.collectives.runs import ALGORITHMS, RING, SIZES, SLOW, SPINE, TREE
from testbed.workload import flows_between_ranks, request_for

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from testbed.scenario import Scenario

MODEL_RANKS = (16, 64)
MICRO = 1e-6


def told(base: Scenario, table: pd.DataFrame, out: Path) -> str:
    """Draw the figure, and return all tables in text."""
    ranks = request_for(base).group_size()
    alpha, beta = _fitted(table, ranks)
    plot = partial(crossover_figure, table=_of(table, SIZES), ranks=ranks, alpha=alpha, beta=beta)
    picture = draw(out / "crossover", plot, width=PAGE, height=2.6)
    parts = [_sizes(_of(table, SIZES), ranks), _model(alpha, beta, ranks)]
    if SLOW in set(table["purpose"]):
        parts.append(_slow(table))
    parts += [_spine(base, _of(table, SPINE)), str(picture)]
    return "\n\n".join(parts)


def _of(table: pd.DataFrame, purpose: str) -> pd.DataFrame:
    return table[table["purpose"] == purpose]


def _fitted(table: pd.DataFrame, ranks: int) -> tuple[float, float]:
    rows = _of(table, SIZES)
    rings = rows[rows["algorithm"] == RING]
    return fit(list(rings["bytes"]), list(rings["cct_us"] * MICRO), ranks)


def _sizes(table: pd.DataFrame, ranks: int) -> str:
    """Return the table of nccl-tests: GB are 10^9 bytes."""
    lines = [
        f"#{'':>13}{'ring':>33}{'double tree':>33}",
        f"#{'size':>13}" + f"{'time':>13}{'algbw':>10}{'busbw':>10}" * 2,
        f"#{'(B)':>13}" + f"{'(us)':>13}{'(GB/s)':>10}{'(GB/s)':>10}" * 2,
    ]
    for size, rows in table.groupby("bytes"):
        line = f" {size:>13}"
        for algorithm in ALGORITHMS:
            times = rows.loc[rows["algorithm"] == algorithm, "cct_us"]
            if times.empty:
                line += f"{'-':>13}{'-':>10}{'-':>10}"
                continue
            seconds = float(times.iloc[0]) * MICRO
            rate = float(size) / seconds  # type: ignore[arg-type]
            bus = bus_bandwidth(float(size), seconds, ranks)  # type: ignore[arg-type]
            line += f"{seconds / MICRO:>13.2f}{rate / 1e9:>10.3f}{bus / 1e9:>10.3f}"
        lines.append(line)
    invalid = int((table["verdict"] == "INVALID").sum())
    return "\n".join([*lines, *([f"# {invalid} of these runs are INVALID"] if invalid else [])])


def _model(alpha: float, beta: float, ranks: int) -> str:
    """Say what the ring's times come to, and where the model has the ring overtake the tree."""
    lines = [
        f"alpha {alpha / MICRO:.2f} us a message, 1/beta {1e-9 / beta:.2f} GB/s: fitted to rings",
        "The model with them, in us: tree (best chunk) and ring",
    ]
    for number in sorted({*MODEL_RANKS, ranks}):
        cells = [
            f"{_named(size)} {best_tree_time(size, number, alpha, beta) / MICRO:,.0f}/"
            f"{ring_time(size, number, alpha, beta) / MICRO:,.0f}"
            for size in (1 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
        ]
        found = crossover(number, alpha, beta)
        where = "the tree is always ahead" if found is None else f"the ring from {_named(found)} on"
        lines.append(f"  {number:5} ranks: {'  '.join(cells)}: {where}")
    return "\n".join(lines)


def _slow(table: pd.DataFrame) -> str:
    """Say what a slow host does to either algorithm."""
    lines = [
        "With the slow host, time over that without:",
        f"{'size (B)':>14}{'ring':>9}{'tree':>9}",
    ]
    times = table.pivot_table(index="bytes", columns=["purpose", "algorithm"], values="cct_us")
    ring, tree = (times[SLOW, name] / times[SIZES, name] for name in (RING, TREE))
    lines += [f"{size:>14}{ring[size]:>9.3f}{tree[size]:>9.3f}" for size in ring.dropna().index]
    return "\n".join(lines)


def _spine(base: Scenario, table: pd.DataFrame) -> str:
    """Say how trees fare under schemes, and how many of their edges cross the spine."""
    lines = []
    for placement, rows in table.groupby("placement"):
        size = int(rows["bytes"].iloc[0])
        options = {**base.workload_options, "placement": str(placement)}
        share = _across(replace(base, workload=TREE, workload_options=options, message_bytes=size))
        lines.append(
            f"Trees with ranks {placement}, {_named(size)}: {share:.0%} of bytes cross the spine"
        )
        columns = (rows[name] for name in ("scheme", "cct_us", "cct_bound_us", "verdict"))
        for scheme, cct, bound, verdict in zip(*columns, strict=True):
            remark = "" if verdict == "VALID" else f"  {verdict}"
            lines.append(
                f"  {scheme:<12} {cct:>12.2f} us  {cct / bound - 1:>8.1%} above the bound{remark}"
            )
    return "\n".join(lines)


def _across(scenario: Scenario) -> float:
    """Return the share of bytes between different pods (in two levels: edges)."""
    flows = flows_between_ranks(scenario)
    request = request_for(scenario)
    part = request.hosts_per_edge if scenario.levels == 2 else request.hosts_per_pod
    crosses = flows.source // part != flows.destination // part
    return float(np.sum(flows.size_bytes[crosses]) / np.sum(flows.size_bytes))


def _named(size: float) -> str:
    """Return a size such as 4 MiB."""
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size:g} B"
