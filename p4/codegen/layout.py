"""Where a program's headers and metadata live in C: structs, members, header numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.document import ProgramError
from p4.codegen.names import Names
from p4.codegen.usage import Usage

if TYPE_CHECKING:
    from p4.codegen.cwriter import Writer

STANDARD_BITS = {
    "ingress_port": 9,
    "egress_spec": 9,
    "egress_port": 9,
    "instance_type": 32,
    "packet_length": 32,
    "enq_timestamp": 32,
    "enq_qdepth": 19,
    "deq_timedelta": 32,
    "deq_qdepth": 19,
    "ingress_global_timestamp": 48,
    "egress_global_timestamp": 48,
    "mcast_grp": 16,
    "egress_rid": 16,
    "checksum_error": 1,
    "parser_error": 32,
    "priority": 3,
    "qid": 5,
}
SCALARS = "scalars"  # where p4c keeps a program's own variables
STANDARD_HEADERS = ("standard_metadata", "intrinsic_metadata", "queueing_metadata")
MOST_BITS = 16384


def c_bits(bits: int) -> int:
    """Return the width of the C type that holds `bits` (at most 64)."""
    return next(width for width in (8, 16, 32, 64) if bits <= width)


def whole_bytes(bits: int) -> int:
    """Return how many bytes `bits` need."""
    return (bits + 7) // 8


@dataclass(frozen=True, slots=True)
class Place:
    """A field in C: an lvalue; a byte array if it is wider than 64 bits."""

    text: str
    bits: int
    signed: bool = False
    variable: bool = False

    @property
    def wide(self) -> bool:
        """Return whether the field is kept as bytes."""
        return self.bits > 64 or self.variable


@dataclass(frozen=True, slots=True)
class HeaderPlace:
    """A header in C: its struct, its number among all headers, and its union's numbers."""

    text: str
    number: str
    type: str
    union_first: str = ""
    union_count: int = 0


class Layout:
    """Names and places of everything a packet carries through the program."""

    def __init__(self, program: p4.Program) -> None:
        self.program = program
        self.usage = Usage(program)
        self.type_names = Names()
        for name in ("packet", "metadata", "residue"):
            self.type_names.of((name,), name)
        self._register_names = Names("register_")
        self._member_names = Names()
        for name in ("base", "meta", "valid", "origin"):
            self._member_names.of(name, name)
        self._metadata_names = Names()
        self._field_names: dict[str, Names] = {}
        self._elements: dict[str, tuple[str, int]] = {}
        self._unions: dict[str, tuple[str, int]] = {}
        self.numbers: dict[str, int] = {}
        self.header_count = 0
        self.groups: list[tuple[str, int]] = []
        for header in program.headers.values():
            if header.metadata:
                self._metadata_name(header.name)
        self._standard = self._find_standard()
        self._number_headers()

    # Numbers ------------------------------------------------------------------------------

    def _number_headers(self) -> None:
        program = self.program
        for stack in program.union_stacks.values():
            self.groups.append((stack.name, self.header_count))
            for place, name in enumerate(stack.unions):
                self._number_union(program.unions[name], stack.name, place)
        for union in program.unions.values():
            if union.name not in self._unions:
                self.groups.append((union.name, self.header_count))
                self._number_union(union, union.name, -1)
        for header_stack in program.stacks.values():
            self.groups.append((header_stack.name, self.header_count))
            for place, name in enumerate(header_stack.headers):
                self._elements[name] = (header_stack.name, place)
                self._number(name)
        for header in program.headers.values():
            if not header.metadata and header.name not in self.numbers:
                self.groups.append((header.name, self.header_count))
                self._number(header.name)

    def _number(self, name: str) -> None:
        self.numbers[name] = self.header_count
        self.header_count += 1

    def _number_union(self, union: p4.Union, group: str, place: int) -> None:
        self._unions[union.name] = (group, place)
        for name in union.headers:
            self._number(name)
            self._elements[name] = (union.name, -1)

    def number_name(self, group: str) -> str:
        """Return the C constant that a header, stack or union is numbered by."""
        return f"HEADER_{self._member_names.of(('header', group), group)}"

    def register_cells(self, name: str) -> str:
        """Return the C function that gives a register array's cells."""
        return self._register_names.of(name, name)

    # Standard metadata ----------------------------------------------------------------------

    def _find_standard(self) -> dict[p4.FieldRef, str]:
        program = self.program
        found: dict[p4.FieldRef, str] = {}
        for header in STANDARD_HEADERS:
            kind = program.headers.get(header)
            for field in program.header_types[kind.type].fields if kind else ():
                if field.name in STANDARD_BITS:
                    found[p4.FieldRef(header, field.name)] = field.name
        for name, reference in program.aliases.items():
            owner, _, field_name = name.partition(".")
            if owner in STANDARD_HEADERS and field_name in STANDARD_BITS:
                found[reference] = field_name
        return {reference: name for reference, name in found.items() if self._known(reference)}

    def _known(self, reference: p4.FieldRef) -> bool:
        header = self.program.headers.get(reference.header)
        if header is None:
            return False
        fields = self.program.header_types[header.type].fields
        return any(field.name == reference.field for field in fields)

    # Places -------------------------------------------------------------------------------

    def header(self, name: str, index: str | None = None) -> HeaderPlace:
        """Return where a header instance is."""
        kind = self.program.headers[name].type
        if name not in self._elements:
            member = self._member_names.of(("header", name), name)
            return HeaderPlace(f"packet->{member}", self.number_name(name), kind)
        owner, place = self._elements[name]
        if owner in self.program.stacks:
            return self.element(owner, str(place) if index is None else index)
        union = self.program.unions[owner]
        return self.union_member(union, union.headers.index(name))

    def element(self, stack: str, index: str) -> HeaderPlace:
        """Return where element `index` (C text) of a header stack is."""
        member = self._member_names.of(("header", stack), stack)
        number = self.number_name(stack)
        return HeaderPlace(
            f"packet->{member}[{index}]",
            number if index == "0" else f"{number} + {index}",
            self.program.stacks[stack].type,
        )

    def union_member(self, union: p4.Union, member: int, index: str | None = None) -> HeaderPlace:
        """Return where a member of a union is; `index` picks the union in its stack."""
        group, place = self._unions[union.name]
        count = len(union.headers)
        kind = self.program.headers[union.headers[member]].type
        text = self._union_member_name(group, union.members[member])
        number = self.number_name(group)
        if place >= 0:
            index = str(place) if index is None else index
            text = f"{text}[{index}]"
            number = f"{number} + {count} * {index}"
        return HeaderPlace(
            f"packet->{text}", f"{number} + {member}" if member else number, kind, number, count
        )

    def _union_member_name(self, group: str, member: str) -> str:
        return self._member_names.of(("union", group, member), f"{group}_{member}")

    def next_name(self, stack: str) -> str:
        """Return the member that counts a stack's elements."""
        return "packet->" + self._member_names.of(("next", stack), f"{stack}_next")

    def field_name(self, kind: str, field: str) -> str:
        """Return a field's member name inside its type's struct."""
        return self._field_names.setdefault(kind, Names()).of(field, field)

    def member(self, header: HeaderPlace, field: str) -> Place:
        """Return where a field of a header place is."""
        declared = self.program.header_types[header.type].field(field)
        return Place(
            f"{header.text}.{self.field_name(header.type, field)}",
            declared.bits,
            declared.signed,
            declared.variable,
        )

    def field(self, reference: p4.FieldRef) -> Place:
        """Return where a field is."""
        declared = self.program.field(reference)
        if reference in self._standard:
            name = self._standard[reference]
            bits = min(declared.bits, STANDARD_BITS[name])
            return Place(f"packet->base.standard.{name}", bits, declared.signed)
        header = self.program.headers[reference.header]
        if not header.metadata:
            return self.member(self.header(header.name), reference.field)
        if header.name == SCALARS:
            text = f"packet->meta.{self._scalar_name(reference.field)}"
        else:
            member = self._metadata_name(header.name)
            text = f"packet->meta.{member}.{self.field_name(header.type, reference.field)}"
        return Place(text, declared.bits, declared.signed, declared.variable)

    def _metadata_name(self, header: str) -> str:
        return self._metadata_names.of(("header", header), header)

    def _scalar_name(self, field: str) -> str:
        return self._metadata_names.of(("scalar", field), field)

    # Declarations -------------------------------------------------------------------------

    def kept_fields(self, kind: p4.HeaderType) -> list[p4.Field]:
        """Return the fields of a type that packets carry."""
        kept = self.usage.types[kind.name].kept
        return [field for field in kind.fields if field.name in kept]

    def struct_name(self, kind: str) -> str:
        """Return the C struct of a header type."""
        return f"struct {self.type_names.of(kind, kind)}"

    def declare(self, writer: Writer) -> None:
        """Write the structs of header types, of the metadata and of the packet."""
        self._declare_numbers(writer)
        for kind in self._used_types():
            with writer.block(self.struct_name(kind.name), "};"):
                for field in self.kept_fields(kind):
                    name = self.field_name(kind.name, field.name)
                    writer.line(_declaration(name, kind.name, field))
            writer.line()
        metadata = [h for h in self.program.headers.values() if self._carried(h)]
        with writer.block("struct metadata", "};"):
            for header in metadata:
                self._declare_metadata(writer, header)
            if not metadata:
                writer.line("uint8_t none;")
        writer.line()
        self._declare_packet(writer)

    def _declare_metadata(self, writer: Writer, header: p4.Header) -> None:
        if header.name != SCALARS:
            name = self._metadata_name(header.name)
            writer.line(f"{self.struct_name(header.type)} {name};")
            return
        for field in self.kept_fields(self.program.header_types[header.type]):
            writer.line(_declaration(self._scalar_name(field.name), header.type, field))

    def _declare_numbers(self, writer: Writer) -> None:
        with writer.block("enum header", "};"):
            for group, number in self.groups:
                writer.line(f"{self.number_name(group)} = {number},")
            writer.line(f"HEADERS = {self.header_count}")
        writer.line()

    def _carried(self, header: p4.Header) -> bool:
        if not header.metadata:
            return False
        fields = self.kept_fields(self.program.header_types[header.type])
        if header.name in STANDARD_HEADERS:
            references = [p4.FieldRef(header.name, field.name) for field in fields]
            return any(reference not in self._standard for reference in references)
        return bool(fields)

    def _used_types(self) -> list[p4.HeaderType]:
        carried = [h for h in self.program.headers.values() if self._carried(h)]
        wanted = {h.type for h in carried if h.name != SCALARS}
        wanted |= {h.type for h in self.program.headers.values() if not h.metadata}
        return [
            kind
            for kind in self.program.header_types.values()
            if kind.name in wanted and self.kept_fields(kind)
        ]

    def _declare_packet(self, writer: Writer) -> None:
        with writer.block("struct packet", "};"):
            writer.line("struct pl_packet base;")
            writer.line("struct metadata meta;")
            writer.line(f"uint64_t valid[{max((self.header_count + 63) // 64, 1)}];")
            writer.line(f"uint32_t origin[{max(self.header_count, 1)}];")
            for stack in (*self.program.stacks, *self.program.union_stacks):
                writer.line(f"uint32_t {self.next_name(stack).removeprefix('packet->')};")
            for text in self._members():
                writer.line(text)
        writer.line()

    def _members(self) -> list[str]:
        program, result = self.program, []
        for stack in program.stacks.values():
            member = self._member_names.of(("header", stack.name), stack.name)
            result.append((stack.type, f"{member}[{len(stack.headers)}]"))
        for union in program.unions.values():
            group, place = self._unions[union.name]
            if place > 0:
                continue
            count = len(program.union_stacks[group].unions) if place == 0 else 0
            for name, instance in zip(union.members, union.headers, strict=True):
                member = self._union_member_name(group, name) + (f"[{count}]" if count else "")
                result.append((program.headers[instance].type, member))
        for header in program.headers.values():
            if not header.metadata and header.name not in self._elements:
                member = self._member_names.of(("header", header.name), header.name)
                result.append((header.type, member))
        return [
            f"{self.struct_name(kind)} {member};"
            for kind, member in result
            if self.kept_fields(program.header_types[kind])
        ]


def _declaration(name: str, kind: str, field: p4.Field) -> str:
    """Return the member that holds a field."""
    if field.bits > MOST_BITS:
        raise ProgramError(f"{kind}.{field.name}: {field.bits} bits are not supported")
    if field.variable:
        return f"uint8_t {name}[{max(whole_bytes(field.bits), 1)}]; uint32_t {name}_bits;"
    if field.bits > 64:
        return f"uint8_t {name}[{whole_bytes(field.bits)}]; /* bit<{field.bits}> */"
    return f"uint{c_bits(field.bits)}_t {name}; /* bit<{field.bits}> */"
