"""Giving a switch what its file of entries says, on trial first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError
from p4.engine import EngineError, Recorder, Switch
from testbed.exchange.runtime import read_runtime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4.engine import Program
    from testbed.exchange.runtime import Replica, Runtime

FIRST_COPIES_GROUP = 1 << 16  # groups for clone sessions, above all that a program can name


def rehearsed(file: Path, program: Program) -> Runtime:
    """Read a switch's entries and try them on one without ports; raises UserError."""
    runtime = read_runtime(file, program.model)
    try:
        fill(Switch(program, Recorder()), runtime)
    except EngineError as error:
        raise UserError(f"{file}: {error}") from None
    return runtime


def fill(engine: Switch, runtime: Runtime) -> None:
    """Give a switch its entries, groups and sessions; raises EngineError."""
    for table, (action, arguments) in runtime.setup.defaults.items():
        engine.table_set_default(table, action, arguments)
    for entry in runtime.setup.entries:
        engine.table_add(entry.table, entry.match, entry.action, entry.parameters, entry.priority)
    for group, copies in runtime.groups.items():
        engine.group_set(group, _pairs(copies))
    for session, copies in runtime.sessions.items():
        engine.group_set(FIRST_COPIES_GROUP + session, _pairs(copies))
        engine.mirror_set(session, group=FIRST_COPIES_GROUP + session)


def _pairs(copies: Sequence[Replica]) -> list[tuple[int, int]]:
    return [(copy.port, copy.instance) for copy in copies]
