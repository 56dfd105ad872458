"""Writing tables, registers and queues of a simple_switch, and checking that they took."""

from __future__ import annotations

import importlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from p4.codegen.program import Match
from testbed.bmv2.client import CONTEXT
from testbed.bmv2.errors import Bmv2Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from p4.codegen.program import Action, Key, Program, Table
    from testbed.bmv2.client import Client
    from testbed.plan import SwitchSetup, TableEntry

IN_FLIGHT = 256  # requests sent ahead of their answers
LARGEST_REGISTER = (1 << 63) - 1  # what Thrift can carry
MADE_BY_COMPILER = "tbl_"
WITH_PRIORITY = {Match.TERNARY, Match.RANGE, Match.OPTIONAL}


def install(client: Client, program: Program, setup: SwitchSetup) -> None:
    """Write a switch's entries, default actions and registers, and count the entries.

    Raises Bmv2Error naming the switch, the table and the cause if anything was refused.
    """
    add_entries(client, program, setup.entries)
    for table, (action, arguments) in setup.defaults.items():
        set_default(client, program, table, action, arguments)
    for name, values in setup.registers.items():
        write_register(client, name, values)


def add_entries(client: Client, program: Program, entries: Sequence[TableEntry]) -> None:
    """Add entries in bulk, then compare each table's number of entries with what it should be."""
    tables = {table.name: table for table in program.tables}
    before = {name: _count(client, name) for name in {entry.table for entry in entries}}
    for start in range(0, len(entries), IN_FLIGHT):
        _add_batch(client, program, tables, entries[start : start + IN_FLIGHT])
    for name, added in Counter(entry.table for entry in entries).items():
        found = _count(client, name) - before[name]
        if found != added:
            raise Bmv2Error(f"{client.name}: table {name} holds {found} of {added} new entries")


def remove_entries(client: Client, program: Program, entries: Sequence[TableEntry]) -> None:
    """Delete entries, found by their keys."""
    types = importlib.import_module("bm_runtime.standard.ttypes")
    tables = {table.name: table for table in program.tables}
    for entry in entries:
        what = f"{entry.table} {entry.match}"
        keys, options = key_of(types, tables[entry.table], entry)
        find = client.standard.bm_mt_get_entry_from_key
        found = checked(client, what, find, CONTEXT, entry.table, keys, options)
        delete = client.standard.bm_mt_delete_entry
        checked(client, what, delete, CONTEXT, entry.table, found.entry_handle)


def table_lines(client: Client, program: Program) -> list[str]:
    """Describe all tables of the P4 source, a line an entry, then the default action."""
    lines = []
    for table in program.tables:
        if table.name.startswith(MADE_BY_COMPILER):
            continue
        entries = client.standard.bm_mt_get_entries(CONTEXT, table.name)
        lines.append(f"{table.name}: {len(entries)} entries")
        for entry in entries:
            key = ", ".join(_shown_match(part) for part in entry.match_key)
            lines.append(f"  {key} -> {_shown_action(entry.action_entry)}")
        default = client.standard.bm_mt_get_default_entry(CONTEXT, table.name)
        lines += [f"  default {_shown_action(default)}"] if default.action_name else []
    return lines


def set_default(
    client: Client, program: Program, table: str, action: str, arguments: Sequence[int]
) -> None:
    """Set a table's default action."""
    data = action_data(action_of(program, action), arguments)
    call = client.standard.bm_mt_set_default_action
    checked(client, f"default action of {table}", call, CONTEXT, table, action, data)


def write_register(client: Client, name: str, values: Sequence[int]) -> None:
    """Write an array's first cells, many equal neighbours in one request.

    Values are at most LARGEST_REGISTER.
    """
    for run in _runs(values):
        call = client.standard.bm_register_write_range
        checked(client, f"register {name}", call, CONTEXT, name, *run)


def read_register(client: Client, name: str) -> list[int]:
    """Read a whole register array; values above LARGEST_REGISTER read as that."""
    call = client.standard.bm_register_read_all
    values: list[int] = checked(client, f"register {name}", call, CONTEXT, name)
    return values


def read_counter(client: Client, name: str, index: int) -> tuple[int, int]:
    """Read packets and bytes of one counter."""
    call = client.standard.bm_counter_read
    value = checked(client, f"counter {name}", call, CONTEXT, name, index)
    return value.packets, value.bytes


def set_queues(client: Client, rates: Mapping[int, Sequence[int]], depth: int) -> None:
    """Set the depth of all queues in packets, and each port's rates in packets/s by priority."""
    client.simple_switch.set_all_egress_queue_depths(depth)
    for port, by_priority in rates.items():
        client.simple_switch.set_egress_queue_depth(port, depth)
        for priority, rate in enumerate(by_priority):
            client.simple_switch.set_egress_priority_queue_rate(port, priority, rate)


def replicate(
    client: Client, groups: Mapping[int, Sequence[tuple[int, int]]], sessions: Mapping[int, int]
) -> None:
    """Make multicast groups of (port, egress_rid) copies, and mirroring sessions to ports."""
    types = importlib.import_module("sswitch_runtime.ttypes")
    for group, copies in groups.items():
        handle = client.multicast.bm_mc_mgrp_create(CONTEXT, group)
        for port, instance in copies:
            ports = "1" + "0" * port  # a bit map, port 0 last
            node = client.multicast.bm_mc_node_create(CONTEXT, instance, ports, "")
            client.multicast.bm_mc_node_associate(CONTEXT, handle, node)
    for session, port in sessions.items():
        config = types.MirroringSessionConfig(port=port)
        client.simple_switch.mirroring_session_add(session, config)


def require_ports(client: Client, ports: Iterable[int]) -> None:
    """Raise Bmv2Error if a port could not be attached: simple_switch itself would run on."""
    shown = client.standard.bm_dev_mgr_show_ports()
    missing = sorted(set(ports) - {port.port_num for port in shown})
    if missing:
        client.process.require_alive()
        raise Bmv2Error(
            f"{client.name}: port {missing[0]} could not be attached; {client.process.last_words()}"
        )


def attach_port(client: Client, port: int, interface: str | None) -> None:
    """Attach a port to an interface, or detach it if that is None."""
    standard = client.standard
    if interface is None:
        checked(client, f"port {port}", standard.bm_dev_mgr_remove_port, port)
    else:
        checked(client, f"port {port}", standard.bm_dev_mgr_add_port, interface, port, "")


def _add_batch(
    client: Client, program: Program, tables: Mapping[str, Table], entries: Sequence[TableEntry]
) -> None:
    """Send all requests of a batch before reading the first answer."""
    types = importlib.import_module("bm_runtime.standard.ttypes")
    for entry in entries:
        table = tables.get(entry.table)
        if table is None:
            raise Bmv2Error(f"{client.name}: the program has no table {entry.table}")
        keys, options = key_of(types, table, entry)
        data = action_data(action_of(program, entry.action), entry.parameters)
        client.standard.send_bm_mt_add_entry(
            CONTEXT, entry.table, keys, entry.action, data, options
        )
    refused = [error for entry in entries if (error := _refusal(client, entry))]
    if refused:
        raise Bmv2Error(refused[0])


def key_of(types: Any, table: Table, entry: TableEntry) -> tuple[list[Any], Any]:
    """Return an entry's key and options as Thrift takes them."""
    fields = zip(table.keys, entry.match, strict=True)
    keys = [_match(types, key, value) for key, value in fields]
    ranked = any(key.match in WITH_PRIORITY for key in table.keys)
    return keys, types.BmAddEntryOptions(priority=entry.priority if ranked else None)


def _shown_match(part: Any) -> str:
    """Return one field of a key that was read back."""
    if part.exact is not None:
        return _shown(part.exact.key)
    if part.lpm is not None:
        return f"{_shown(part.lpm.key)}/{part.lpm.prefix_length}"
    if part.ternary is not None:
        return f"{_shown(part.ternary.key)} & {_shown(part.ternary.mask)}"
    return f"{_shown(part.range.start)}..{_shown(part.range.end_)}"


def _shown_action(action: Any) -> str:
    return f"{action.action_name}({', '.join(map(_shown, action.action_data or ()))})"


def _shown(data: bytes) -> str:
    return str(int.from_bytes(data, "big"))


def _refusal(client: Client, entry: TableEntry) -> str | None:
    try:
        checked(client, f"{entry.table} {entry.match}", client.standard.recv_bm_mt_add_entry)
    except Bmv2Error as error:
        return str(error)
    return None


def _match(types: Any, key: Key, value: int | tuple[int, int]) -> Any:
    kinds = types.BmMatchParamType
    match (key.match, value):
        case (Match.EXACT, int()):
            exact = types.BmMatchParamExact(whole_bytes(value, key.bits))
            return types.BmMatchParam(type=kinds.EXACT, exact=exact)
        case (Match.LPM, (prefix, length)):
            lpm = types.BmMatchParamLPM(whole_bytes(prefix, key.bits), length)
            return types.BmMatchParam(type=kinds.LPM, lpm=lpm)
        case (Match.TERNARY | Match.OPTIONAL, (wanted, mask)):
            pattern = types.BmMatchParamTernary(
                whole_bytes(wanted, key.bits), whole_bytes(mask, key.bits)
            )
            return types.BmMatchParam(type=kinds.TERNARY, ternary=pattern)
        case (Match.RANGE, (low, high)):
            span = types.BmMatchParamRange(whole_bytes(low, key.bits), whole_bytes(high, key.bits))
            return types.BmMatchParam(type=kinds.RANGE, range=span)
    raise Bmv2Error(f"key {key.name} is matched {key.match.name.lower()} and cannot be {value}")


def action_of(program: Program, name: str) -> Action:
    """Return the action of a name; raises Bmv2Error if there is none."""
    for action in program.actions:
        if action.name == name:
            return action
    raise Bmv2Error(f"the program has no action {name}")


def action_data(action: Action, arguments: Sequence[int]) -> list[bytes]:
    """Return an action's arguments as Thrift takes them."""
    pairs = zip(action.parameters, arguments, strict=True)
    return [whole_bytes(value, parameter.bits) for parameter, value in pairs]


def whole_bytes(value: int, bits: int) -> bytes:
    """Return a value of some bits as Thrift takes it."""
    return value.to_bytes((bits + 7) // 8, "big")


def _count(client: Client, table: str) -> int:
    call = client.standard.bm_mt_get_num_entries
    return int(checked(client, f"table {table}", call, CONTEXT, table))


def checked(client: Client, what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call; turn a refusal or a broken connection into a Bmv2Error about `what`."""
    try:
        return call(*arguments)
    except Exception as error:  # every generated exception derives from Exception alone
        client.process.require_alive()
        raise Bmv2Error(f"{client.name}: {what}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    code = getattr(error, "code", None)
    if code is None:
        return str(error) or type(error).__name__
    types = importlib.import_module(type(error).__module__)
    names = getattr(types, type(error).__name__.removeprefix("Invalid") + "ErrorCode", None)
    return str(names._VALUES_TO_NAMES[code]) if names else f"error {code}"  # noqa: SLF001


def _runs(values: Sequence[int]) -> Iterable[tuple[int, int, int]]:
    """Split into (first, one past last, value) of equal neighbours."""
    start = 0
    for index in range(1, len(values) + 1):
        if index == len(values) or values[index] != values[start]:
            yield start, index, values[start]
            start = index
