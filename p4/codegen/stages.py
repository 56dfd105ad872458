"""The functions behind the pipeline contract: receive, and the stages of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.graph import Graph
from p4.codegen.usage import program_statements
from p4.codegen.verify import parts

if TYPE_CHECKING:
    from p4.codegen.context import Context


def has_pure_egress(program: p4.Program) -> bool:
    """Return whether a frame is final after ingress: egress and deparser do nothing new."""
    late = {"recirculate", "clone_egress_pkt_to_egress"}
    if any(statement.operation in late for statement in program_statements(program)):
        return False
    if program.deparser.statements or _checksums_read_metadata(program):
        return False
    graph = Graph(program.egress)
    return all(_is_idle(program, graph.node(name)) for name in graph.order)


def _is_idle(program: p4.Program, node: p4.Node) -> bool:
    match node:
        case p4.Conditional():
            return True
        case p4.ActionCall():
            return not program.actions[node.action].statements
        case p4.Table():
            indices = set(node.actions)
            if node.default_action is not None:
                indices.add(node.default_action)
            busy = any(program.actions[index].statements for index in indices)
            return not (busy or node.with_counters or node.direct_meter)


def _checksums_read_metadata(program: p4.Program) -> bool:
    """Return whether an updated checksum depends on what egress would set."""
    for checksum in program.checksums:
        inputs = program.calculations[checksum.calculation].inputs
        values = [item for item in inputs if isinstance(item, p4.FieldRef)]
        values += [v for v in parts(checksum.condition) if isinstance(v, p4.FieldRef)]
        for value in values if checksum.update else ():
            if program.headers[value.header].metadata and "metadata" in value.header:
                return True
    return False


def write_stages(context: Context) -> None:
    """Write the stages that the traffic manager calls."""
    _write_parse(context)
    _write_keep(context)
    _write_digest(context)
    pure = has_pure_egress(context.program)
    for name in ("ingress", "egress"):
        control = context.functions.of(("control", name), name)
        with context.writer.function(f"static void run_{name}(struct pl_packet *base)"):
            context.writer.line("struct packet *packet = (struct packet *)base;")
            context.writer.line(f"{control}(packet);")
            if name == "ingress" or not pure:
                context.writer.line("save_residue(packet);")
    _write_receive(context, pure=pure)


def _write_parse(context: Context) -> None:
    writer = context.writer
    with writer.function("static inline void parse(struct packet *packet)"):
        writer.line("clear_headers(packet);")
        writer.line("load_residue(packet);")
        writer.line("run_states(packet);")
        writer.line("verify_checksums(packet);")
    with writer.function("static void parse_again(struct pl_packet *base)"):
        writer.line("struct packet *packet = (struct packet *)base;")
        writer.line("parse(packet);")


def _assigned(context: Context, field: p4.FieldRef) -> str:
    place = context.layout.field(field)
    to = place.text
    source = "from->" + to.removeprefix("packet->")
    if place.wide:
        return f"memcpy({to}, {source}, sizeof({to}));"
    return f"{to} = {source};"


def _write_keep(context: Context) -> None:
    writer = context.writer
    arguments = "struct pl_packet *to, const struct pl_packet *old, uint32_t list"
    with writer.function(f"static void keep(struct pl_packet *to, {arguments.split(', ', 1)[1]})"):
        writer.line("struct packet *packet = (struct packet *)to;")
        lists = {
            number: [f for f in fields.fields if isinstance(f, p4.FieldRef)]
            for number, fields in context.program.field_lists.items()
        }
        lists = {number: fields for number, fields in lists.items() if fields}
        writer.line("to->standard = (struct pl_standard){0};")
        writer.line("packet->meta = (struct metadata){0};")
        if not lists:
            writer.line("(void)old;")
            writer.line("(void)list;")
            return
        writer.line("const struct packet *from = (const struct packet *)old;")
        with writer.block("switch (list)"):
            for number, fields in lists.items():
                writer.case(f"case {number}:")
                for field in fields:
                    if field.field != "$valid$":
                        writer.line(_assigned(context, field))
                writer.line("break;")
            writer.case("default:")
            writer.line("break;")


def _write_digest(context: Context) -> None:
    writer = context.writer
    with writer.function("static void send_digest(struct pl_packet *base, uint32_t list)"):
        digests = context.program.digests
        if not digests:
            writer.line("(void)base;")
            writer.line("(void)list;")
            return
        writer.line("struct packet *packet = (struct packet *)base;")
        with writer.block("switch (list)"):
            for number, fields in digests.items():
                with writer.block(f"case {number}:"):
                    _write_digest_case(context, number, fields)
                    writer.line("break;")
            writer.case("default:")
            writer.line("break;")


def _write_digest_case(context: Context, number: int, fields: p4.FieldList) -> None:
    writer, items, size = context.writer, [], 0
    for field in fields.fields:
        if isinstance(field, p4.Constant):
            bits = field.bits or 32
        else:
            bits = context.program.field(field).bits
        items.append((field, size, bits))
        size += (bits + 7) // 8
    writer.line(f"uint8_t data[{size or 1}];")
    for field, at, bits in items:
        place = f"data + {at}" if at else "data"
        if bits <= 64:
            writer.line(f"pl_store({place}, {(bits + 7) // 8}, {context.narrow(field, bits)});")
        else:
            text = context.layout.field(field).text if isinstance(field, p4.FieldRef) else ""
            writer.line(f"memcpy({place}, {text}, {(bits + 7) // 8});")
    with writer.block("if (base->sw->world.digest)"):
        writer.line(f"base->sw->world.digest(base->sw->world.context, {number}, data, {size});")


def _write_receive(context: Context, *, pure: bool) -> None:
    writer = context.writer
    arguments = "struct pl_switch *sw, uint32_t port, const struct pl_frame *frame, uint64_t now"
    writer.comment("The way of a frame, in one function: calls inside are inlined.")
    with writer.function(f"__attribute__((flatten)) static void receive({arguments})"):
        writer.line("struct packet packet;")
        writer.line("pl_packet_begin(&packet.base, sw, port, frame, now);")
        writer.line("packet.meta = (struct metadata){0};")
        writer.line("parse(&packet);")
        writer.line("run_ingress(&packet.base);")
        with writer.block("if (!pl_plain(&packet.base))"):
            writer.line("pl_after_ingress(&packet.base);")
            writer.line("return;")
        with writer.block("if (packet.base.standard.egress_spec == PL_DROP_PORT)"):
            writer.line("sw->faults.dropped++;")
            writer.line("return;")
        if not pure:
            writer.line("pl_hold(&packet.base, packet.base.standard.egress_spec);")
            return
        with writer.block("if (rewrite_in_place(&packet))"):
            writer.line("pl_send_in_place(&packet.base);")
            writer.reopen("else")
            writer.line("pl_send_final(&packet.base, packet.base.standard.egress_spec);")
