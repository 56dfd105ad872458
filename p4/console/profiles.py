"""The prompt's commands on action profiles: members, and groups of them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from p4.codegen.symbols import find
from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4.engine import Member, Switch

# Commands that BMv2 also has by table, under a name of its own.
BY_TABLE = {
    "table_indirect_create_member": "act_prof_create_member",
    "table_indirect_delete_member": "act_prof_delete_member",
    "table_indirect_modify_member": "act_prof_modify_member",
    "table_indirect_create_group": "act_prof_create_group",
    "table_indirect_delete_group": "act_prof_delete_group",
    "table_indirect_add_member_to_group": "act_prof_add_member_to_group",
    "table_indirect_remove_member_from_group": "act_prof_remove_member_from_group",
    "table_dump_member": "act_prof_dump_member",
    "table_dump_group": "act_prof_dump_group",
}


class ProfileCommands:
    """Members and groups of action profiles."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self._symbols = switch.program.symbols

    def by_table(self) -> dict[str, Callable[..., str]]:
        """Return the commands that name a table instead of its action profile."""
        return {
            name: self._through_table(getattr(self, f"do_{of}")) for name, of in BY_TABLE.items()
        }

    def _through_table(self, command: Callable[..., str]) -> Callable[..., str]:
        def call(table: str, *words: str) -> str:
            info = find(self._symbols.tables, table, "table")
            if info.profile is None:
                raise ConsoleError(f"table {info.name} has no action profile")
            try:
                inspect.signature(command).bind(info.profile, *words)
            except TypeError:
                raise ConsoleError(f"usage: {call.__doc__}") from None
            return command(info.profile, *words)

        usage = (inspect.getdoc(command) or "").replace(" PROFILE", " TABLE", 1)
        call.__doc__ = usage
        return call

    def _profile(self, name: str) -> str:
        return find(self._symbols.profiles, name, "action profile").name

    def _group(self, profile: str, group: str) -> tuple[int, list[int]]:
        number = parse_number(group)
        members = self.switch.selections(profile).get(number)
        if members is None:
            raise ConsoleError(f"action profile {profile} has no group {group}")
        return number, members

    # Members --------------------------------------------------------------------------------

    def do_act_prof_create_member(self, profile: str, action: str, *words: str) -> str:
        """Usage: act_prof_create_member PROFILE ACTION [PARAMETER ...]."""
        member = self.switch.member_set(profile, action, [parse_number(text) for text in words])
        return f"Member has been created with handle {member}"

    def do_act_prof_modify_member(self, profile: str, action: str, member: str, *words: str) -> str:
        """Usage: act_prof_modify_member PROFILE ACTION MEMBER [=>] [PARAMETER ...]."""
        numbers = [parse_number(text) for text in words if text != "=>"]
        number = parse_number(member)
        if number not in self.switch.members(profile):
            raise ConsoleError(f"action profile {profile} has no member {member}")
        self.switch.member_set(profile, action, numbers, number)
        return ""

    def do_act_prof_delete_member(self, profile: str, member: str) -> str:
        """Usage: act_prof_delete_member PROFILE MEMBER."""
        self.switch.member_delete(profile, parse_number(member))
        return ""

    # Groups ---------------------------------------------------------------------------------

    def do_act_prof_create_group(self, profile: str, *members: str) -> str:
        """Usage: act_prof_create_group PROFILE [MEMBER ...]."""
        group = self.switch.selection_set(profile, [parse_number(text) for text in members])
        return f"Group has been created with handle {group}"

    def do_act_prof_set_group(self, profile: str, group: str, *members: str) -> str:
        """Usage: act_prof_set_group PROFILE GROUP [MEMBER ...]."""
        number, _ = self._group(self._profile(profile), group)
        self.switch.selection_set(profile, [parse_number(text) for text in members], number)
        return ""

    def do_act_prof_delete_group(self, profile: str, group: str) -> str:
        """Usage: act_prof_delete_group PROFILE GROUP."""
        self.switch.selection_delete(profile, parse_number(group))
        return ""

    def do_act_prof_add_member_to_group(self, profile: str, member: str, group: str) -> str:
        """Usage: act_prof_add_member_to_group PROFILE MEMBER GROUP."""
        number, members = self._group(self._profile(profile), group)
        if parse_number(member) in members:
            raise ConsoleError(f"member {member} is in group {group} already")
        self.switch.selection_set(profile, [*members, parse_number(member)], number)
        return ""

    def do_act_prof_remove_member_from_group(self, profile: str, member: str, group: str) -> str:
        """Usage: act_prof_remove_member_from_group PROFILE MEMBER GROUP."""
        number, members = self._group(self._profile(profile), group)
        if parse_number(member) not in members:
            raise ConsoleError(f"member {member} is not in group {group}")
        rest = [item for item in members if item != parse_number(member)]
        self.switch.selection_set(profile, rest, number)
        return ""

    # What there is --------------------------------------------------------------------------

    def do_act_prof_dump(self, profile: str) -> str:
        """Usage: act_prof_dump PROFILE."""
        name = self._profile(profile)
        lines = [_member_line(number, item) for number, item in self.switch.members(name).items()]
        lines += [_group_line(*item) for item in self.switch.selections(name).items()]
        return "\n".join(lines) or "no members"

    def do_act_prof_dump_member(self, profile: str, member: str) -> str:
        """Usage: act_prof_dump_member PROFILE MEMBER."""
        found = self.switch.members(profile).get(parse_number(member))
        if found is None:
            raise ConsoleError(f"action profile {profile} has no member {member}")
        return _member_line(parse_number(member), found)

    def do_act_prof_dump_group(self, profile: str, group: str) -> str:
        """Usage: act_prof_dump_group PROFILE GROUP."""
        return _group_line(*self._group(self._profile(profile), group))


def _member_line(number: int, member: Member) -> str:
    return " ".join([f"member {number}:", member.action, *map(hex, member.parameters)])


def _group_line(number: int, members: list[int]) -> str:
    return " ".join([f"group {number}: members", *map(str, members)])
