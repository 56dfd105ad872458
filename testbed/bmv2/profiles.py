"""Writing action profiles, entries that name their members, and parser value sets."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from testbed.bmv2.client import CONTEXT
from testbed.bmv2.control import action_data, action_of, checked, key_of, whole_bytes

if TYPE_CHECKING:
    from p4.codegen.program import Program
    from testbed.bmv2.client import Client
    from testbed.bmv2.randomly import Indirection


def fill(client: Client, program: Program, wanted: Indirection) -> None:
    """Write all of it into a switch whose profiles are empty; raises Bmv2Error if refused.

    simple_switch numbers members and groups itself, from 0 in each profile.
    """
    _add_members(client, program, wanted)
    _add_entries(client, program, wanted)
    widths = {each.name: each.bits for each in program.value_sets}
    for name, values in wanted.sets.items():
        for value in values:
            data = whole_bytes(value, widths[name])
            call = client.standard.bm_parse_vset_add
            checked(client, f"value set {name}", call, CONTEXT, name, data)


def _add_members(client: Client, program: Program, wanted: Indirection) -> None:
    standard = client.standard
    for member in wanted.members:
        data = action_data(action_of(program, member.action), member.arguments)
        call = standard.bm_mt_act_prof_add_member
        checked(client, member.profile, call, CONTEXT, member.profile, member.action, data)
    for group in wanted.groups:
        create = standard.bm_mt_act_prof_create_group
        handle = checked(client, group.profile, create, CONTEXT, group.profile)
        for number in group.members:
            call = standard.bm_mt_act_prof_add_member_to_group
            checked(client, group.profile, call, CONTEXT, group.profile, number, handle)


def _add_entries(client: Client, program: Program, wanted: Indirection) -> None:
    types = importlib.import_module("bm_runtime.standard.ttypes")
    standard = client.standard
    tables = {table.name: table for table in program.tables}
    for each in wanted.entries:
        name = each.entry.table
        keys, options = key_of(types, tables[name], each.entry)
        add = (
            standard.bm_mt_indirect_ws_add_entry
            if each.names_group
            else standard.bm_mt_indirect_add_entry
        )
        what = f"{name} {each.entry.match}"
        checked(client, what, add, CONTEXT, name, keys, each.number, options)
