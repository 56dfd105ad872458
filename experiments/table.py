"""The table that a call of run.py ends with: a row per scheme, means over its seeds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from testbed.hosts import congestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

UNFINISHED = "unfinished"
"""What stands in the place of a verdict for a run that was interrupted."""

WIDEST = 200  # a terminal may wrap a row; cells that wrap are hard to read
HEADER = ("scheme", "runs", "CCT us", "over bound", "max queue KB", "mean KB", "utilisation")


def print_table(table: pd.DataFrame, labels: Mapping[str, str]) -> None:
    """Print the rows of a summary by scheme, and by congestion control where there are several.

    Invalid runs count only as such.
    """
    ccas = list(dict.fromkeys(table["cca"]))
    shown = Table(*HEADER, "verdicts", box=None, header_style="bold", pad_edge=False)
    for column in shown.columns[1:-1]:
        column.justify = "right"
    for column in shown.columns:
        column.no_wrap = True
    for name in [name for name in labels if name in set(table["variant"])]:
        for cca in ccas:
            rows = table[(table["variant"] == name) & (table["cca"] == cca)]
            told = f"{labels[name]}, {congestion(cca).label}" if len(ccas) > 1 else labels[name]
            if not rows.empty:
                shown.add_row(told, *_means(rows), _verdicts(rows["verdict"]))
    Console(highlight=False, width=WIDEST).print(shown)


def _means(rows: pd.DataFrame) -> tuple[str, ...]:
    usable = rows[~rows["verdict"].isin(["INVALID", UNFINISHED])]
    if usable.empty:
        return (str(len(rows)), "-", "-", "-", "-", "-")
    return (
        str(len(rows)),
        f"{usable['cct_us'].mean():.2f}",
        _percent(usable["cct_increase"].mean()),
        f"{usable['max_queue_bytes'].max() / 1000:,.1f}",
        f"{usable['mean_queue_bytes'].mean() / 1000:,.2f}",
        _share(usable["utilisation"].mean()),
    )


def _share(value: float) -> str:
    """Write a share; a dash where too little was sent to measure one."""
    return "-" if math.isnan(value) else _percent(value)


def _percent(value: float) -> str:
    """Write a share in percent; nothing below zero that is only a rounding of it."""
    return f"{round(value, 3) + 0.0:.1%}"


def _verdicts(verdicts: pd.Series[str]) -> str:
    counts = verdicts.value_counts()
    return ", ".join(f"{counts[name]} {name}" for name in counts.index)
