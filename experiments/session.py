"""One call of run.py: runs, their verdicts, and what is shown in the end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from analysis.fidelity import judge
from analysis.report import write_report
from analysis.results import find_runs, read_run
from errors import FAILED, code_of
from experiments.looks import label, looks
from experiments.out import folder_of, others
from experiments.ownership import hand_over, topmost_missing
from experiments.progress import RunProgress, duration
from experiments.table import UNFINISHED, print_table
from experiments.work import sending_seconds
from experiments.world import World, open_world
from testbed.mininet.worker import WorkerError
from testbed.scenario import from_toml, variant
from testbed.scenario.files import MANIFEST, SCENARIO, VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from analysis.fidelity import Verdict
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
        scenario = plan.scenario
        title = f"{label(scenario)}, seed {scenario.seed}"
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
        reason = f": {verdict.reason}; {verdict.advice}" if verdict.reason else ""
        self.progress.finish(f"{title}: {verdict.verdict}{reason}")
        return True


def run_all(
    plans: Sequence[Plan],
    world_name: str,
    dilation: float | None,
    out: Path,
    *,
    strict: bool = False,
    watch: Sequence[int] | str = (),
) -> int:
    """Run plans one after the other, draw what came out, and return the exit code.

    `strict` makes an INVALID run as bad as one that failed, `watch` is for worlds that can.
    """
    world = open_world(world_name, watch)
    made = topmost_missing(out)
    failed, stopped = 0, 0
    try:
        with RunProgress(len(plans)) as progress:
            session = Session(world, world_name, dilation, out, progress)
            own = [session.folder(plan) for plan in plans]
            if there := others(out, own):
                progress.say(f"{out} has {len(there)} other runs; its tables show them too")
            session.introduce(plans[0])
            for plan in plans:
                failed += not session.run(plan)
    except KeyboardInterrupt as stop:
        stopped = code_of(stop)
        print("interrupted; what was finished is kept")
    finally:
        world.close()
        hand_over(made)
    if failed < len(plans) and any(out.glob(f"*/{MANIFEST}")):
        table = show(out, [plan.scenario for plan in plans])
        failed += strict and _any_invalid(table)
        hand_over(out)
    return stopped or (FAILED if failed else 0)


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
    report = write_report(out, looks(scenarios))
    table = _without_verdict_on_interrupted(report.table, out)
    print_table(table, {name: look.label for name, look in looks(scenarios).items()})
    if report.figures:
        print(f"{len(report.figures)} figures (PDF and PNG): {report.figures[0].parent}")
    print(f"All on one page: {report.page}")
    return table


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
    path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return verdict
