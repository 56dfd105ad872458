"""The program's description in C: actions, tables with their entries, arrays, stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.action import parameter_words
from p4.codegen.calculation import all_calculations, hash_kind
from p4.codegen.context import register_places
from p4.codegen.deparse import head_bytes
from p4.codegen.document import ProgramError
from p4.codegen.layout import c_bits, whole_bytes
from p4.codegen.stages import has_pure_egress
from p4.codegen.table import MATCH_NAMES, direct_counter, direct_meter, table_shape

if TYPE_CHECKING:
    from p4.codegen import program as p4
    from p4.codegen.context import Context

DRIVER = {
    "destroy": "pl_switch_free",
    "receive": "receive",
    "dequeue": "pl_dequeue",
    "discard": "pl_discard",
    "table_add": "pl_table_add",
    "table_modify": "pl_table_modify",
    "table_delete": "pl_table_delete",
    "table_default": "pl_table_default",
    "table_count": "pl_table_count",
    "table_share": "pl_table_share",
    "register_read": "pl_register_read",
    "register_write": "pl_register_write",
    "counter_read": "pl_counter_read",
    "faults": "pl_switch_faults",
    "error": "pl_error_text",
    "table_add_many": "pl_table_add_many",
    "table_next": "pl_table_next",
    "table_read": "pl_table_read",
    "counter_write": "pl_counter_write",
    "meter_set": "pl_meter_set",
    "meter_get": "pl_meter_get",
    "member_set": "pl_member_set",
    "member_delete": "pl_member_delete",
    "selection_set": "pl_selection_set",
    "selection_delete": "pl_selection_delete",
    "member_next": "pl_member_next",
    "selection_next": "pl_selection_next",
    "member_read": "pl_member_read",
    "selection_read": "pl_selection_read",
    "value_set_fill": "pl_value_set_fill",
    "group_set": "pl_group_set",
    "group_delete": "pl_group_delete",
    "mirror_set": "pl_mirror_set",
    "mirror_delete": "pl_mirror_delete",
    "crc_set": "pl_crc_set",
    "toeplitz_set": "pl_toeplitz_set",
    "reset": "pl_switch_reset",
}


def quoted(text: str) -> str:
    """Return a C string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
    return f'"{escaped}"'


def byte_text(value: int, bits: int) -> list[str]:
    """Return a field's bytes, most significant first, as C constants."""
    return [hex(byte) for byte in value.to_bytes(whole_bytes(bits), "big")]


def write_registers(context: Context) -> None:
    """Write a function for each register array that gives its cells."""
    registers = context.program.registers
    for register, (place, _) in zip(registers, register_places(context.program), strict=True):
        width = c_bits(register.bits) if register.bits <= 64 else 8
        name = context.layout.register_cells(register.name)
        context.writer.comment(f"register {register.name}: {register.size} of {register.bits} bits")
        head = f"static inline uint{width}_t *{name}(const struct packet *packet)"
        with context.writer.function(head):
            context.writer.line(f"return pl_cells{width}(&packet->base, {place});")


def write_tables(context: Context) -> None:
    """Write the descriptions of actions and tables; scanned look-ups need them early."""
    _write_actions(context)
    program = context.program
    for number, table in enumerate(program.tables):
        _write_table_parts(context, number, table)
    items = [_table(program, number, table) for number, table in enumerate(program.tables)]
    _array(context, "pl_table", "tables", items)


def _array(context: Context, struct: str, name: str, items: list[str]) -> None:
    with context.writer.block(f"static const struct {struct} {name}[] =", "};"):
        for item in items or ["{0}"]:
            context.writer.line(f"{item},")
    context.writer.line()


def _write_actions(context: Context) -> None:
    items = []
    for action in context.program.actions:
        words, parameters = parameter_words(action), "NULL"
        if action.parameters:
            parameters = f"parameters_{action.index}"
            fields = ", ".join(
                f"{{{parameter.bits}, {word}}}"
                for parameter, word in zip(action.parameters, words, strict=False)
            )
            head = f"static const struct pl_parameter {parameters}[]"
            context.writer.line(f"{head} = {{{fields}}};")
        items.append(
            f"{{{quoted(action.name)}, {parameters}, {len(action.parameters)}, {words[-1]}}}"
        )
    _array(context, "pl_action", "actions", items)


def _write_table_parts(context: Context, number: int, table: p4.Table) -> None:
    line, byte, keys = context.writer.line, 0, []
    for key in table.keys:
        keys.append(f"{{{MATCH_NAMES[key.match]}, {key.bits}, {byte}}}")
        byte += whole_bytes(key.bits)
    if keys:
        line(f"static const struct pl_key keys_{number}[] = {{{', '.join(keys)}}};")
    actions = ", ".join(str(index) for index in table.actions) or "0"
    line(f"static const uint16_t actions_{number}[] = {{{actions}}};")
    default = _argument_bytes(context.program, table.default_action, table.default_arguments)
    if default:
        line(f"static const uint8_t default_{number}[] = {{{', '.join(default)}}};")
    if table.entries:
        _write_entries(context, number, table)


def _argument_bytes(
    program: p4.Program, action: int | None, arguments: tuple[int, ...]
) -> list[str]:
    if action is None:
        return []
    parameters = program.actions[action].parameters
    if len(parameters) != len(arguments):
        raise ProgramError(
            f"action {program.actions[action].name} has {len(parameters)} parameters,"
            f" an entry gives {len(arguments)}"
        )
    data = []
    for parameter, value in zip(parameters, arguments, strict=True):
        data += byte_text(value & ((1 << parameter.bits) - 1), parameter.bits)
    return data


def _write_entries(context: Context, number: int, table: p4.Table) -> None:
    line, items = context.writer.line, []
    for place, entry in enumerate(table.entries):
        value, second = [], []
        for key, match in zip(table.keys, entry.matches, strict=True):
            value += byte_text(match.value, key.bits)
            second += byte_text(match.second, key.bits)
        name = f"entry_{number}_{place}"
        arguments = _argument_bytes(context.program, entry.action, entry.arguments)
        line(f"static const uint8_t {name}[] = {{{', '.join(value + second + arguments)}}};")
        parts = [name, f"{name} + {len(value)}", str(entry.priority & 0xFFFFFFFF)]
        parts += [str(entry.action), f"{name} + {2 * len(value)}"]
        items.append(f"{{{', '.join(parts)}}}")
    _array(context, "pl_entry", f"entries_{number}", items)


def _table(program: p4.Program, number: int, table: p4.Table) -> str:
    shape = table_shape(program, table)
    counter, meter = direct_counter(program, table), direct_meter(program, table)
    names = [profile.name for profile in program.profiles]
    has_default = table.default_action is not None
    with_data = has_default and bool(table.default_arguments)
    fields = {
        "name": quoted(table.name),
        "engine": shape.engine,
        "by_prefix": int(shape.by_prefix),
        "key_count": len(table.keys),
        "key_bytes": shape.key_bytes,
        "key_words": shape.key_words,
        "value_words": shape.value_words,
        "argument_words": shape.argument_words,
        "row_bytes": shape.row_bytes,
        "keys": f"keys_{number}" if table.keys else "NULL",
        "actions": f"actions_{number}",
        "action_count": len(table.actions),
        "entries_constant": int(table.entries_constant),
        "default_constant": int(table.default_constant),
        "counter": "PL_NONE" if counter is None else counter,
        "meter": "PL_NONE" if meter is None else meter,
        "profile": names.index(table.profile) if table.profile is not None else "PL_NONE",
        "size": max(table.size, len(table.entries)),
        "default_action": table.default_action if has_default else "PL_NONE",
        "default_parameters": f"default_{number}" if with_data else "NULL",
        "entries": f"entries_{number}" if table.entries else "NULL",
        "entry_count": len(table.entries),
    }
    given = {name: value for name, value in fields.items() if value not in (0, "NULL")}
    return "{" + ", ".join(f".{name} = {value}" for name, value in given.items()) + "}"


def write_description(context: Context) -> None:
    """Write the arrays of externs, the layout and the program itself."""
    program = context.program
    registers = [
        f"{{{quoted(r.name)}, {r.bits}, {cell}, {r.size}, {place}}}"
        for r, (place, cell) in zip(program.registers, register_places(program), strict=True)
    ]
    _array(context, "pl_register", "registers", registers)
    tables = {table.name: number for number, table in enumerate(program.tables)}
    counters = [
        f"{{{quoted(c.name)}, {0 if c.table else c.size}, {tables.get(c.table or '', 'PL_NONE')}}}"
        for c in program.counters
    ]
    _array(context, "pl_counter_info", "counters", counters)
    meters = [
        f"{{{quoted(m.name)}, {0 if m.table else m.size}, {tables.get(m.table or '', 'PL_NONE')},"
        f" {m.rates}, {int(m.in_bytes)}}}"
        for m in program.meters
    ]
    _array(context, "pl_meter_info", "meters", meters)
    profiles = [
        f"{{{quoted(p.name)}, {p.size}, {int(bool(p.algorithm))}}}" for p in program.profiles
    ]
    _array(context, "pl_profile_info", "profiles", profiles)
    sets = [f"{{{quoted(s.name)}, {s.bits}, {s.size}}}" for s in program.value_sets]
    _array(context, "pl_value_set_info", "value_sets", sets)
    hashes = [hash_kind(calculation) for calculation in all_calculations(program)]
    _array(context, "pl_hash_info", "hashes", hashes)
    _write_layout(context)
    _write_program(context)


def _write_layout(context: Context) -> None:
    program, writer = context.program, context.writer
    places = register_places(program)
    cells = 0
    if places:
        cells = places[-1][0] + places[-1][1] * program.registers[-1].size
    fields = {
        "program": "&pl_program",
        "stages.packet_bytes": "sizeof(struct packet)",
        "stages.head_bytes": head_bytes(program),
        "stages.parse": "parse_again",
        "stages.ingress": "run_ingress",
        "stages.egress": "run_egress",
        "stages.deparse": "write_headers",
        "stages.keep": "keep",
        "stages.digest": "send_digest",
        "tables": "tables",
        "actions": "actions",
        "registers": "registers",
        "counters": "counters",
        "meters": "meters",
        "profiles": "profiles",
        "value_sets": "value_sets",
        "hashes": "hashes",
        "table_count": len(program.tables),
        "action_count": len(program.actions),
        "register_count": len(program.registers),
        "counter_count": len(program.counters),
        "meter_count": len(program.meters),
        "profile_count": len(program.profiles),
        "value_set_count": len(program.value_sets),
        "calculation_count": len(all_calculations(program)),
        "cell_bytes": cells,
        "residue_bytes": "sizeof(struct residue)",
    }
    writer.line("extern const struct pl_program pl_program;")
    writer.line()
    with writer.block("static const struct pl_layout layout =", "};"):
        for name, value in fields.items():
            writer.line(f".{name} = {value},")
    writer.line()


def _write_program(context: Context) -> None:
    writer, program = context.writer, context.program
    head = "static struct pl_switch *create(const struct pl_world *world, uint64_t seed)"
    with writer.function(head):
        writer.line("return pl_switch_new(&layout, world, seed);")
    head = '__attribute__((visibility("default"))) const struct pl_program pl_program ='
    with writer.block(head, "};"):
        writer.line(".abi = PL_ABI,")
        writer.line(f".name = {quoted(program.name)},")
        writer.line(f".digest = {quoted(program.digest)},")
        writer.line(f".pure_egress = {int(has_pure_egress(program))},")
        writer.line(".create = create,")
        for name, function in DRIVER.items():
            writer.line(f".{name} = {function},")
