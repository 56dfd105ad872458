"""Runs that may be compared: one scenario in one world, under several schemes and seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis import metrics
from analysis.fidelity import Verdict, judge
from analysis.results import read_queues, read_transport
from analysis.summary import row, table_of
from testbed.scenario import FIELDS, variant
from testbed.scenario.files import QUEUES, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from analysis.results import Run

OF_A_SCHEME = ("scheme", "scheme_file", "seed", "mix", "parameters")
SHARED = [field for field in FIELDS if field.name not in OF_A_SCHEME]
TOLD = (
    "topology",
    "k",
    "network",
    "workload",
    "message_bytes",
    "load",
    "failures",
    "acks",
    "cca",
    "recovery",
)
"""Fields that a group's title has words for; of the others it tells what is not the default."""


@dataclass(frozen=True, slots=True)
class Group:
    """Comparable runs with their verdicts and rows of summary.csv, in the same order.

    `order` lists all schemes as figures and tables are to list them.
    """

    title: str
    runs: tuple[Run, ...]
    verdicts: tuple[Verdict, ...]
    table: pd.DataFrame
    order: tuple[str, ...]

    @property
    def usable(self) -> list[Run]:
        """Runs that figures may show: all but the INVALID ones."""
        pairs = zip(self.runs, self.verdicts, strict=True)
        return [run for run, verdict in pairs if verdict.verdict != "INVALID"]

    def by_scheme(self) -> dict[str, list[Run]]:
        """Return the usable runs of each scheme."""
        schemes: dict[str, list[Run]] = {name: [] for name in self.order}
        for run in self.usable:
            schemes[variant(run.scenario)].append(run)
        return {name: runs for name, runs in schemes.items() if runs}

    def flow_completion(self) -> dict[str, NDArray[np.float64]]:
        """Return the completion times of all flows of each scheme's usable runs."""
        return {
            name: np.concatenate([metrics.flow_completion_us(run).to_numpy() for run in runs])
            for name, runs in self.by_scheme().items()
        }

    def queues_by_stage(self) -> pd.DataFrame:
        """Return a row a usable run and stage: scheme, stage, and its queues."""
        tables = [
            metrics.queue_by_stage(run).reset_index(names="stage").assign(variant=name)
            for name, runs in self.by_scheme().items()
            for run in runs
        ]
        return pd.concat(tables, ignore_index=True)

    def overload(self) -> pd.DataFrame:
        """Return a row a usable run and stage: scheme, stage, and the overload as `value`."""
        tables = [
            metrics.overload_by_stage(run).rename("value").reset_index().assign(variant=name)
            for name, runs in self.by_scheme().items()
            for run in runs
        ]
        return pd.concat(tables, ignore_index=True)

    def queue_series(self) -> dict[str, pd.DataFrame]:
        """Return the queue time series of each scheme's first usable run that has one."""
        series = {}
        for name, runs in self.by_scheme().items():
            with_queues = [run for run in runs if (run.folder / QUEUES).exists()]
            if with_queues:
                series[name] = metrics.queue_series(read_queues(with_queues[0].folder))
        return series

    def watched(self) -> dict[str, pd.DataFrame]:
        """Return what happened to watched flows in each scheme's first usable run that has some."""
        found = {}
        for name, runs in self.by_scheme().items():
            watching = [run for run in runs if (run.folder / TRANSPORT).exists()]
            if watching:
                found[name] = read_transport(watching[0].folder)
        return found

    def utilisation(self) -> dict[str, pd.DataFrame]:
        """Return the utilisation over time of each scheme's first usable run."""
        return {
            name: metrics.utilisation_over_time(runs[0]) for name, runs in self.by_scheme().items()
        }


def group_runs(runs: Sequence[Run], order: Sequence[str]) -> list[Group]:
    """Divide runs into groups by world and scenario, in order of appearance.

    `order` lists the schemes of all runs, with their parameters.
    """
    groups: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        key = (run.world, *(str(getattr(run.scenario, field.name)) for field in SHARED))
        groups.setdefault(key, []).append(run)
    return [_group(members, tuple(order)) for members in groups.values()]


def _group(runs: list[Run], order: tuple[str, ...]) -> Group:
    verdicts = tuple(judge(run) for run in runs)
    rows = [row(run, verdict) for run, verdict in zip(runs, verdicts, strict=True)]
    table = table_of(rows)
    return Group(_title(runs[0]), tuple(runs), verdicts, table, order)


def _title(run: Run) -> str:
    scenario = run.scenario
    parts = [
        f"{scenario.topology}, {scenario.shape.text}, {scenario.shape.hosts_text}",
        f"{scenario.workload}, {scenario.message_bytes:,} B messages at load {scenario.load:g}",
        f"world: {run.world}",
    ]
    if scenario.failures:
        parts.insert(1, f"link failures with probability {scenario.failures:g}")
    if not scenario.acks:
        parts.insert(2, "no ACKs")
    if scenario.cca != "none" or scenario.recovers != "none":
        parts.append(f"CCA: {scenario.cca}, recovery: {scenario.recovers}")
    for field in SHARED:
        value = getattr(scenario, field.name)
        if field.name not in TOLD and value != field.default:
            parts.append(f"{field.name} = {value}")
    return "; ".join(parts)
