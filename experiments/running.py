"""Running points that have no result yet, here or on a cluster, and the table of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.summary import table_of as summary_of
from experiments.cluster import run_on_cluster
from experiments.points import Point, keep_row, kept_row, run_point
from experiments.progress import RunProgress
from experiments.workers import run_all
from testbed.scenario import to_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pandas as pd

    from experiments.workers import Outcome


@dataclass(frozen=True, slots=True)
class Means:
    """Where and with what points are run.

    `out` is the folder of results, `cluster` the address of a Dask scheduler or empty, `keep`
    whether result folders stay.
    """

    out: Path
    jobs: int
    cluster: str = ""
    keep: bool = False

    @property
    def points(self) -> Path:
        """The folder of finished points, one each."""
        return self.out / "points"


def missing_of(points: Sequence[Point], means: Means) -> list[Point]:
    """Return the points that have no result yet, each once."""
    left = (point for point in points if kept_row(means.points / point.key) is None)
    return list({point.key: point for point in left}.values())


def run_points(points: Sequence[Point], means: Means) -> dict[str, str]:
    """Run the points that have no result yet and keep their rows; return errors by point's key."""
    missing = missing_of(points, means)
    errors: dict[str, str] = {}
    with RunProgress(len(missing)) as progress:
        for outcome in _outcomes(missing, means):
            point = missing[outcome.number]
            if outcome.error:
                errors[point.key] = outcome.error
                progress.finish(f"{point.title}: FAILED: {outcome.error}")
                continue
            row = outcome.result
            keep_row(means.points / point.key, point, row)
            progress.begin(point.title)
            fault = row["verdict"] != "VALID"
            progress.finish(f"{point.title}: {row['verdict']}: {row['reason']}" if fault else "")
    return errors


def table_of(points: Sequence[Point], means: Means) -> pd.DataFrame:
    """Return the kept rows of points, a row a point that has one."""
    rows = [row for point in points if (row := kept_row(means.points / point.key)) is not None]
    return summary_of(rows)


def _outcomes(points: Sequence[Point], means: Means) -> Iterator[Outcome]:
    tasks: list[tuple[Any, ...]] = [
        (to_toml(point.scenario), means.points / point.key if means.keep else None)
        for point in points
    ]
    if means.cluster:
        return run_on_cluster(means.cluster, run_point, tasks)
    return run_all(run_point, tasks, means.jobs)
