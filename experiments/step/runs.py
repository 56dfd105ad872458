"""The runs of a training step: one for each placement, scheme and seed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.fidelity import judge
from analysis.results import read_run
from analysis.training import job_times
from experiments.looks import label
from experiments.progress import RunProgress
from experiments.workers import run_all
from testbed.planning import plan_for
from testbed.scenario import from_toml, to_toml
from testbed.scenario.files import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.scenario import Scenario


def title_of(scenario: Scenario) -> str:
    """Return what runs, in a few words."""
    placed = scenario.workload_options.get("placement", "packed")
    return f"{label(scenario)}, {placed}, seed {scenario.seed}"


def run_step(toml: str) -> list[dict[str, Any]]:
    """Run a scenario given as TOML in virtual time; return a row for each of its jobs."""
    from testbed.virtual import run  # noqa: PLC0415 - builds the event core when first imported

    with tempfile.TemporaryDirectory() as temporary:
        given, folder = Path(temporary) / SCENARIO, Path(temporary) / "run"
        given.write_text(toml, encoding="utf-8")
        run(plan_for(from_toml(given)), folder, threads=1, sample_ps=0)
        result = read_run(folder)
        verdict = judge(result).verdict
        return [
            {str(name): value for name, value in row.items()} | {"verdict": verdict}
            for row in job_times(result).to_dict("records")
        ]


def run_steps(scenarios: Sequence[Scenario], jobs: int) -> tuple[pd.DataFrame, int]:
    """Run scenarios; return a row for each job of each, and how many runs have no result."""
    rows: dict[int, list[dict[str, Any]]] = {}
    with RunProgress(len(scenarios)) as progress:
        for outcome in run_all(run_step, [(to_toml(each),) for each in scenarios], jobs):
            scenario = scenarios[outcome.number]
            progress.begin(title_of(scenario))
            if outcome.error:
                progress.finish(f"{title_of(scenario)}: FAILED: {outcome.error}")
                continue
            progress.finish("")
            told = {
                "placement": scenario.workload_options.get("placement", "packed"),
                "scheme": scenario.scheme,
                "label": label(scenario),
                "seed": scenario.seed,
            }
            rows[outcome.number] = [told | row for row in outcome.result]
    table = pd.DataFrame([row for number in sorted(rows) for row in rows[number]])
    return table, len(scenarios) - len(rows)
