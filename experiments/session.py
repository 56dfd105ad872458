"""One call of run.py: runs, their verdicts, and what is shown in the end."""

from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.fidelity import judge
from analysis.report import write_report
from analysis.results import find_runs, read_run
from analysis.summary import read_all, summarise
from errors import FAILED, UserError, code_of, in_words
from experiments import workers
from experiments.looks import label, looks
from experiments.out import folder_of, others
from experiments.ownership import hand_over, topmost_missing
from experiments.progress import RunProgress, duration
from experiments.table import UNFINISHED, print_table
from experiments.work import sending_seconds
from experiments.world import VirtualWorld, World, open_world
from testbed.mininet.worker import WorkerError
from testbed.results import write_whole
from testbed.scenario import from_toml, variant
from testbed.scenario.files import MANIFEST, SCENARIO, VIRTUAL
from testbed.scenario.watch import NOTHING, Watch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from analysis.fidelity import Verdict
    from analysis.figures.style import Look
    from analysis.report import Report
    from testbed.plan import Plan
    from testbed.scenario import Scenario


SLOWER = 2.0
"""How much slower an invalid run is repeated."""


@dataclass(frozen=True, slots=True)
class Session:
    """Runs of one world into one folder. `dilation` is None where it is to be chosen."""

    world: World
    name: str
    dilation: float | None
    out: Path
    progress: RunProgress

    def introduce(self, plan: Plan) -> None:
        """Say how much slower than the paper's network the first plan will run, and why."""
        costs = self.world.costs(plan)
        if costs is not None:
            dilation = self.dilation or self.world.dilation_for(plan)
            seconds = sending_seconds(plan) * dilation
            sends = f"about {duration(seconds)}" if seconds >= 1 else "less than a second"
            slower = f"{dilation:,.0f} times slower than" if dilation >= 1.5 else "As fast as"
            self.progress.say(
                f"{slower} the paper's network: a frame takes "
                f"{costs.switch_ns / 1000:.1f} us of this machine at a switch, "
                f"{costs.host_ns / 1000:.1f} us at a host; "
                f"a run sends for {sends}"
            )

    def folder(self, plan: Plan) -> Path:
        """Return the folder of a plan's results."""
        return folder_of(self.out, plan.scenario, self.name)

    def run(self, plan: Plan) -> bool:
        """Run a plan, slower once more if that was invalid; return whether there is a result."""
        title = title_of(plan)
        folder = self.folder(plan)
        self.progress.begin(title)
        try:
            dilation = self.dilation or self.world.dilation_for(plan)
            self.world.run(plan, folder, dilation)
            verdict = keep_verdict(folder)
            if verdict.verdict == "INVALID" and self.name != VIRTUAL:
                self.progress.say(f"{title}: {verdict.reason}; again, {SLOWER:g} times slower")
                self.world.run(plan, folder, dilation * SLOWER)
                verdict = keep_verdict(folder)
        except WorkerError as error:
            self.progress.finish(f"{title}: failed: {error}")
            return False
        self.progress.finish(f"{title}: {told(verdict)}")
        return True


def title_of(plan: Plan) -> str:
    """Return what a run is called in the lines about it."""
    return f"{label(plan.scenario)}, seed {plan.scenario.seed}"


def told(verdict: Verdict) -> str:
    """Return a verdict in a line, with the reason and advice if there is something wrong."""
    return verdict.verdict + (f": {verdict.reason}; {verdict.advice}" if verdict.reason else "")


@dataclass(frozen=True, slots=True)
class Calling:
    """How plans are run: the world, its dilation (None: to be chosen), how many at a time.

    `strict` makes an INVALID run as bad as one that failed, `watch` is for worlds that can.
    """

    world: str
    dilation: float | None = None
    jobs: int = 1
    strict: bool = False
    watch: Watch = NOTHING


def run_all(plans: Sequence[Plan], calling: Calling, out: Path) -> int:
    """Run plans, draw what came out, and return the exit code.

    Whatever ends the runs early, what was finished is shown. Then raises UserError or OSError if
    it was one, such as that of a full disk.
    """
    made = topmost_missing(out)
    own = [folder_of(out, plan.scenario, calling.world) for plan in plans]
    failed, stopped, fault = 0, 0, None
    try:
        with RunProgress(len(plans)) as progress:
            if there := others(out, own):
                progress.say(f"{out} has {len(there)} other runs; its tables show them too")
            run = _side_by_side if calling.jobs > 1 else _one_by_one
            failed = run(plans, calling, out, progress)
    except KeyboardInterrupt as stop:
        stopped = code_of(stop)
        print("interrupted; what was finished is kept")
    except (UserError, OSError) as error:
        fault = error
    hand_over(made)
    if any((folder / MANIFEST).exists() for folder in own):
        table = show(out, [plan.scenario for plan in plans])
        failed += calling.strict and _any_invalid(table)
        hand_over(out)
    if fault is not None:
        raise fault
    return stopped or (FAILED if failed else 0)


def _one_by_one(plans: Sequence[Plan], calling: Calling, out: Path, progress: RunProgress) -> int:
    """Run plans one after the other in one world; returns how many failed."""
    world = open_world(calling.world, calling.watch)
    try:
        session = Session(world, calling.world, calling.dilation, out, progress)
        session.introduce(plans[0])
        return sum(not session.run(plan) for plan in plans)
    finally:
        world.close()


def _side_by_side(plans: Sequence[Plan], calling: Calling, out: Path, progress: RunProgress) -> int:
    """Run plans in virtual time, several at a time; returns how many failed."""
    tasks = [(plan, folder_of(out, plan.scenario, calling.world), calling.watch) for plan in plans]
    failed = 0
    for outcome in workers.run_all(run_and_judge, tasks, calling.jobs):
        title = title_of(plans[outcome.number])
        failed += bool(outcome.error)
        said = f"failed: {outcome.error}" if outcome.error else told(outcome.result)
        progress.finish(f"{title}: {said}")
    return failed


def run_and_judge(plan: Plan, folder: Path, watch: Watch) -> Verdict:
    """Run a plan in virtual time on one processor, and keep its verdict."""
    VirtualWorld(watch, threads=1).run(plan, folder, 1.0)
    return keep_verdict(folder)


def plot_again(out: Path, *, strict: bool = False) -> int:
    """Draw the figures of earlier results and return the exit code.

    Raises UserError if there are none.
    """
    runs = find_runs(out)
    table = show(out, [from_toml(run / SCENARIO) for run in runs])
    hand_over(out)
    return FAILED if strict and _any_invalid(table) else 0


def show(out: Path, scenarios: Sequence[Scenario]) -> pd.DataFrame:
    """Write the report of a folder, print its table, and say where everything is.

    Returns a row a run, as in summary.csv, interrupted runs with the verdict `unfinished`.
    """
    known = looks(scenarios)
    report, fault = _reported(out, known)
    rows = summarise(read_all(out)) if report is None else report.table
    table = _without_verdict_on_interrupted(rows, out)
    print_table(table, {name: look.label for name, look in known.items()})
    if fault:
        print(fault)
    if report and report.figures:
        print(f"{len(report.figures)} figures (PDF and PNG): {report.figures[0].parent}")
    if report:
        print(f"All on one page: {report.page}")
    return table


def _reported(out: Path, known: Mapping[str, Look]) -> tuple[Report | None, str]:
    """Write the report of a folder, elsewhere if its disk is full, and say what went wrong."""
    try:
        return write_report(out, known), ""
    except OSError as error:
        fault = f"no report in {out}: {in_words(error)}"
    try:
        elsewhere = Path(tempfile.mkdtemp(prefix="report-"))
        report = write_report(out, known, elsewhere)
    except OSError as error:
        return None, f"{fault}; nor elsewhere: {in_words(error)}"
    hand_over(elsewhere)
    return report, fault


def _without_verdict_on_interrupted(table: pd.DataFrame, out: Path) -> pd.DataFrame:
    runs = [read_run(found) for found in find_runs(out)]
    interrupted = {
        (variant(run.scenario), run.scenario.seed, run.world)
        for run in runs
        if run.manifest["ended"] == "interrupted"
    }
    keys = list(zip(table["variant"], table["seed"], table["world"], strict=True))
    shown = [
        UNFINISHED if key in interrupted and verdict == "INVALID" else verdict
        for key, verdict in zip(keys, table["verdict"], strict=True)
    ]
    return table.assign(verdict=shown)


def _any_invalid(table: pd.DataFrame) -> bool:
    return bool((table["verdict"] == "INVALID").any())


def keep_verdict(folder: Path) -> Verdict:
    """Judge a run and write the verdict into its manifest."""
    verdict = judge(read_run(folder))
    path = folder / MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["verdict"] = asdict(verdict)
    write_whole(path, json.dumps(manifest, indent=2) + "\n")
    return verdict
