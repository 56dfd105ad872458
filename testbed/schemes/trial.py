"""Trying what a user's scheme writes into switches, so that a wrong name is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from p4.engine import EngineError, Switch
from testbed.plan import SwitchSetup
from testbed.schemes import files
from testbed.switches import load_program, write_setup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from testbed.plan import Plan


def check(plan: Plan) -> None:
    """Write the state of a switch of each tier, one item at a time; nothing for our own schemes.

    Raises UserError naming the user's file and line for a table, action or register that the
    program does not have, and for values that do not fit.
    """
    if not plan.scenario.scheme_file:
        return
    program = Path(plan.scenario.scheme_file)
    tiers = {plan.topology.nodes[number].tier: number for number in plan.topology.switches}
    for number in tiers.values():
        name = plan.topology.nodes[number].name
        if plan.programs[name].path.resolve() != program.resolve():
            continue
        switch = Switch(load_program(plan.programs[name]))
        for table, key, item in _items(plan.setups[name]):
            try:
                write_setup(switch, item, {})
            except EngineError as error:
                raise files.fault(program, table, key, str(error)) from None
        switch.close()


def _items(setup: SwitchSetup) -> Iterator[tuple[str, str, SwitchSetup]]:
    for table, call in setup.defaults.items():
        yield "defaults", table, SwitchSetup(defaults={table: call})
    for register, values in setup.registers.items():
        yield "registers", register, SwitchSetup(registers={register: values})
