"""Entries of a switch as the p4lang tutorials write them: sN-runtime.json.

Values are written as numbers, IPv4 or Ethernet addresses, one per key field by its P4 name. In
these files the greater priority wins, as in P4Runtime; a plan's smaller one wins.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from p4.codegen.program import Match
from testbed.exchange.document import ExchangeError, member, read_json
from testbed.plan import SwitchSetup, TableEntry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p4.codegen.program import Action, Key, Program, Table

HIGHEST_PRIORITY = (1 << 31) - 1
_MAC = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")


@dataclass(frozen=True, slots=True)
class Replica:
    """A copy that a multicast group or clone session sends to `port`."""

    port: int
    instance: int


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the file sets: tables, multicast groups and clone sessions by their numbers."""

    setup: SwitchSetup
    groups: Mapping[int, tuple[Replica, ...]]
    sessions: Mapping[int, tuple[Replica, ...]]


def read_runtime(path: Path, program: Program) -> Runtime:
    """Read a file of entries for `program`; raises ExchangeError naming file, entry and cause."""
    document = read_json(path)
    entries: list[TableEntry] = []
    defaults: dict[str, tuple[str, tuple[int, ...]]] = {}
    for number, raw in enumerate(document.get("table_entries", ()), 1):
        place = f"{path}: table entry {number}"
        table = _table(place, program, member(raw, "table", str, place))
        action = _action(place, program, table, member(raw, "action_name", str, place))
        arguments = _arguments(f"{place} ({table.name})", action, raw.get("action_params", {}))
        if raw.get("default_action"):
            defaults[table.name] = (action.name, arguments)
        else:
            entries.append(_entry(f"{place} ({table.name})", table, action, arguments, raw))
    return Runtime(
        SwitchSetup(entries, defaults),
        _replicas(document, "multicast_group_entries", "multicast_group_id", str(path)),
        _replicas(document, "clone_session_entries", "clone_session_id", str(path)),
    )


def number(place: str, value: Any, bits: int) -> int:
    """Return a value that stands as a number, an address or [value]; ExchangeError otherwise."""
    match value:
        case [only]:
            return number(place, only, bits)
        case bool():
            result = int(value)
        case int():
            result = value % (1 << bits) if -(1 << bits - 1) <= value < 0 else value
        case str():
            result = _from_text(place, value)
        case _:
            raise ExchangeError(f"{place}: {value!r} is no value")
    if not 0 <= result < 1 << bits:
        raise ExchangeError(f"{place}: {value} does not fit {bits} bits")
    return result


def _from_text(place: str, text: str) -> int:
    if _MAC.fullmatch(text):
        return int(text.replace(":", ""), 16)
    try:
        return int(ipaddress.ip_address(text))
    except ValueError:
        pass
    try:
        return int(text, 0)
    except ValueError:
        raise ExchangeError(f"{place}: {text!r} is neither a number nor an address") from None


def _table(place: str, program: Program, name: str) -> Table:
    found = [table for table in program.tables if _is_called(table.name, name)]
    if len(found) != 1:
        raise ExchangeError(f"{place}: the program has no table {name}")
    return found[0]


def _action(place: str, program: Program, table: Table, name: str) -> Action:
    for index in table.actions:
        if _is_called(program.actions[index].name, name):
            return program.actions[index]
    raise ExchangeError(f"{place}: table {table.name} has no action {name}")


def _is_called(full: str, name: str) -> bool:
    """Let a name stand without the names of the controls around it."""
    return full == name or full.endswith("." + name)


def _arguments(place: str, action: Action, raw: Mapping[str, Any]) -> tuple[int, ...]:
    wanted, given = [p.name for p in action.parameters], list(raw)
    if sorted(wanted) != sorted(given):
        raise ExchangeError(f"{place}: {action.name} takes {wanted}, not {given}")
    return tuple(number(f"{place}: {p.name}", raw[p.name], p.bits) for p in action.parameters)


def _entry(
    place: str, table: Table, action: Action, arguments: tuple[int, ...], raw: Mapping[str, Any]
) -> TableEntry:
    match = raw.get("match") or {}
    unknown = set(match) - {key.name for key in table.keys}
    if unknown:
        raise ExchangeError(f"{place}: the table has no key {unknown.pop()}")
    keys = tuple(_key(f"{place}: {key.name}", key, match.get(key.name)) for key in table.keys)
    priority = HIGHEST_PRIORITY - int(raw.get("priority", 0))
    return TableEntry(table.name, keys, action.name, arguments, priority)


def _key(place: str, key: Key, raw: Any) -> int | tuple[int, int]:
    if raw is None:
        return _any(place, key)
    ones = (1 << key.bits) - 1
    match key.match, raw:
        case Match.EXACT, _:
            return number(place, raw, key.bits)
        case Match.LPM, [prefix, int(length)] if 0 <= length <= key.bits:
            return number(place, prefix, key.bits) & ~(ones >> length) & ones, length
        case Match.TERNARY, [value, mask]:
            bits = number(place, mask, key.bits)
            return number(place, value, key.bits) & bits, bits
        case ((Match.TERNARY | Match.OPTIONAL), _):
            return number(place, raw, key.bits), ones
        case Match.RANGE, [low, high]:
            return number(place, low, key.bits), number(place, high, key.bits)
    raise ExchangeError(f"{place}: {raw!r} is no {key.match.name.lower()} match")


def _any(place: str, key: Key) -> tuple[int, int]:
    if key.match is Match.EXACT:
        raise ExchangeError(f"{place}: an exact key needs a value")
    return 0, (1 << key.bits) - 1 if key.match is Match.RANGE else 0


def _replicas(
    document: Mapping[str, Any], section: str, key: str, place: str
) -> dict[int, tuple[Replica, ...]]:
    return {
        member(raw, key, int, f"{place}: {section}"): tuple(
            Replica(int(one["egress_port"]), int(one.get("instance", 0)))
            for one in member(raw, "replicas", list, f"{place}: {section}")
        )
        for raw in document.get(section, ())
    }
