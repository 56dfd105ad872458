"""What is run: both algorithms at all sizes, trees under several schemes, and a slow host."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from experiments.points import run_point
from experiments.progress import RunProgress
from experiments.workers import run_all
from testbed.scenario import to_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.scenario import Scenario

RING, TREE = "ring", "double-tree"
ALGORITHMS = (RING, TREE)
SIZES, SPINE, SLOW = "sizes", "spine", "slow"
LEAST_SENT = 2  # bytes a tree needs


@dataclass(frozen=True, slots=True)
class Case:
    """A run, what it is for, and how ranks are placed."""

    purpose: str
    scenario: Scenario

    @property
    def title(self) -> str:
        """What runs, in a few words."""
        scenario = self.scenario
        return f"{scenario.workload} {scenario.message_bytes:,} B {scenario.scheme}"

    @property
    def row(self) -> dict[str, Any]:
        """What tells it from the others."""
        scenario = self.scenario
        return {
            "purpose": self.purpose,
            "algorithm": scenario.workload,
            "scheme": scenario.scheme,
            "bytes": scenario.message_bytes,
            "placement": scenario.workload_options.get("placement", "in-order"),
        }


def cases(
    base: Scenario, sizes: Sequence[int], schemes: Sequence[str], slow: str, spine_bytes: int
) -> list[Case]:
    """List all runs."""

    def case(purpose: str, algorithm: str, **changes: Any) -> Case:
        options = dict(base.workload_options) | changes.pop("options", {})
        if algorithm == RING:
            options.pop("chunk")
        changes = {"workload": algorithm, "workload_options": options, **changes}
        return Case(purpose, replace(base, **changes))

    found = [
        case(SIZES, algorithm, message_bytes=max(size, LEAST_SENT))
        for size in sizes
        for algorithm in ALGORITHMS
    ]
    found += [
        case(SPINE, TREE, message_bytes=spine_bytes, scheme=scheme, options={"placement": place})
        for place in ("in-order", "random")
        for scheme in schemes
    ]
    if slow:
        found += [
            case(SLOW, algorithm, message_bytes=max(size, LEAST_SENT), options={"slow": slow})
            for size in sizes
            for algorithm in ALGORITHMS
        ]
    return found


def run(found: Sequence[Case], jobs: int) -> tuple[pd.DataFrame, int]:
    """Run the cases; return a row a case that has a result, and how many have none."""
    rows: dict[int, dict[str, Any]] = {}
    with RunProgress(len(found)) as progress:
        for outcome in run_all(run_point, [(to_toml(case.scenario),) for case in found], jobs):
            case = found[outcome.number]
            progress.begin(case.title)
            if outcome.error:
                progress.finish(f"{case.title}: FAILED: {outcome.error}")
                continue
            progress.finish("")
            row = outcome.result
            rows[outcome.number] = case.row | {
                name: row[name] for name in ("cct_us", "cct_bound_us", "verdict")
            }
    table = pd.DataFrame([rows[number] for number in sorted(rows)])
    return table, len(found) - len(rows)
