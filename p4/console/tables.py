"""The prompt's commands on tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.program import Match
from p4.codegen.symbols import find
from p4.console.values import ConsoleError, format_match, parse_match, parse_number
from p4.engine import GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4.codegen.symbols import KeyInfo, MatchValue, TableInfo
    from p4.engine import Entry, Switch

ARROW = "=>"


class TableCommands:
    """Tables, their entries and default actions."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self._symbols = switch.program.symbols

    def _table(self, name: str) -> TableInfo:
        return find(self._symbols.tables, name, "table")

    def _indirect(self, name: str, *, with_groups: bool) -> TableInfo:
        table = self._table(name)
        if table.profile is None:
            raise ConsoleError(f"table {table.name} has no action profile")
        if with_groups:
            profile = find(self._symbols.profiles, table.profile, "action profile")
            if not profile.selects:
                raise ConsoleError(f"action profile {profile.name} has no selector")
        return table

    def do_show_tables(self) -> str:
        """Usage: show_tables."""
        return "\n".join(_describe(table) for table in self._symbols.tables if table.keys)

    def do_show_actions(self) -> str:
        """Usage: show_actions."""
        lines = []
        for action in self._symbols.actions:
            parameters = ", ".join(f"{p.name}({p.bits})" for p in action.parameters)
            lines.append(f"{action.name} [{parameters}]")
        return "\n".join(dict.fromkeys(lines))

    def do_table_show_actions(self, table: str) -> str:
        """Usage: table_show_actions TABLE."""
        return "\n".join(
            f"{action.name} [{', '.join(f'{p.name}({p.bits})' for p in action.parameters)}]"
            for action in self._table(table).actions
        )

    def do_table_info(self, table: str) -> str:
        """Usage: table_info TABLE."""
        info = self._table(table)
        names = ", ".join(action.name for action in info.actions)
        return f"{_describe(info)}\nactions: {names}"

    def do_table_num_entries(self, table: str) -> str:
        """Usage: table_num_entries TABLE."""
        return str(self.switch.table_count(table))

    # Entries --------------------------------------------------------------------------------

    def do_table_add(self, table: str, action: str, *words: str) -> str:
        """Usage: table_add TABLE ACTION MATCH ... => PARAMETER ... [PRIORITY]."""
        info = self._table(table)
        found = self.switch.program.action(info, action)
        return self._add(info, found.name, words, len(found.parameters))

    def _add(
        self, info: TableInfo, action: str | int, words: Sequence[str], parameters: int
    ) -> str:
        matches, rest = _split(words, len(info.keys), f"table {info.name}")
        priority, rest = _priority(info, rest, parameters)
        numbers = [parse_number(text) for text in rest]
        handle = self.switch.table_add(
            info.name, _matches(info, matches), action, numbers, priority
        )
        return f"Entry has been added with handle {handle}"

    def do_table_indirect_add(self, table: str, *words: str) -> str:
        """Usage: table_indirect_add TABLE MATCH ... => MEMBER [PRIORITY]."""
        return self._indirect_add(self._indirect(table, with_groups=False), words, 0)

    def do_table_indirect_add_with_group(self, table: str, *words: str) -> str:
        """Usage: table_indirect_add_with_group TABLE MATCH ... => GROUP [PRIORITY]."""
        return self._indirect_add(self._indirect(table, with_groups=True), words, GROUP)

    def _indirect_add(self, info: TableInfo, words: Sequence[str], flag: int) -> str:
        matches, rest = _split(words, len(info.keys), f"table {info.name}")
        if not rest:
            raise ConsoleError("needs a member or group after =>")
        number = _member(rest[0]) + flag
        return self._add(info, number, [*matches, ARROW, *rest[1:]], 0)

    def do_table_modify(self, table: str, action: str, handle: str, *words: str) -> str:
        """Usage: table_modify TABLE ACTION HANDLE [=>] [PARAMETER ...]."""
        numbers = [parse_number(text) for text in words if text != ARROW]
        self.switch.table_modify(table, parse_number(handle), action, numbers)
        return ""

    def do_table_delete(self, table: str, handle: str) -> str:
        """Usage: table_delete TABLE HANDLE."""
        self.switch.table_delete(table, parse_number(handle))
        return ""

    def do_table_indirect_delete(self, table: str, handle: str) -> str:
        """Usage: table_indirect_delete TABLE HANDLE."""
        info = self._indirect(table, with_groups=False)
        self.switch.table_delete(info.name, parse_number(handle))
        return ""

    def do_table_clear(self, table: str) -> str:
        """Usage: table_clear TABLE."""
        self.switch.table_clear(table)
        return ""

    # Default actions ------------------------------------------------------------------------

    def do_table_set_default(self, table: str, action: str, *words: str) -> str:
        """Usage: table_set_default TABLE ACTION [PARAMETER ...]."""
        numbers = [parse_number(text) for text in words if text != ARROW]
        self.switch.table_set_default(table, action, numbers)
        return ""

    def do_table_reset_default(self, table: str) -> str:
        """Usage: table_reset_default TABLE."""
        self.switch.table_reset_default(table)
        return ""

    def do_table_indirect_set_default(self, table: str, member: str) -> str:
        """Usage: table_indirect_set_default TABLE MEMBER."""
        info = self._indirect(table, with_groups=False)
        self.switch.table_set_default(info.name, _member(member))
        return ""

    def do_table_indirect_set_default_with_group(self, table: str, group: str) -> str:
        """Usage: table_indirect_set_default_with_group TABLE GROUP."""
        info = self._indirect(table, with_groups=True)
        self.switch.table_set_default(info.name, _member(group) + GROUP)
        return ""

    def do_table_indirect_reset_default(self, table: str) -> str:
        """Usage: table_indirect_reset_default TABLE."""
        self.switch.table_reset_default(self._indirect(table, with_groups=False).name)
        return ""

    # What there is --------------------------------------------------------------------------

    def do_table_dump(self, table: str) -> str:
        """Usage: table_dump TABLE."""
        info = self._table(table)
        lines = [_entry_line(info, entry) for entry in self.switch.table_entries(info.name)]
        default = self.switch.table_default(info.name)
        if default is not None:
            lines.append(f"default: {_action_text(default)}")
        return "\n".join(lines) or "no entries"

    def do_table_dump_entry(self, table: str, handle: str) -> str:
        """Usage: table_dump_entry TABLE HANDLE."""
        info, number = self._table(table), parse_number(handle)
        for entry in self.switch.table_entries(info.name):
            if entry.handle == number:
                return _entry_line(info, entry)
        raise ConsoleError(f"table {info.name} has no entry {handle}")

    def do_table_dump_entry_from_key(self, table: str, *words: str) -> str:
        """Usage: table_dump_entry_from_key TABLE MATCH ... [PRIORITY]."""
        info = self._table(table)
        matches, rest = _split(words, len(info.keys), f"table {info.name}")
        priority, rest = _priority(info, rest, 0)
        if rest:
            raise ConsoleError(f"table {info.name}: {len(info.keys)} key fields, got more")
        wanted = [_canonical(v) for v in zip(info.keys, _matches(info, matches), strict=True)]
        for entry in self.switch.table_entries(info.name):
            key = [_canonical(v) for v in zip(info.keys, entry.match, strict=True)]
            if key == wanted and priority in {None, entry.priority}:
                return _entry_line(info, entry)
        raise ConsoleError(f"table {info.name} has no such entry")


def _split(words: Sequence[str], keys: int, what: str) -> tuple[list[str], list[str]]:
    """Split words into match values and what follows them."""
    items = list(words)
    if ARROW in items:
        place = items.index(ARROW)
        matches, rest = items[:place], items[place + 1 :]
    else:
        matches, rest = items[:keys], items[keys:]
    if len(matches) != keys:
        raise ConsoleError(f"{what}: {len(matches)} match values for {keys} key fields")
    return matches, rest


def _priority(
    info: TableInfo, words: Sequence[str], parameters: int
) -> tuple[int | None, list[str]]:
    """Split the priority, which entries of some tables want, from what stands before it."""
    if not info.needs_priority:
        return None, list(words)
    if len(words) == parameters:
        raise ConsoleError(
            f"table {info.name}: an entry ends with its priority, of which the smaller wins"
        )
    if not words:
        raise ConsoleError(f"table {info.name}: parameters and a priority are missing")
    return parse_number(words[-1]), list(words[:-1])


def _matches(info: TableInfo, words: Sequence[str]) -> list[MatchValue]:
    return [parse_match(key, text) for key, text in zip(info.keys, words, strict=True)]


def _canonical(item: tuple[KeyInfo, MatchValue]) -> MatchValue:
    """Return a match value without bits that do not count, one way for each meaning."""
    key, value = item
    full = (1 << key.bits) - 1
    if key.match is Match.LPM and isinstance(value, tuple):
        return value[0] >> (key.bits - value[1]) << (key.bits - value[1]), value[1]
    if isinstance(value, int):
        value = {Match.TERNARY: (value, full), Match.RANGE: (value, value)}.get(key.match, value)
    if value is None:
        return {Match.TERNARY: (0, 0), Match.RANGE: (0, full)}.get(key.match)
    if key.match is Match.TERNARY and isinstance(value, tuple):
        return value[0] & value[1], value[1]
    return value


def _member(text: str) -> int:
    """Return a member's or group's number."""
    number = parse_number(text)
    if not 0 <= number < GROUP:
        raise ConsoleError(f"`{text}` is no member or group")
    return number


def _describe(table: TableInfo) -> str:
    keys = ", ".join(f"{key.name}({key.match.name.lower()}, {key.bits})" for key in table.keys)
    return f"{table.name} [{keys}] of {table.size}"


def _entry_line(table: TableInfo, entry: Entry) -> str:
    matches = " ".join(
        f"{key.name}={format_match(key, value)}"
        for key, value in zip(table.keys, entry.match, strict=True)
    )
    priority = f" priority {entry.priority}" if table.needs_priority else ""
    return f"{entry.handle}: {matches}{priority} => {_action_text(entry)}"


def _action_text(entry: Entry) -> str:
    return " ".join([entry.action, *(f"0x{value:x}" for value in entry.parameters)])
