"""Whole headers in C: making them valid, copying them, shifting stacks; to and from bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.document import ProgramError
from p4.codegen.layout import HeaderPlace, whole_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4.codegen.context import Context


class HeaderStatements:
    """Writes the primitives on whole headers, unions and stacks."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writer = context.writer
        self._handlers: dict[str, Callable[[tuple[p4.Value, ...]], None]] = {
            "add_header": self._add,
            "add_header_fast": lambda p: self.set_valid(self._header(p[0])),
            "remove_header": self._remove,
            "assign_header": self._copy_whole,
            "copy_header": self._copy_whole,
            "assign_union": self._copy_union,
            "assign_header_stack": self._copy_stack,
            "assign_union_stack": self._copy_union_stack,
            "push": lambda p: self._shift(p, push=True),
            "pop": lambda p: self._shift(p, push=False),
        }

    def write(self, statement: p4.Statement) -> bool:
        """Write a primitive on headers; False if it is another one."""
        handler = self._handlers.get(statement.operation)
        if handler is not None:
            handler(statement.parameters)
        return handler is not None

    def set_valid(self, header: HeaderPlace, origin: str = "UINT32_MAX") -> None:
        """Write that a header becomes valid, and the rest of its union invalid.

        `origin` is where it stands in the frame; by default it does not.
        """
        self._writer.line(f"packet->origin[{header.number}] = {origin};")
        if header.union_first:
            members = f"{header.number}, {header.union_first}, {header.union_count}"
            self._writer.line(f"pl_set_member_valid(packet->valid, {members});")
            return
        self._writer.line(f"pl_set_valid(packet->valid, {header.number});")

    def size(self, header: HeaderPlace) -> str:
        """Return C for a header's length in bytes."""
        kind = self._context.program.header_types[header.type]
        fixed = kind.fixed_bits // 8
        if kind.variable is None:
            return str(fixed)
        place = self._context.layout.member(header, kind.variable.name)
        return f"({fixed} + {place.text}_bits / 8)"

    def _header(self, value: p4.Value) -> HeaderPlace:
        return self._context.expressions.header(value)

    def _has_fields(self, header: HeaderPlace) -> bool:
        return bool(self._context.program.header_types[header.type].fields)

    def _add(self, parameters: tuple[p4.Value, ...]) -> None:
        header = self._header(parameters[0])
        with self._writer.block(f"if (!pl_is_valid(packet->valid, {header.number}))"):
            if self._has_fields(header):
                struct = self._context.layout.struct_name(header.type)
                self._writer.line(f"{header.text} = ({struct}){{0}};")
            self.set_valid(header)
            self._writer.line(f"packet->base.size += {self.size(header)};")

    def _remove(self, parameters: tuple[p4.Value, ...]) -> None:
        header = self._header(parameters[0])
        with self._writer.block(f"if (pl_is_valid(packet->valid, {header.number}))"):
            size = "0"
            kind = self._context.program.header_types[header.type]
            if kind.variable is None or self._context.layout.usage.types[kind.name].built:
                size = self.size(header)
            self._writer.line(f"packet->base.size -= {size};")
            self._writer.line(f"pl_set_invalid(packet->valid, {header.number});")

    def _copy_whole(self, parameters: tuple[p4.Value, ...]) -> None:
        """Write a copy of a header, or of metadata, which have no validity, field by field."""
        match [self._metadata(value) for value in parameters[:2]]:
            case [str(to), str(source)]:
                headers, types = self._context.program.headers, self._context.program.header_types
                _check_same([headers[to].type], [headers[source].type])
                for field in types[headers[to].type].fields:
                    place = self._context.layout.field(p4.FieldRef(to, field.name))
                    self._context.store(place, p4.FieldRef(source, field.name))
            case [None, None]:
                self._copy(self._header(parameters[0]), self._header(parameters[1]))
            case _:
                raise ProgramError("copies between a header and metadata")

    def _metadata(self, value: p4.Value) -> str | None:
        """Return the name of metadata, None for a header."""
        match value:
            case p4.HeaderRef(name) if self._context.program.headers[name].metadata:
                return name
            case _:
                return None

    def _copy(self, to: HeaderPlace, source: HeaderPlace) -> None:
        _check_same([to.type], [source.type])
        with self._writer.block(f"if (pl_is_valid(packet->valid, {source.number}))"):
            if self._has_fields(to) and to.text != source.text:
                self._writer.line(f"{to.text} = {source.text};")
            self.set_valid(to)
            self._writer.reopen("else")
            self._writer.line(f"pl_set_invalid(packet->valid, {to.number});")

    def _union(self, value: p4.Value) -> list[HeaderPlace]:
        program, layout = self._context.program, self._context.layout
        match value:
            case p4.UnionRef(name):
                union, index = program.unions[name], None
            case p4.Operation("dereference_union_stack", p4.UnionStackRef(name), right):
                stack = program.union_stacks[name]
                union = program.unions[stack.unions[0]]
                index = self._context.expressions.index(right, len(stack.unions))
            case _:
                raise ProgramError(f"{value} is no header union")
        return [layout.union_member(union, m, index) for m in range(len(union.headers))]

    def _copy_union(self, parameters: tuple[p4.Value, ...]) -> None:
        self._copy_members(self._union(parameters[0]), self._union(parameters[1]))

    def _copy_members(self, to: list[HeaderPlace], source: list[HeaderPlace]) -> None:
        _check_same([one.type for one in to], [other.type for other in source])
        for one, other in zip(to, source, strict=True):
            if self._has_fields(one) and one.text != other.text:
                self._writer.line(f"{one.text} = {other.text};")
            self._writer.line(f"pl_copy_valid(packet->valid, {one.number}, {other.number});")
            self._writer.line(f"packet->origin[{one.number}] = UINT32_MAX;")

    def _copy_stack(self, parameters: tuple[p4.Value, ...]) -> None:
        to, source = parameters[:2]
        if not isinstance(to, p4.StackRef) or not isinstance(source, p4.StackRef):
            raise ProgramError("needs two header stacks")
        layout, stacks = self._context.layout, self._context.program.stacks
        sizes = [len(stacks[name].headers) for name in (to.name, source.name)]
        _check_same(*([stacks[to.name].type] * size for size in sizes))
        self._copy_next(to.name, source.name)
        for index in range(sizes[0]):
            self._copy(layout.element(to.name, str(index)), layout.element(source.name, str(index)))

    def _copy_union_stack(self, parameters: tuple[p4.Value, ...]) -> None:
        to, source = parameters[:2]
        if not isinstance(to, p4.UnionStackRef) or not isinstance(source, p4.UnionStackRef):
            raise ProgramError("needs two stacks of header unions")
        ours, theirs = self._elements(to), self._elements(source)
        _check_same(*([header.type for element in e for header in element] for e in (ours, theirs)))
        self._copy_next(to.name, source.name)
        for one, other in zip(ours, theirs, strict=True):
            self._copy_members(one, other)

    def _copy_next(self, to: str, source: str) -> None:
        layout = self._context.layout
        self._writer.line(f"{layout.next_name(to)} = {layout.next_name(source)};")

    # Shifts -----------------------------------------------------------------------------------

    def _shift(self, parameters: tuple[p4.Value, ...], *, push: bool) -> None:
        stack, amount = parameters[0], parameters[1]
        if not isinstance(stack, p4.StackRef | p4.UnionStackRef):
            raise ProgramError("needs a header stack")
        if not isinstance(amount, p4.Constant) or amount.value < 0:
            raise ProgramError("needs a constant number of elements")
        count = amount.value
        elements = self._elements(stack)
        size, name = len(elements), self._context.layout.next_name(stack.name)
        if push:
            self._writer.line(f"{name} = {name} + {count} < {size} ? {name} + {count} : {size};")
        else:
            self._writer.line(f"{name} = {name} > {count} ? {name} - {count} : 0;")
        order = range(size - 1, -1, -1) if push else range(size)
        for index in order:
            source = index - count if push else index + count
            if 0 <= source < size:
                self._copy_members(elements[index], elements[source])
                continue
            for header in elements[index]:
                self._writer.line(f"pl_set_invalid(packet->valid, {header.number});")

    def _elements(self, stack: p4.StackRef | p4.UnionStackRef) -> list[list[HeaderPlace]]:
        program = self._context.program
        if isinstance(stack, p4.UnionStackRef):
            names = program.union_stacks[stack.name].unions
            return [self._union(p4.UnionRef(name)) for name in names]
        size = len(program.stacks[stack.name].headers)
        return [[self._context.layout.element(stack.name, str(i))] for i in range(size)]


def _check_same(to: list[str], source: list[str]) -> None:
    """Raise ProgramError unless headers of the same types are copied."""
    if to != source:
        raise ProgramError(f"copies {', '.join(source)} to {', '.join(to)}")


# Bytes --------------------------------------------------------------------------------------


def write_codecs(context: Context) -> None:
    """Write, for each header type, how it is taken from bytes and put into them."""
    kinds = {h.type for h in context.program.headers.values() if not h.metadata}
    for kind in context.program.header_types.values():
        if kind.name not in kinds or not context.layout.kept_fields(kind):
            continue
        _write_extract(context, kind)
        usage = context.layout.usage.types[kind.name]
        if usage.built:
            _write_emit(context, kind, {field.name for field in kind.fields}, "emit")
        elif usage.written:
            _write_emit(context, kind, usage.written, "patch")


def codec_name(context: Context, kind: str, verb: str) -> str:
    """Return the function that does `verb` (extract, emit, patch) to a header type."""
    return f"{verb}_{context.layout.type_names.of(kind, kind)}"


def _offsets(kind: p4.HeaderType) -> list[tuple[p4.Field, int, bool]]:
    """Return each field with its bit offset, and whether a varbit comes before it."""
    result, offset, behind = [], 0, False
    for field in kind.fields:
        result.append((field, offset, behind))
        if field.variable:
            behind = True
        else:
            offset += field.bits
    return result


def _write_extract(context: Context, kind: p4.HeaderType) -> None:
    writer, kept = context.writer, {f.name for f in context.layout.kept_fields(kind)}
    variable = kind.variable is not None
    extra = ", uint32_t bits" if variable else ""
    name, struct = codec_name(context, kind.name, "extract"), context.layout.struct_name(kind.name)
    head = f"static inline void {name}({struct} *header, const uint8_t *bytes{extra})"
    with writer.function(head):
        for field, offset, behind in _offsets(kind):
            if field.name in kept:
                member = f"header->{context.layout.field_name(kind.name, field.name)}"
                _write_load(context, member, field, offset, shifted=behind)


def _write_load(
    context: Context, member: str, field: p4.Field, offset: int, *, shifted: bool
) -> None:
    line = context.writer.line
    base = "bytes + bits / 8" if shifted else "bytes"
    at = f"{base} + {offset // 8}" if offset >= 8 else base
    if field.variable:
        line(f"{member}_bits = bits;")
        line(f"memcpy({member}, {at}, bits / 8);")
    elif field.bits > 64 and offset % 8 == 0 and field.bits % 8 == 0:
        line(f"memcpy({member}, {at}, {field.bits // 8});")
    elif field.bits > 64:
        line(f"pl_take_bits({member}, {base}, {offset}, {field.bits});")
    elif offset % 8 == 0 and field.bits % 8 == 0:
        cast = "" if field.bits > 32 else f"(uint{_width(field)}_t)"
        line(f"{member} = {cast}pl_load{field.bits}({at});")
    else:
        cast = "" if field.bits > 32 else f"(uint{_width(field)}_t)"
        line(f"{member} = {cast}{_bits_text(base, offset, field.bits)};")


def _width(field: p4.Field) -> int:
    return next(width for width in (8, 16, 32, 64) if field.bits <= width)


def _bits_text(base: str, offset: int, bits: int) -> str:
    """Return C that reads bits that are no whole bytes, by one load and a shift if possible."""
    first = offset // 8
    end = (offset + bits + 7) // 8
    if end - first > 8:
        return f"pl_load_bits({base}, {offset}, {bits})"
    shift = 8 * end - offset - bits
    at = f"{base} + {first}" if first else base
    load = f"pl_load{8 * (end - first)}({at})"
    if shift:
        load = f"{load} >> {shift}"
    if offset % 8 == 0:
        return f"({load})"
    return f"({load} & {hex((1 << bits) - 1)})"


def _write_emit(context: Context, kind: p4.HeaderType, fields: set[str], verb: str) -> None:
    writer = context.writer
    name, struct = codec_name(context, kind.name, verb), context.layout.struct_name(kind.name)
    head = f"static inline void {name}(const {struct} *header, uint8_t *bytes)"
    with writer.function(head):
        variable = kind.variable
        behind_bits = ""
        if variable is not None:
            member = context.layout.field_name(kind.name, variable.name)
            behind_bits = f"header->{member}_bits"
        for field, offset, behind in _offsets(kind):
            if field.name in fields:
                member = f"header->{context.layout.field_name(kind.name, field.name)}"
                base = f"bytes + {behind_bits} / 8" if behind else "bytes"
                _write_put(context, member, field, offset, base)


def _write_put(context: Context, member: str, field: p4.Field, offset: int, base: str) -> None:
    line = context.writer.line
    at = f"{base} + {offset // 8}" if offset >= 8 else base
    if field.variable:
        line(f"memcpy({at}, {member}, {member}_bits / 8);")
    elif field.bits > 64 and offset % 8 == 0 and field.bits % 8 == 0:
        line(f"memcpy({at}, {member}, {field.bits // 8});")
    elif field.bits > 64:
        line(f"pl_put_bits({base}, {offset}, {field.bits}, {member});")
    elif offset % 8 == 0 and field.bits in {8, 16, 32, 64}:
        line(f"pl_store{field.bits}({at}, {member});")
    elif offset % 8 == 0 and field.bits % 8 == 0:
        line(f"pl_store({at}, {whole_bytes(field.bits)}, {member});")
    else:
        line(f"pl_store_bits({base}, {offset}, {field.bits}, {member});")
