"""A switch's set-up as commands of simple_switch_CLI, one per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError
from p4.codegen.program import Match

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from p4.codegen.program import Key, Program
    from testbed.plan import SwitchSetup, TableEntry

WITH_PRIORITY = {Match.TERNARY, Match.RANGE, Match.OPTIONAL}


def setup_commands(program: Program, setup: SwitchSetup) -> Iterator[str]:
    """Yield the commands that write defaults, entries and registers other than 0.

    Raises UserError if the set-up names a table that the program does not have.
    """
    keys = {table.name: table.keys for table in program.tables}
    for table, (action, arguments) in setup.defaults.items():
        yield " ".join(["table_set_default", table, action, *map(_hex, arguments)])
    for entry in setup.entries:
        if entry.table not in keys:
            raise UserError(f"{program.name} has no table {entry.table}")
        yield _table_add(entry, keys[entry.table])
    for array, values in setup.registers.items():
        for index, value in enumerate(values):
            if value:
                yield f"register_write {array} {index} {value}"


def queue_commands(rates: Mapping[int, int], depth: int) -> Iterator[str]:
    """Yield the commands that set each port's rate in packets/s, and its depth in packets."""
    for port, rate in rates.items():
        yield f"set_queue_rate {rate} {port}"
        yield f"set_queue_depth {depth} {port}"


def _table_add(entry: TableEntry, keys: tuple[Key, ...]) -> str:
    matches = [_match(key, value) for key, value in zip(keys, entry.match, strict=True)]
    words = ["table_add", entry.table, entry.action, *matches, "=>", *map(_hex, entry.parameters)]
    if any(key.match in WITH_PRIORITY for key in keys):
        words.append(str(entry.priority))
    return " ".join(words)


def _match(key: Key, value: int | tuple[int, int]) -> str:
    match key.match, value:
        case Match.LPM, (prefix, length):
            return f"{_hex(prefix)}/{length}"
        case ((Match.TERNARY | Match.OPTIONAL), (wanted, mask)):
            return f"{_hex(wanted)}&&&{_hex(mask)}"
        case Match.RANGE, (low, high):
            return f"{_hex(low)}->{_hex(high)}"
        case Match.EXACT, int():
            return _hex(value)
    raise UserError(f"key {key.name}: {value} is no {key.match.name.lower()} match")


def _hex(value: int) -> str:
    return f"{value:#x}"
