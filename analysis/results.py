"""Reads result folders: one folder a run, its files as typed tables."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.floor import floor
from analysis.messages import messages_of
from errors import UserError
from testbed.scenario import from_toml
from testbed.scenario.files import (
    ARRIVAL_COLUMNS,
    ARRIVALS,
    FLOW_COLUMNS,
    FLOWS,
    HOST_STAGE,
    LINK_COLUMNS,
    LINKS,
    MANIFEST,
    PATH_COLUMNS,
    PATHS,
    QUEUE_COLUMNS,
    QUEUES,
    SCENARIO,
    STAGES,
    TRANSPORT,
    TRANSPORT_COLUMNS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analysis.messages import Messages
    from testbed.scenario import Scenario

PACING_KEYS = ("late_p99_ns", "offered", "achieved")


@dataclass(frozen=True)
class Run:
    """A finished run: its scenario, what the world said of it, and a row for each flow and link.

    `steps`, `links` and `arrivals` have the columns of their files; `flows` are those of the steps
    that are messages, not computations. Times are nanoseconds of paper time since the first packet
    left; a time that never came is NaN.
    """

    folder: Path
    scenario: Scenario
    manifest: dict[str, Any]
    steps: pd.DataFrame
    links: pd.DataFrame
    arrivals: pd.DataFrame
    flows: pd.DataFrame = field(init=False)

    def __post_init__(self) -> None:
        """Pick the messages."""
        messages = self.steps[self.steps["bytes"] > 0].reset_index(drop=True)
        object.__setattr__(self, "flows", messages)

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name

    @property
    def world(self) -> str:
        """World that ran it: mininet, bmv2 or virtual."""
        return str(self.manifest["world"])

    @functools.cached_property
    def messages(self) -> Messages:
        """The messages as columns, and who waits for whom."""
        return messages_of(self.scenario, self.steps)

    @functools.cached_property
    def floor_ns(self) -> float:
        """What the run takes at the least, whatever the scheme (docs/bounds.md)."""
        return floor(self.scenario, self.messages)

    @property
    def switch_links(self) -> pd.DataFrame:
        """Links that leave a switch: all but the hosts' own NIC queues."""
        return self.links[self.links["stage"] != HOST_STAGE]


def read_run(folder: Path) -> Run:
    """Read one result folder; raises UserError naming the file and what is wrong with it."""
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    needed = (SCENARIO, MANIFEST, FLOWS, LINKS, ARRIVALS)
    missing = [name for name in needed if not (folder / name).exists()]
    if missing:
        raise UserError(f"{folder}: not a finished run: {', '.join(missing)} missing")
    run = Run(
        folder=folder,
        scenario=from_toml(folder / SCENARIO, whole=True),
        manifest=_read_manifest(folder / MANIFEST),
        steps=_read_table(folder / FLOWS, FLOW_COLUMNS),
        links=_known_stages(folder / LINKS, _read_table(folder / LINKS, LINK_COLUMNS)),
        arrivals=_read_table(folder / ARRIVALS, ARRIVAL_COLUMNS),
    )
    if run.flows.empty:
        raise UserError(f"{folder / FLOWS}: there are no flows")
    if run.switch_links.empty:
        raise UserError(f"{folder / LINKS}: there are no links of switches")
    return run


def read_queues(folder: Path) -> pd.DataFrame:
    """Read the queue time series of a run, by time; raises UserError if it is not there."""
    table = _read_table(folder / QUEUES, QUEUE_COLUMNS)
    return table.sort_values("time_ns", kind="stable", ignore_index=True)


def read_transport(folder: Path) -> pd.DataFrame:
    """Read what happened to a run's watched flows; raises UserError if it is not there."""
    return _read_table(folder / TRANSPORT, TRANSPORT_COLUMNS)


def read_paths(folder: Path) -> pd.DataFrame:
    """Read which ports each flow's packets passed; raises UserError if it is not there."""
    return _read_table(folder / PATHS, PATH_COLUMNS)


def find_runs(folder: Path) -> list[Path]:
    """List the finished runs in `folder` and below it (or itself) by name.

    Raises UserError if the folder does not exist or holds none.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    found = sorted(path.parent for path in folder.rglob(MANIFEST))
    if not found:
        raise UserError(f"{folder}: no results in it: no {MANIFEST} in any folder")
    return found


def unfinished_runs(folder: Path) -> list[Path]:
    """List the folders of runs that began and left no manifest, by name."""
    begun = sorted(path.parent for path in folder.rglob(SCENARIO))
    return [run for run in begun if not (run / MANIFEST).exists()]


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: not JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise UserError(f"{path}: not a JSON object")
    for key in ("world", "ended", "conservation"):
        if key not in manifest:
            raise UserError(f"{path}: {key} is missing")
    _check_numbers(path, "conservation", manifest["conservation"], ("sent", "delivered"))
    _check_numbers(path, "conservation.dropped", manifest["conservation"].get("dropped", {}))
    _check_numbers(path, "processor_share", manifest.get("processor_share", {}))
    pacing = manifest.get("pacing", {})
    if not isinstance(pacing, dict):
        raise UserError(f"{path}: pacing is not a table")
    for host, values in pacing.items():
        _check_numbers(path, f"pacing.{host}", values, PACING_KEYS)
    return manifest


def _check_numbers(path: Path, name: str, values: object, needed: Sequence[str] = ()) -> None:
    """Raise UserError unless `values` is a table with the keys needed, their values numbers."""
    if not isinstance(values, dict):
        raise UserError(f"{path}: {name} is not a table")
    for key in needed or values:
        if not isinstance(values.get(key), int | float):
            raise UserError(f"{path}: {name}.{key} is {values.get(key)!r}; it must be a number")


def _read_table(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    try:
        text = {name: str for name, kind in columns.items() if kind == "str"}
        table = pd.read_csv(path, dtype=text)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except (OSError, EOFError, ValueError, pd.errors.ParserError) as error:
        raise UserError(f"{path}: not a table: {_first_line(error)}") from error
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise UserError(f"{path}: columns missing: {', '.join(missing)}")
    for name, kind in columns.items():
        table[name] = _converted(path, table[name], kind)
    return table[list(columns)]


def _converted(path: Path, column: pd.Series[Any], kind: str) -> pd.Series[Any]:
    if kind == "str":
        return column.fillna("")
    try:
        return column.astype(kind)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):
        numbers = pd.to_numeric(column, errors="coerce")
        line = int(numbers.isna().to_numpy().argmax()) + 2
        raise UserError(
            f"{path}:{line}: {column.name} is {str(column.iloc[line - 2])!r}; it must be a number"
        ) from None


def _known_stages(path: Path, links: pd.DataFrame) -> pd.DataFrame:
    for line, stage in enumerate(links["stage"], 2):
        if stage not in STAGES:
            raise UserError(f"{path}:{line}: stage is {stage!r}; it must be one of {STAGES}")
    return links


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
