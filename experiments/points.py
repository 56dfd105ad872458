"""Points of sweeps: one scenario run in virtual time, and the one row that is kept of it."""

from __future__ import annotations

import functools
import hashlib
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis import metrics, summary
from analysis.fidelity import judge
from analysis.results import read_run
from experiments import sources
from p4.compiler.source import preprocess
from testbed import schemes
from testbed.planning import plan_for
from testbed.results import write_whole
from testbed.scenario import from_toml, to_toml
from testbed.scenario.files import SCENARIO

if TYPE_CHECKING:
    from testbed.scenario import Scenario
    from testbed.schemes import Scheme

ROW = "row.json"
MAKER = "experiments.points"
"""The module whose imports are what a row depends on: this one."""
BY_STAGE = (
    "max_queue_packets",
    "mean_queue_packets",
    "sending_queue_bytes",
    "sending_queue_packets",
)


@dataclass(frozen=True, slots=True)
class Point:
    """A scenario of a sweep, known by a hash of all its fields and of what simulates it."""

    scenario: Scenario

    @property
    def key(self) -> str:
        """A name for the point's folder: equal for equal scenarios run by equal sources only.

        An edited P4 program is another scheme: what was kept of the former one must not stand for
        it. Programs of other schemes do not matter.
        """
        made = hashlib.sha256(to_toml(self.scenario).encode())
        made.update(sources.digest(MAKER, *self.programs).encode())
        return made.hexdigest()[:16]

    @property
    def programs(self) -> tuple[Path, ...]:
        """The files of the point's schemes, with what they include."""
        scenario = self.scenario
        mixed = (schemes.find(scenario.mix[0]),) if scenario.mix else ()
        return tuple(file for scheme in (schemes.of(scenario), *mixed) for file in files_of(scheme))

    @property
    def title(self) -> str:
        """What runs, in a few words."""
        scenario = self.scenario
        return (
            f"{scenario.scheme} {scenario.topology} {scenario.shape.text} {scenario.workload} "
            f"{scenario.message_bytes:,} B seed {scenario.seed}"
        )


@functools.cache
def files_of(scheme: Scheme) -> tuple[Path, ...]:
    """Return a scheme's P4 program, what it includes, and what is said of it beside it."""
    said = scheme.source.with_suffix(".toml")
    read = preprocess(scheme.source, {}, [schemes.PROGRAMS]).files
    return (*sorted(Path(file) for file in read), *([said] if said.exists() else []))


def run_point(toml: str, keep: Path | None = None) -> dict[str, Any]:
    """Run a scenario given as TOML in virtual time and return its row.

    The row has the columns of summary.csv, what the sweeps vary besides, and queues and overload by
    stage. The result folder is `keep`, or a temporary one. Raises what planning, running and
    reading raise.
    """
    from testbed.virtual import run  # noqa: PLC0415 - builds the event core when first imported

    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary) / "run"
        folder.mkdir(parents=True, exist_ok=True)
        given = Path(temporary) / SCENARIO
        given.write_text(toml, encoding="utf-8")
        scenario = from_toml(given)
        begin = time.monotonic()
        run(plan_for(scenario), folder, threads=1, sample_ps=None if keep else 0)
        return row_of(folder, scenario) | {"seconds": time.monotonic() - begin}


def row_of(folder: Path, scenario: Scenario) -> dict[str, Any]:
    """Return the row of a result folder."""
    result = read_run(folder)
    verdict = judge(result)
    queues = metrics.queue_by_stage(result)
    by_stage = {
        f"{column} {stage}": float(queues.loc[stage, column])
        for column in BY_STAGE
        for stage in queues.index
    }
    overload = {
        f"overload {stage}": float(value)
        for stage, value in metrics.overload_by_stage(result).items()
    }
    swept = {
        "hosts": scenario.hosts,
        "data_frame_bytes": scenario.data_frame_bytes,
        "acks": scenario.acks,
        "cca": scenario.cca,
        "loss": scenario.loss,
        "peak_utilisation": metrics.peak_utilisation(result),
        "max_queue_packets": float(queues["max_queue_packets"].max()),
        "reason": verdict.reason,
    }
    options = {f"option {name}": value for name, value in scenario.workload_options.items()}
    return summary.row(result, verdict) | swept | options | by_stage | overload


def kept_row(folder: Path) -> dict[str, Any] | None:
    """Return the row of a point that finished earlier, or None if it did not."""
    try:
        row = json.loads((folder / ROW).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return row if isinstance(row, dict) else None


def keep_row(folder: Path, point: Point, row: dict[str, Any]) -> None:
    """Keep a point's row and scenario in its folder, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCENARIO).write_text(to_toml(point.scenario), encoding="utf-8")
    write_whole(folder / ROW, json.dumps(row, indent=1) + "\n")
