"""The prompt's commands on parser value sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.symbols import find
from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from p4.codegen.symbols import ValueSetInfo
    from p4.engine import Switch


class ValueSetCommands:
    """Members of value sets, each once, in the order in which they were added."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._symbols = switch.program.symbols
        self._members: dict[str, list[int]] = {}

    def forget(self) -> None:
        """Take note that the switch's value sets are empty."""
        self._members.clear()

    def _find(self, name: str) -> tuple[ValueSetInfo, list[int]]:
        found = find(self._symbols.value_sets, name, "value set")
        return found, self._members.get(found.name, [])

    def _fill(self, name: str, members: list[int]) -> None:
        self._switch.value_set_fill(name, members)
        self._members[name] = members

    def do_show_pvs(self) -> str:
        """Usage: show_pvs."""
        sets = self._symbols.value_sets
        return "\n".join(f"{s.name} ({s.bits} bits) of {s.size}" for s in sets) or "no value sets"

    def do_pvs_add(self, name: str, *values: str) -> str:
        """Usage: pvs_add VALUE_SET VALUE ...."""
        found, members = self._find(name)
        self._fill(found.name, list(dict.fromkeys([*members, *map(parse_number, values)])))
        return ""

    def do_pvs_remove(self, name: str, value: str) -> str:
        """Usage: pvs_remove VALUE_SET VALUE."""
        found, members = self._find(name)
        if parse_number(value) not in members:
            raise ConsoleError(f"value set {found.name} has no member {value}")
        self._fill(found.name, [member for member in members if member != parse_number(value)])
        return ""

    def do_pvs_get(self, name: str) -> str:
        """Usage: pvs_get VALUE_SET."""
        return "\n".join(hex(member) for member in self._find(name)[1])

    def do_pvs_clear(self, name: str) -> str:
        """Usage: pvs_clear VALUE_SET."""
        self._fill(self._find(name)[0].name, [])
        return ""
