"""The deparser to C, and the stages that the traffic manager calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.headers import HeaderStatements, codec_name
from p4.codegen.layout import Place, whole_bytes
from p4.codegen.statement import Statements

if TYPE_CHECKING:
    from p4.codegen import program as p4
    from p4.codegen.context import Context


def head_bytes(program: p4.Program) -> int:
    """Return the most bytes that the deparser can write."""
    total = 0
    for name in program.deparser.order:
        kind = program.header_types[program.headers[name].type]
        total += whole_bytes(sum(field.bits for field in kind.fields))
    return total


def write_deparser(context: Context) -> None:
    """Write the functions that put headers back: where they are, or elsewhere."""
    writer, deparser = context.writer, context.program.deparser
    statements = Statements(context)
    with writer.function("static inline void before_deparser(struct packet *packet)"):
        writer.line("update_checksums(packet);")
        for statement in deparser.statements:
            statements.write(statement)
    _write_in_place(context)
    context.head(deparser.position, f"deparser {deparser.name}")
    head = "static uint32_t write_headers(struct pl_packet *base, uint8_t *head)"
    with writer.function(head):
        writer.line("struct packet *packet = (struct packet *)base;")
        writer.line("uint32_t size = 0;")
        writer.line("before_deparser(packet);")
        for name in deparser.order:
            _write_header(context, name)
        if not deparser.order:
            writer.line("(void)head;")
        writer.line("return size;")


def _write_header(context: Context, name: str) -> None:
    writer, header = context.writer, context.layout.header(name)
    kind = context.program.header_types[header.type]
    usage = context.layout.usage.types[kind.name]
    size = HeaderStatements(context).size(header)
    if size == "0":
        return
    with writer.block(f"if (pl_is_valid(packet->valid, {header.number}))"):
        if usage.built:
            name = codec_name(context, kind.name, "emit")
            writer.line(f"{name}(&{header.text}, head + size);")
        else:
            origin = f"base->data + packet->origin[{header.number}]"
            writer.line(f"memcpy(head + size, {origin}, {size});")
            if usage.written:
                name = codec_name(context, kind.name, "patch")
                writer.line(f"{name}(&{header.text}, head + size);")
        writer.line(f"size += {size};")


def _write_in_place(context: Context) -> None:
    """Write the short way: the headers are those that came in, where they came in."""
    writer, program = context.writer, context.program
    with writer.function("static inline bool rewrite_in_place(struct packet *packet)"):
        kinds = [program.header_types[program.headers[n].type] for n in program.deparser.order]
        built = [k for k in kinds if context.layout.usage.types[k.name].built]
        if any(kind.variable is not None for kind in built) or not kinds:
            writer.line("return false;")
            return
        writer.line("uint32_t size = 0;")
        writer.line("bool same = packet->base.in_place;")
        for name in program.deparser.order:
            header = context.layout.header(name)
            size = HeaderStatements(context).size(header)
            with writer.block(f"if (pl_is_valid(packet->valid, {header.number}))"):
                writer.line(f"same &= packet->origin[{header.number}] == size;")
                writer.line(f"size += {size};")
        with writer.block("if (!same || size != packet->base.parsed)"):
            writer.line("return false;")
        writer.line("before_deparser(packet);")
        for name in program.deparser.order:
            _write_rewrite(context, name)
        writer.line("return true;")


def _write_rewrite(context: Context, name: str) -> None:
    header = context.layout.header(name)
    kind = context.program.header_types[header.type]
    usage = context.layout.usage.types[kind.name]
    verb = "emit" if usage.built else "patch"
    if not kind.fields or not (usage.built or usage.written):
        return
    with context.writer.block(f"if (pl_is_valid(packet->valid, {header.number}))"):
        call = codec_name(context, kind.name, verb)
        at = f"packet->base.data + packet->origin[{header.number}]"
        context.writer.line(f"{call}(&{header.text}, {at});")


def residue_fields(context: Context) -> list[tuple[p4.FieldRef, Place]]:
    """Return the header fields whose value outlives a frame: those that a program reads."""
    fields = sorted(context.layout.usage.read_fields, key=lambda f: (f.header, f.field))
    places = [(field, context.layout.field(field)) for field in fields]
    return [(field, place) for field, place in places if not place.variable]


def write_begin(context: Context) -> None:
    """Write what a packet starts with, and what of it stays for the next one."""
    writer = context.writer
    residue = residue_fields(context)
    context.writer.comment(
        "What the last frame left in header fields that the program reads: reading a field of an"
        " invalid header gives this, as in BMv2."
    )
    with writer.block("struct residue", "};"):
        for number, (field, place) in enumerate(residue):
            comment = f"/* {field.header}.{field.field} */"
            if place.wide:
                writer.line(f"uint8_t f{number}[{whole_bytes(place.bits)}]; {comment}")
            else:
                width = next(w for w in (8, 16, 32, 64) if place.bits <= w)
                writer.line(f"uint{width}_t f{number}; {comment}")
        if not residue:
            writer.line("uint8_t none;")
    writer.line()
    with writer.function("static inline void load_residue(struct packet *packet)"):
        _write_residue(context, residue, load=True)
    with writer.function("static inline void save_residue(struct packet *packet)"):
        _write_residue(context, residue, load=False)
    with writer.function("static inline void clear_headers(struct packet *packet)"):
        writer.line("memset(packet->valid, 0, sizeof(packet->valid));")
        for stack in (*context.program.stacks, *context.program.union_stacks):
            writer.line(f"{context.layout.next_name(stack)} = 0;")
        for text in _dynamic_members(context):
            writer.line(f"memset(&{text}, 0, sizeof({text}));")
        for place in _single_varbits(context):
            writer.line(f"memset({place.text}, 0, sizeof({place.text}));")
            writer.line(f"{place.text}_bits = 0;")


def _single_varbits(context: Context) -> list[Place]:
    """Return the varbits of headers that stand alone: an invalid header's are empty."""
    layout, program = context.layout, context.program
    grouped = {name for stack in program.stacks.values() for name in stack.headers}
    grouped |= {name for union in program.unions.values() for name in union.headers}
    places = []
    for header in program.headers.values():
        varbit = program.header_types[header.type].variable
        if header.metadata or varbit is None or header.name in grouped:
            continue
        if varbit in layout.kept_fields(program.header_types[header.type]):
            places.append(layout.member(layout.header(header.name), varbit.name))
    return places


def _dynamic_members(context: Context) -> list[str]:
    """Return the stacks and unions, whose fields are read by index or as a whole."""
    layout, program = context.layout, context.program
    texts = [
        layout.element(stack.name, "0").text.removesuffix("[0]")
        for stack in program.stacks.values()
        if layout.kept_fields(program.header_types[stack.type])
    ]
    for union in program.unions.values():
        for member in range(len(union.headers)):
            place = layout.union_member(union, member)
            if layout.kept_fields(program.header_types[place.type]):
                texts.append(place.text)
    return texts


def _write_residue(
    context: Context, residue: list[tuple[p4.FieldRef, Place]], *, load: bool
) -> None:
    writer = context.writer
    if not residue:
        return
    const = "const " if load else ""
    cast = f"({const}struct residue *)(void *)packet->base.sw->residue"
    writer.line(f"{const}struct residue *residue = {cast};")
    for number, (_, place) in enumerate(residue):
        to, source = place.text, f"residue->f{number}"
        if not load:
            to, source = source, to
        if place.wide:
            writer.line(f"memcpy({to}, {source}, sizeof({to}));")
        else:
            writer.line(f"{to} = {source};")
