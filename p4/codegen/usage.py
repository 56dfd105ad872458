"""What a program does with its headers: which fields it reads or writes, which it builds.

A header that only ever comes from the parser stays in the frame: the deparser copies or leaves
its bytes and patches the fields that the program may have written. Only a header that a program
makes valid, copies or compares as a whole is kept with all its fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.verify import parts

if TYPE_CHECKING:
    from collections.abc import Iterator

BUILDING = frozenset(
    [
        "add_header",
        "add_header_fast",
        "assign_header",
        "copy_header",
        "assign_union",
        "assign_header_stack",
        "assign_union_stack",
        "push",
        "pop",
    ]
)
STANDARD_METADATA = "standard_metadata"
READS_FIRST = frozenset(
    ["register_write", "count", "truncate", "log_msg", "assert", "assume", "_jump_if_zero"]
)


@dataclass(slots=True)
class TypeUsage:
    """How instances of one header type are used."""

    kept: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)
    built: bool = False


class Usage:
    """How a program uses its header types."""

    def __init__(self, program: p4.Program) -> None:
        self._program = program
        self.types = {name: TypeUsage() for name in program.header_types}
        self.read_fields: set[p4.FieldRef] = set()
        for kind in program.header_types.values():
            if kind.variable is not None:
                self.types[kind.name].built = True
        for value in program_values(program):
            self._note(value)
        for statement in program_statements(program):
            self._note_statement(statement)
        for kind in program.header_types.values():
            usage = self.types[kind.name]
            if usage.built:
                usage.kept.update(f.name for f in kind.fields)

    def type_of_header(self, value: p4.Value | None) -> str | None:
        """Return the header type of a header-valued expression, None for other values."""
        program = self._program
        match value:
            case p4.HeaderRef(name):
                return program.headers[name].type
            case p4.Operation("dereference_header_stack" | "dereference_stack", p4.StackRef(name)):
                return program.stacks[name].type
            case p4.Operation("access_union_header", left, p4.Constant(member)):
                union = self._union(left)
                return program.headers[union.headers[member]].type if union else None
            case _:
                return None

    def _union(self, value: p4.Value | None) -> p4.Union | None:
        match value:
            case p4.UnionRef(name):
                return self._program.unions[name]
            case p4.Operation("dereference_union_stack", p4.UnionStackRef(name)):
                return self._program.unions[self._program.union_stacks[name].unions[0]]
            case _:
                return None

    def _keep(self, kind: str, name: str) -> None:
        if name != "$valid$":
            self.types[kind].kept.add(name)

    def _note(self, value: p4.Value) -> None:
        program = self._program
        match value:
            case p4.FieldRef(header, name):
                self._keep(program.headers[header].type, name)
                if not program.headers[header].metadata and name != "$valid$":
                    self.read_fields.add(value)
            case p4.StackField(stack, name):
                self._keep(program.stacks[stack].type, name)
            case p4.UnionStackField(stack, member, name):
                union = program.unions[program.union_stacks[stack].unions[0]]
                header = union.headers[union.members.index(member)]
                self._keep(program.headers[header].type, name)
            case p4.Operation("access_field", left, p4.Constant(offset)):
                kind = self.type_of_header(left)
                if kind is not None:
                    self._keep(kind, program.header_types[kind].fields[offset].name)
            case p4.Operation("==" | "!=", left, right):
                self._build(left)
                self._build(right)
            case _:
                pass

    def _build(self, value: p4.Value | None) -> None:
        kind = self.type_of_header(value)
        if kind is not None:
            self.types[kind].built = True
            return
        program = self._program
        match value:
            case p4.StackRef(name):
                self.types[program.stacks[name].type].built = True
            case p4.UnionRef(name):
                self._build_union(program.unions[name])
            case p4.UnionStackRef(name):
                self._build_union(program.unions[program.union_stacks[name].unions[0]])
            case p4.Operation("dereference_union_stack", p4.UnionStackRef(name)):
                self._build_union(program.unions[program.union_stacks[name].unions[0]])
            case _:
                pass

    def _build_union(self, union: p4.Union) -> None:
        for header in union.headers:
            self.types[self._program.headers[header].type].built = True

    def _note_statement(self, statement: p4.Statement) -> None:
        if statement.operation in BUILDING:
            for value in statement.parameters:
                self._build(value)
            for value in statement.parameters[:1]:
                self._note_whole(value)
            return
        if statement.operation == "mark_to_drop":
            for value in statement.parameters:
                self._note_dropping(value)
            return
        if statement.operation in READS_FIRST or not statement.parameters:
            return
        for value in statement.parameters:
            self._note_written(value)
            if statement.operation != "execute_meter":
                break

    def _note_whole(self, value: p4.Value) -> None:
        """Note that all fields of metadata are written."""
        if isinstance(value, p4.HeaderRef) and self._program.headers[value.name].metadata:
            kind = self._program.header_types[self._program.headers[value.name].type]
            self.types[kind.name].written.update(field.name for field in kind.fields)

    def _note_dropping(self, value: p4.Value) -> None:
        if isinstance(value, p4.HeaderRef) and value.name != STANDARD_METADATA:
            for field in dropping_fields(self._program, value.name):
                self._note(field)
                self._note_written(field)

    def _note_written(self, value: p4.Value) -> None:
        program = self._program
        match value:
            case p4.FieldRef(header, name):
                self.types[program.headers[header].type].written.add(name)
            case p4.Operation("access_field", left, p4.Constant(offset)):
                kind = self.type_of_header(left)
                if kind is not None:
                    self.types[kind].written.add(program.header_types[kind].fields[offset].name)
            case p4.StackField(stack, name):
                self.types[program.stacks[stack].type].written.add(name)
            case _:
                pass


def dropping_fields(program: p4.Program, header: str) -> list[p4.FieldRef]:
    """Return the fields of a copy of the standard metadata in which a drop is noted."""
    fields = program.header_types[program.headers[header].type].fields
    names = [field.name for field in fields if field.name in {"egress_spec", "mcast_grp"}]
    return [p4.FieldRef(header, name) for name in names]


def program_statements(program: p4.Program) -> Iterator[p4.Statement]:
    """Go through all primitive calls: actions, parser, deparser, and what checksums write."""
    for action in program.actions:
        yield from action.statements
    for state in program.parser.states:
        yield from (step for step in state.steps if isinstance(step, p4.Statement))
    yield from program.deparser.statements
    for checksum in program.checksums:
        if checksum.update:
            yield p4.Statement("assign", (checksum.target,))
    for meter in program.meters:
        if meter.target is not None:
            yield p4.Statement("assign", (meter.target,))
    for fields in program.field_lists.values():
        for item in fields.fields:
            yield p4.Statement("assign", (item,))


def program_values(program: p4.Program) -> Iterator[p4.Value]:
    """Go through all values of a program and all values inside them."""
    for value in _outer_values(program):
        yield from parts(value)


def _outer_values(program: p4.Program) -> Iterator[p4.Value | None]:  # noqa: C901, PLR0912
    for statement in program_statements(program):
        yield from statement.parameters
    for state in program.parser.states:
        yield from state.key
        yield from (step.length for step in state.steps if isinstance(step, p4.Extract))
    for kind in program.header_types.values():
        yield kind.length
    for control in program.controls:
        for node in control.nodes:
            if isinstance(node, p4.Conditional):
                yield node.expression
            if isinstance(node, p4.Table):
                yield from (key.target for key in node.keys)
        for profile in control.profiles:
            yield from profile.inputs
    for calculation in program.calculations.values():
        for item in calculation.inputs:
            if not isinstance(item, p4.Payload):
                yield item
    for checksum in program.checksums:
        yield checksum.target
        yield checksum.condition
    for fields in (*program.field_lists.values(), *program.digests.values()):
        yield from fields.fields
