"""Finding out before anything runs whether everything can run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.complaints import in_words
from p4.codegen.build import BuildError
from p4.codegen.document import ProgramError
from p4.compiler import CompileError
from p4.engine import EngineError
from testbed.planning import plan_for
from testbed.schemes import trial
from testbed.switches import load_program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.plan import Plan
    from testbed.scenario import Scenario


class InputError(ValueError):
    """Something that the user gave cannot be used; the message names it."""


def prepare(scenarios: Sequence[Scenario], compiler: str = "ours") -> list[Plan]:
    """Make the plans of scenarios and compile their programs with `ours` or `p4c`.

    Raises ScenarioError for scenarios that cannot be, InputError for programs that do not compile
    and files that cannot be read.
    """
    try:
        plans = [_compiled_by(compiler, plan_for(scenario)) for scenario in scenarios]
        for source in dict.fromkeys(source for plan in plans for source in plan.programs.values()):
            load_program(source)
        for plan in plans:
            trial.check(plan)
    except (BuildError, CompileError, EngineError, ProgramError, OSError) as error:
        raise InputError(in_words(error)) from error
    return plans


def _compiled_by(compiler: str, plan: Plan) -> Plan:
    programs = {name: replace(source, compiler=compiler) for name, source in plan.programs.items()}
    return replace(plan, programs=programs)
