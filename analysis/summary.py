"""One row a run: summary.csv, and what becomes of many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis import metrics
from analysis.fidelity import Verdict, judge
from analysis.results import find_runs, read_run
from errors import UserError
from testbed.scenario import FIELDS, flat, variant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analysis.results import Run

MEASURED = (
    "dilation",
    "cct_us",
    "cct_bound_us",
    "cct_increase",
    "max_queue_bytes",
    "mean_queue_bytes",
    "utilisation",
    "receive_skew",
    "verdict",
)
TABLES = tuple(field.name for field in FIELDS if field.default == {})
COLUMNS = (
    "variant",
    "world",
    *(field.name for field in FIELDS if field.name not in TABLES),
    *MEASURED,
)
"""Columns of every summary; entries of a scenario's tables have columns besides."""
DECIMALS = {
    "cct_us": 5,
    "cct_bound_us": 5,
    "cct_increase": 6,
    "mean_queue_bytes": 1,
    "utilisation": 5,
    "receive_skew": 4,
}


def row(run: Run, verdict: Verdict | None = None) -> dict[str, object]:
    """Return a run's row of summary.csv, with its verdict (made here if not given)."""
    return {
        "variant": variant(run.scenario),
        "world": run.world,
        **flat(run.scenario),
        "dilation": float(run.manifest.get("dilation", 1.0)),
        "cct_us": metrics.cct_us(run),
        "cct_bound_us": metrics.cct_bound_us(run),
        "cct_increase": metrics.cct_increase(run),
        "max_queue_bytes": metrics.max_queue_bytes(run),
        "mean_queue_bytes": metrics.mean_queue_bytes(run),
        "utilisation": metrics.utilisation(run),
        "receive_skew": metrics.receive_skew(run),
        "verdict": (verdict or judge(run)).verdict,
    }


def summarise(runs: Sequence[Run]) -> pd.DataFrame:
    """Return the rows of several runs as one table with the columns of summary.csv."""
    return table_of([row(run) for run in runs])


def table_of(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return rows as one table: the columns of all summaries first, then others that rows have."""
    others = dict.fromkeys(name for each in rows for name in each if name not in COLUMNS)
    return pd.DataFrame(rows, columns=[*COLUMNS, *others])


def write_summary(table: pd.DataFrame, path: Path) -> None:
    """Write a table of rows as summary.csv."""
    table.round(DECIMALS).to_csv(path, index=False)


def read_summary(path: Path) -> pd.DataFrame:
    """Read a summary.csv; raises UserError if it is not one."""
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not a table: {str(error).splitlines()[0]}") from error
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise UserError(f"{path}: columns missing: {', '.join(missing)}")
    return table


def read_all(folder: Path) -> list[Run]:
    """Read every finished run below a folder; raises UserError if one is damaged or none is."""
    return [read_run(found) for found in find_runs(folder)]


def by_scheme(table: pd.DataFrame, value: str, *groups: str) -> pd.DataFrame:
    """Return mean, standard error of the mean and number of runs of `value`.

    A row for each scheme and each combination of `groups`, schemes in the order in which they first
    appear. INVALID runs are left out. The error of a single run is not known: NaN.
    """
    keys = ["variant", *groups]
    usable = table[table["verdict"] != "INVALID"]
    grouped = usable.groupby(keys, sort=False)[value]
    return grouped.agg(mean="mean", sem="sem", runs="count").reset_index()
