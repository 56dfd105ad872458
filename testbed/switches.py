"""A plan's switches in the event core: compiled programs, and what the control plane writes."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from p4.engine import Program, Switch
from testbed.streams import stream_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from testbed.dataplane import Dataplane
    from testbed.plan import Plan, ProgramSource, SwitchSetup, TableEntry
    from testbed.planning import SwitchChange


@cache
def load_program(source: ProgramSource) -> Program:
    """Return a plan's program, compiled and loaded, or from the caches.

    Raises the P4 compiler's or the C compiler's error.
    """
    return Program.load(
        source.path,
        defines=dict(source.defines),
        include_paths=source.includes,
        compiler=source.compiler,
    )


def make_switches(dataplane: Dataplane, plan: Plan) -> dict[str, Switch]:
    """Make all switches of a plan with their tables and registers; return them by name.

    They live as long as the dataplane. Raises EngineError where the plan does not fit a program.
    """
    switches: dict[str, Switch] = {}
    numbers = {plan.topology.nodes[number].name: number for number in plan.topology.switches}
    for source in dict.fromkeys(plan.programs.values()):
        program = load_program(source)
        names = [name for name, own in plan.programs.items() if own == source]
        nodes = [numbers[name] for name in names]
        seeds = [stream_seed(plan.scenario.seed, "switches", node) for node in nodes]
        address = int(program.ffi.cast("uintptr_t", program.pointer))
        made = dataplane.add_switches(address, nodes, np.array(seeds, dtype=np.uint64))
        for name, place in zip(names, made, strict=True):
            switches[name] = Switch.at(program, int(place))
    for name, setup in plan.setups.items():
        write_setup(switches[name], setup, switches)
    return switches


def write_setup(switch: Switch, setup: SwitchSetup, others: Mapping[str, Switch]) -> None:
    """Write entries, defaults and registers; `others` are those whose tables may be shared."""
    for table in dict.fromkeys(entry.table for entry in setup.entries):
        switch.table_add_many(table, _calls(e for e in setup.entries if e.table == table))
    for table, owner in setup.shared.items():
        switch.share_table(table, others[owner])
    for table, (action, parameters) in setup.defaults.items():
        switch.table_set_default(table, action, parameters)
    for register, values in setup.registers.items():
        switch.register_write(register, slice(0, len(values)), list(values))


def rewrite(switch: Switch, change: SwitchChange) -> None:
    """Change what is written in a switch, as routing does when links go down or come up."""
    for entry in change.remove:
        for written in switch.table_entries(entry.table):
            if written.match == entry.match:
                switch.table_delete(entry.table, written.handle)
    for entry in change.add:
        switch.table_add(entry.table, entry.match, entry.action, entry.parameters, entry.priority)
    for table, (action, parameters) in change.defaults.items():
        switch.table_set_default(table, action, parameters)


def _calls(
    entries: Iterable[TableEntry],
) -> list[tuple[tuple[int | tuple[int, int], ...], str, tuple[int, ...], int]]:
    return [(entry.match, entry.action, entry.parameters, entry.priority) for entry in entries]
