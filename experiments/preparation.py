"""Finding out before anything runs whether everything can run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from testbed.planning import plan_for
from testbed.schemes import trial
from testbed.switches import load_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.plan import Plan
    from testbed.scenario import Scenario


def prepare(scenarios: Sequence[Scenario], compiler: str = "ours") -> list[Plan]:
    """Make the plans of scenarios and compile their programs with `ours` or `p4c`.

    Raises UserError for scenarios that cannot be and programs that do not compile, OSError for
    files that cannot be read.
    """
    plans = [_compiled_by(compiler, plan_for(scenario)) for scenario in scenarios]
    for source in dict.fromkeys(source for plan in plans for source in plan.programs.values()):
        load_program(source)
    for plan in plans:
        trial.check(plan)
    return plans


def _compiled_by(compiler: str, plan: Plan) -> Plan:
    programs = {name: replace(source, compiler=compiler) for name, source in plan.programs.items()}
    return replace(plan, programs=programs)
