"""Entries of a switch as the p4lang tutorials write them: sN-runtime.json.

Values are written as numbers, IPv4 or Ethernet addresses, one per key field by its P4 name. In
these files the greater priority wins, as in P4Runtime; a plan's smaller one wins.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from p4.codegen.program import Match
from testbed.exchange import forms
from testbed.exchange.forms import HIGHEST_PRIORITY, MAC, place, shown, wrong
from testbed.plan import SwitchSetup, TableEntry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from p4.codegen.program import Action, Key, Program, Table

WITH_PRIORITY = {Match.TERNARY, Match.RANGE, Match.OPTIONAL}


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
    """Read a file of entries and hold it against `program`.

    Raises UserError naming the file, the member, its value and what was wanted.
    """
    form = forms.read(path, forms.Runtime)
    reader = _Reader(path, program)
    for number, entry in enumerate(form.table_entries):
        reader.add(number, entry)
    groups = {
        "multicast_group_entries": [
            (group.multicast_group_id, group.replicas) for group in form.multicast_group_entries
        ],
        "clone_session_entries": [
            (session.clone_session_id, session.replicas) for session in form.clone_session_entries
        ],
    }
    copies = {section: _copies(path, section, numbered) for section, numbered in groups.items()}
    return Runtime(
        SwitchSetup(reader.entries, reader.defaults),
        copies["multicast_group_entries"],
        copies["clone_session_entries"],
    )


class _Reader:
    """Holds the entries of one file against the program's tables, one after the other."""

    def __init__(self, path: Path, program: Program) -> None:
        self._path = path
        self._program = program
        self.entries: list[TableEntry] = []
        self.defaults: dict[str, tuple[str, tuple[int, ...]]] = {}
        self._numbers: dict[object, int] = {}
        self._count: dict[str, int] = {}

    def add(self, number: int, form: forms.TableEntry) -> None:
        """Take the file's next entry or default action."""
        where = ("table_entries", number)
        table = self._table(where, form.table)
        action = self._action(where, table, form.action_name)
        arguments = self._arguments(where, action, form.action_params)
        if form.default_action:
            self._set_default(where, table, action, arguments)
            return
        keys = self._keys(where, table, form.match or {})
        priority = self._priority(where, table, form.priority)
        self._check_place(where, table, (table.name, keys, priority))
        rank = HIGHEST_PRIORITY - priority
        self.entries.append(TableEntry(table.name, keys, action.name, arguments, rank))

    def _table(self, where: tuple[str, int], name: str) -> Table:
        tables = self._program.tables
        found = [table for table in tables if _is_called(table.name, name)]
        if len(found) != 1:
            which = f"there is no such table; {_listed([table.name for table in tables])}"
            if found:
                which = f"there are several: {', '.join(table.name for table in found)}"
            raise wrong(self._path, (*where, "table"), name, which)
        if found[0].profile:
            reason = f"its entries are members of the action profile {found[0].profile}, which "
            raise wrong(self._path, (*where, "table"), name, reason + "such files cannot fill")
        return found[0]

    def _action(self, where: tuple[str, int], table: Table, name: str) -> Action:
        actions = [self._program.actions[index] for index in table.actions]
        for action in actions:
            if _is_called(action.name, name):
                return action
        which = _listed([action.name for action in actions])
        reason = f"table {table.name} has no such action; {which}"
        raise wrong(self._path, (*where, "action_name"), name, reason)

    def _arguments(
        self, where: tuple[str, int], action: Action, raw: Mapping[str, Any]
    ) -> tuple[int, ...]:
        wanted = [parameter.name for parameter in action.parameters]
        if sorted(wanted) != sorted(raw):
            reason = f"{action.name} takes {', '.join(wanted) or 'nothing'}"
            raise wrong(self._path, (*where, "action_params"), list(raw), reason)
        return tuple(
            self._number((*where, "action_params", parameter.name), raw[parameter.name], parameter)
            for parameter in action.parameters
        )

    def _set_default(
        self, where: tuple[str, int], table: Table, action: Action, arguments: tuple[int, ...]
    ) -> None:
        if table.default_constant:
            reason = "its default action is constant in the program"
            raise wrong(self._path, (*where, "table"), table.name, reason)
        self._note(where, ("default of", table.name), f"the default action of {table.name}")
        self.defaults[table.name] = (action.name, arguments)

    def _keys(
        self, where: tuple[str, int], table: Table, raw: Mapping[str, Any]
    ) -> tuple[int | tuple[int, int], ...]:
        names = [key.name for key in table.keys]
        for name, value in raw.items():
            if name not in names:
                reason = f"table {table.name} has no such key; {_listed(names)}"
                raise wrong(self._path, (*where, "match", name), value, reason)
        return tuple(
            self._key((*where, "match", key.name), key, raw.get(key.name)) for key in table.keys
        )

    def _key(self, where: Sequence[str | int], key: Key, raw: Any) -> int | tuple[int, int]:
        ones = (1 << key.bits) - 1
        match key.match, raw:
            case Match.EXACT, None:
                raise UserError(f"{self._path}: {place(*where)} is missing: the key is exact")
            case _, None:
                return 0, ones if key.match is Match.RANGE else 0
            case Match.EXACT, ([_] | int() | str()):
                return self._number(where, raw, key)
            case Match.LPM, [prefix, int(length)] if 0 <= length <= key.bits:
                return self._number(where, prefix, key) & ~(ones >> length) & ones, length
            case Match.TERNARY, [value, mask]:
                bits = self._number(where, mask, key)
                return self._number(where, value, key) & bits, bits
            case ((Match.TERNARY | Match.OPTIONAL), ([_] | int() | str())):
                return self._number(where, raw, key), ones
            case Match.RANGE, [low, high]:
                ends = self._number(where, low, key), self._number(where, high, key)
                if ends[0] <= ends[1]:
                    return ends
        raise wrong(self._path, where, raw, _form_of(key))

    def _number(self, where: Sequence[str | int], raw: Any, field: Any) -> int:
        value = raw[0] if isinstance(raw, list) else raw
        number = _parsed(value, field.bits)
        if number is None or not 0 <= number < 1 << field.bits:
            reason = f"it should be a number of {field.bits} bits{_address_too(field.bits)}"
            raise wrong(self._path, where, raw, reason)
        return number

    def _priority(self, where: tuple[str, int], table: Table, raw: int | None) -> int:
        matters = any(key.match in WITH_PRIORITY for key in table.keys)
        if matters and not raw:
            reason = f"entries of table {table.name} have one, from 1; the greatest wins"
            if raw is None:
                path = place(*where, "priority")
                raise UserError(f"{self._path}: {path} is missing: {reason}")
            raise wrong(self._path, (*where, "priority"), raw, reason)
        if raw and not matters:
            reason = f"entries of table {table.name} have none: leave it out"
            raise wrong(self._path, (*where, "priority"), raw, reason)
        return raw or 0

    def _check_place(self, where: tuple[str, int], table: Table, entry: object) -> None:
        if table.entries_constant:
            reason = "its entries are constant in the program"
            raise wrong(self._path, (*where, "table"), table.name, reason)
        if not table.keys:
            reason = "it has no key: only its default action can be set"
            raise wrong(self._path, (*where, "table"), table.name, reason)
        self._note(where, entry, f"an entry of table {table.name} with the same key")
        count = self._count[table.name] = self._count.get(table.name, len(table.entries)) + 1
        if count > table.size:
            reason = f"it is full: the program gives it room for {table.size} entries"
            raise wrong(self._path, (*where, "table"), table.name, reason)

    def _note(self, where: tuple[str, int], thing: object, what: str) -> None:
        """Remember what an entry sets; complain if an earlier one sets the same."""
        first = self._numbers.setdefault(thing, where[1])
        if first != where[1]:
            earlier = place("table_entries", first)
            raise UserError(f"{self._path}: {place(*where)}: {what} is at {earlier} already")


def _is_called(full: str, name: str) -> bool:
    """Let a name stand without the names of the controls around it."""
    return full == name or full.endswith("." + name)


def _listed(names: Sequence[str]) -> str:
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names) or 'none'}"


def _form_of(key: Key) -> str:
    match key.match:
        case Match.EXACT:
            return f"an exact key is a number of {key.bits} bits{_address_too(key.bits)}"
        case Match.LPM:
            return f"an lpm key is [prefix, length], with a length of 0 to {key.bits}"
        case Match.TERNARY:
            return "a ternary key is [value, mask], or a value"
        case Match.RANGE:
            return "a range key is [low, high], with low up to high"
        case _:
            return "an optional key is a value"


def _address_too(bits: int) -> str:
    return {
        32: ", or an IPv4 address",
        48: ", or an Ethernet address",
        128: ", or an IPv6 address",
    }.get(bits, "")


def _parsed(value: int | str, bits: int) -> int | None:
    """Return what a value says, None where it says nothing for a field of that width."""
    if isinstance(value, int):
        return int(value)
    if MAC.fullmatch(value):
        return int(value.replace(":", ""), 16) if bits == 48 else None
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        pass
    else:
        return int(address) if bits == address.max_prefixlen else None
    try:
        return int(value, 0)
    except ValueError:
        return None


def _copies(
    path: Path, section: str, numbered: Sequence[tuple[int, Sequence[forms.Replica]]]
) -> dict[int, tuple[Replica, ...]]:
    """Return the copies of groups or sessions by number; each number and each copy stands once."""
    found: dict[int, tuple[Replica, ...]] = {}
    for index, (number, replicas) in enumerate(numbered):
        if number in found:
            what = f"{shown(number)} has its copies already"
            raise UserError(f"{path}: {place(section, index)}: {what}")
        copies = tuple(Replica(copy.egress_port, copy.instance) for copy in replicas)
        for place_of, copy in enumerate(copies):
            if copy in copies[:place_of]:
                where = place(section, index, "replicas", place_of)
                what = f"port {copy.port}, instance {copy.instance} stands before"
                raise UserError(f"{path}: {where}: {what}; copies differ in one of them")
        found[number] = copies
    return found
