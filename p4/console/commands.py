"""The commands of the prompt: each is a method with its usage as its docstring's first line."""

from __future__ import annotations

import inspect
import shlex
from typing import TYPE_CHECKING

from p4.codegen.symbols import EngineError, find
from p4.console.replication import Replication
from p4.console.values import ConsoleError, format_match, parse_match, parse_number
from p4.engine import GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from p4.codegen.symbols import TableInfo
    from p4.engine import Entry, Switch

__all__ = ["Console", "ConsoleError"]

ARROW = "=>"


class Console:
    """Carries out commands on a switch; methods called `do_<command>` are the commands."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self._symbols = switch.program.symbols
        self._replication = Replication(switch)
        self._value_sets: dict[str, list[int]] = {}
        self._commands: dict[str, Callable[..., str]] = {}
        for owner in (self, self._replication):
            for name, method in inspect.getmembers(owner, inspect.ismethod):
                if name.startswith("do_"):
                    self._commands[name.removeprefix("do_")] = method

    @property
    def names(self) -> list[str]:
        """Return the commands' names."""
        return sorted(self._commands)

    def add_command(self, name: str, command: Callable[..., str]) -> None:
        """Add a command that the surroundings of the switch offer."""
        self._commands[name] = command

    def execute(self, line: str) -> str:
        """Carry out a line and return what to print; ConsoleError says what is wrong with it."""
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise ConsoleError(str(error)) from None
        if not words:
            return ""
        command = self._commands.get(words[0])
        if command is None:
            raise ConsoleError(f"unknown command `{words[0]}`; try `help`")
        try:
            inspect.signature(command).bind(*words[1:])
        except TypeError:
            raise ConsoleError(f"usage: {_usage(command)}") from None
        try:
            return command(*words[1:])
        except EngineError as error:
            raise ConsoleError(str(error)) from None
        except OverflowError:
            raise ConsoleError(f"{words[0]}: a number is negative or too large") from None

    def do_help(self, *names: str) -> str:
        """Usage: help [COMMAND ...]."""
        unknown = [name for name in names if name not in self._commands]
        if unknown:
            raise ConsoleError(f"unknown command `{unknown[0]}`")
        return "\n".join(_usage(self._commands[name]) for name in names or self.names)

    # Tables ---------------------------------------------------------------------------------

    def _table(self, name: str) -> TableInfo:
        return find(self._symbols.tables, name, "table")

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

    def do_table_info(self, table: str) -> str:
        """Usage: table_info TABLE."""
        info = self._table(table)
        names = ", ".join(action.name for action in info.actions)
        return f"{_describe(info)}\nactions: {names}"

    def do_table_num_entries(self, table: str) -> str:
        """Usage: table_num_entries TABLE."""
        return str(self.switch.table_count(table))

    def do_table_add(self, table: str, action: str, *words: str) -> str:
        """Usage: table_add TABLE ACTION MATCH ... => PARAMETER ... [PRIORITY]."""
        info = self._table(table)
        found = self.switch.program.action(info, action)
        return self._add(info, found.name, words, len(found.parameters))

    def _add(
        self, info: TableInfo, action: str | int, words: Sequence[str], parameters: int
    ) -> str:
        matches, rest = _split(words, len(info.keys), f"table {info.name}")
        priority = 0
        if info.needs_priority and len(rest) == parameters + 1:
            priority, rest = parse_number(rest[-1]), rest[:-1]
        values = [parse_match(key, text) for key, text in zip(info.keys, matches, strict=True)]
        numbers = [parse_number(text) for text in rest]
        handle = self.switch.table_add(info.name, values, action, numbers, priority)
        return f"Entry has been added with handle {handle}"

    def do_table_indirect_add(self, table: str, *words: str) -> str:
        """Usage: table_indirect_add TABLE MATCH ... => MEMBER [PRIORITY]."""
        return self._indirect_add(table, words, 0)

    def do_table_indirect_add_with_group(self, table: str, *words: str) -> str:
        """Usage: table_indirect_add_with_group TABLE MATCH ... => GROUP [PRIORITY]."""
        return self._indirect_add(table, words, GROUP)

    def _indirect_add(self, table: str, words: Sequence[str], flag: int) -> str:
        info = self._table(table)
        matches, rest = _split(words, len(info.keys), f"table {info.name}")
        if not rest:
            raise ConsoleError("needs a member or group after =>")
        number = parse_number(rest[0]) + flag
        return self._add(info, number, [*matches, ARROW, *rest[1:]], 0)

    def do_table_indirect_set_default(self, table: str, member: str) -> str:
        """Usage: table_indirect_set_default TABLE MEMBER."""
        self.switch.table_set_default(table, parse_number(member))
        return ""

    def do_table_modify(self, table: str, action: str, handle: str, *words: str) -> str:
        """Usage: table_modify TABLE ACTION HANDLE [=>] [PARAMETER ...]."""
        numbers = [parse_number(text) for text in words if text != ARROW]
        self.switch.table_modify(table, parse_number(handle), action, numbers)
        return ""

    def do_table_delete(self, table: str, handle: str) -> str:
        """Usage: table_delete TABLE HANDLE."""
        self.switch.table_delete(table, parse_number(handle))
        return ""

    def do_table_clear(self, table: str) -> str:
        """Usage: table_clear TABLE."""
        self.switch.table_clear(table)
        return ""

    def do_table_set_default(self, table: str, action: str, *words: str) -> str:
        """Usage: table_set_default TABLE ACTION [PARAMETER ...]."""
        numbers = [parse_number(text) for text in words if text != ARROW]
        self.switch.table_set_default(table, action, numbers)
        return ""

    def do_table_dump(self, table: str) -> str:
        """Usage: table_dump TABLE."""
        info = self._table(table)
        lines = [_entry_line(info, entry) for entry in self.switch.table_entries(info.name)]
        default = self.switch.table_default(info.name)
        if default is not None:
            lines.append(f"default: {_action_text(default)}")
        return "\n".join(lines) or "no entries"

    # Registers, counters, meters ----------------------------------------------------------

    def do_register_read(self, name: str, index: str = "") -> str:
        """Usage: register_read REGISTER [INDEX]."""
        found = find(self._symbols.registers, name, "register")
        if index:
            value = self.switch.register_read(found.name, parse_number(index))
            return f"{found.name}[{index}]= {value}"
        values = self.switch.register_read(found.name)
        return f"{found.name}= {', '.join(map(str, values))}"

    def do_register_write(self, name: str, index: str, value: str) -> str:
        """Usage: register_write REGISTER INDEX VALUE."""
        self.switch.register_write(name, parse_number(index), parse_number(value))
        return ""

    def do_register_reset(self, name: str) -> str:
        """Usage: register_reset REGISTER."""
        self.switch.register_write(name, None, 0)
        return ""

    def do_counter_read(self, name: str, index: str) -> str:
        """Usage: counter_read COUNTER INDEX."""
        packets, size = self.switch.counter_read(name, parse_number(index))
        return f"{name}[{index}]= ({packets} packets, {size} bytes)"

    def do_counter_write(self, name: str, index: str, packets: str, size: str) -> str:
        """Usage: counter_write COUNTER INDEX PACKETS BYTES."""
        self.switch.counter_write(
            name, parse_number(index), parse_number(packets), parse_number(size)
        )
        return ""

    def do_counter_reset(self, name: str) -> str:
        """Usage: counter_reset COUNTER."""
        found = find(self._symbols.counters, name, "counter")
        if found.table is not None:
            indices = [entry.handle for entry in self.switch.table_entries(found.table)]
        else:
            indices = list(range(found.size))
        for index in indices:
            self.switch.counter_write(found.name, index, 0, 0)
        return ""

    def do_meter_set_rates(self, name: str, index: str, *rates: str) -> str:
        """Usage: meter_set_rates METER INDEX RATE:BURST [RATE:BURST] (per microsecond)."""
        self.switch.meter_set(name, parse_number(index), [_rate(text) for text in rates])
        return ""

    def do_meter_array_set_rates(self, name: str, *rates: str) -> str:
        """Usage: meter_array_set_rates METER RATE:BURST [RATE:BURST]."""
        found = find(self._symbols.meters, name, "meter")
        for index in range(found.size):
            self.switch.meter_set(found.name, index, [_rate(text) for text in rates])
        return ""

    def do_meter_get_rates(self, name: str, index: str) -> str:
        """Usage: meter_get_rates METER INDEX."""
        rates = self.switch.meter_rates(name, parse_number(index))
        return "\n".join(f"{rate:g} {burst:g}" for rate, burst in rates) or "not set"

    # Profiles, value sets, faults ---------------------------------------------------------

    def do_act_prof_create_member(self, profile: str, action: str, *words: str) -> str:
        """Usage: act_prof_create_member PROFILE ACTION [PARAMETER ...]."""
        member = self.switch.member_set(profile, action, [parse_number(text) for text in words])
        return f"Member has been created with handle {member}"

    def do_act_prof_delete_member(self, profile: str, member: str) -> str:
        """Usage: act_prof_delete_member PROFILE MEMBER."""
        self.switch.member_delete(profile, parse_number(member))
        return ""

    def do_act_prof_create_group(self, profile: str, *members: str) -> str:
        """Usage: act_prof_create_group PROFILE [MEMBER ...]."""
        group = self.switch.selection_set(profile, [parse_number(text) for text in members])
        return f"Group has been created with handle {group}"

    def do_act_prof_set_group(self, profile: str, group: str, *members: str) -> str:
        """Usage: act_prof_set_group PROFILE GROUP [MEMBER ...]."""
        numbers = [parse_number(text) for text in members]
        self.switch.selection_set(profile, numbers, parse_number(group))
        return ""

    def do_act_prof_delete_group(self, profile: str, group: str) -> str:
        """Usage: act_prof_delete_group PROFILE GROUP."""
        self.switch.selection_delete(profile, parse_number(group))
        return ""

    def do_pvs_add(self, name: str, *values: str) -> str:
        """Usage: pvs_add VALUE_SET VALUE ...."""
        found = find(self._symbols.value_sets, name, "value set")
        members = self._value_sets.setdefault(found.name, [])
        wanted = [*members, *(parse_number(text) for text in values)]
        self.switch.value_set_fill(found.name, wanted)
        self._value_sets[found.name] = wanted
        return ""

    def do_pvs_clear(self, name: str) -> str:
        """Usage: pvs_clear VALUE_SET."""
        found = find(self._symbols.value_sets, name, "value set")
        self.switch.value_set_fill(found.name, [])
        self._value_sets[found.name] = []
        return ""

    def do_faults(self) -> str:
        """Usage: faults."""
        faults = self.switch.faults()
        names = ("dropped", "register_range", "header_room", "recursion", "assertions")
        return "\n".join(f"{name}: {getattr(faults, name)}" for name in names)


def _usage(command: Callable[..., str]) -> str:
    text = (inspect.getdoc(command) or command.__name__).splitlines()[0]
    return text.removeprefix("Usage: ").removesuffix(".")


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


def _rate(text: str) -> tuple[float, float]:
    rate, colon, burst = text.partition(":")
    try:
        return float(rate), float(burst if colon else "")
    except ValueError:
        raise ConsoleError(f"`{text}` is not RATE:BURST") from None


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
