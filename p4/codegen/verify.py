"""Check that a program's references lead somewhere, before code is made from it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.document import ProgramError

if TYPE_CHECKING:
    from collections.abc import Iterator


def verify_program(program: p4.Program) -> None:
    """Raise ProgramError for a reference to a header, field or object that does not exist."""
    _verify_headers(program)
    _verify_groups(program)
    for place, value in _all_values(program):
        for part in parts(value):
            message = _complaint(program, part)
            if message:
                raise ProgramError(f"{place}: {message}")
    for name in program.deparser.order:
        if name not in program.headers:
            raise ProgramError(f"deparser: there is no header `{name}`")
    _verify_tables(program)
    for checksum in program.checksums:
        if checksum.calculation not in program.calculations:
            raise ProgramError(f"{checksum.name}: there is no `{checksum.calculation}`")


def _verify_headers(program: p4.Program) -> None:
    for header in program.headers.values():
        kind = program.header_types.get(header.type)
        if kind is None:
            raise ProgramError(f"header {header.name}: there is no type `{header.type}`")
        if not header.metadata and kind.fixed_bits % 8:
            raise ProgramError(f"header type {kind.name}: {kind.fixed_bits} bits are no bytes")
        if sum(field.variable for field in kind.fields) > 1:
            raise ProgramError(f"header type {kind.name}: more than one varbit")


def _verify_groups(program: p4.Program) -> None:
    """Check that stacks and unions are made of what their types say."""
    for stack in program.stacks.values():
        if any(program.headers[name].type != stack.type for name in stack.headers):
            raise ProgramError(f"header stack {stack.name}: an element is no `{stack.type}`")
    for union in program.unions.values():
        if len(union.headers) != len(union.members):
            raise ProgramError(f"header union {union.name}: its type has other members")
    for union_stack in program.union_stacks.values():
        shapes = {_union_shape(program, name) for name in union_stack.unions}
        if len(shapes) != 1:
            raise ProgramError(f"header union stack {union_stack.name}: its unions differ")
    grouped = [name for stack in program.stacks.values() for name in stack.headers]
    grouped += [name for union in program.unions.values() for name in union.headers]
    if len(set(grouped)) != len(grouped):
        raise ProgramError("a header is in more than one stack or union")


def _union_shape(program: p4.Program, name: str) -> tuple[tuple[str, str], ...]:
    union = program.unions[name]
    types = [program.headers[header].type for header in union.headers]
    return tuple(zip(union.members, types, strict=True))


def _verify_tables(program: p4.Program) -> None:
    profiles = {profile.name for profile in program.profiles}
    for kind, names in (
        ("tables", [table.name for table in program.tables]),
        ("action profiles", [profile.name for profile in program.profiles]),
        ("registers", [register.name for register in program.registers]),
        ("counters", [counter.name for counter in program.counters]),
        ("meters", [meter.name for meter in program.meters]),
    ):
        for name, count in Counter(names).items():
            if count > 1:
                raise ProgramError(f"two {kind} are called `{name}`: rename one with @name")
    for table in program.tables:
        if table.profile is not None and table.profile not in profiles:
            raise ProgramError(f"table {table.name}: no action profile `{table.profile}`")
        for key in table.keys:
            if key.bits == 0:
                raise ProgramError(f"table {table.name}: key {key.name} has no bits")


def parts(value: p4.Value | None) -> Iterator[p4.Value]:
    """Go through a value and all values inside it."""
    if value is None:
        return
    yield value
    match value:
        case p4.Operation():
            yield from parts(value.left)
            yield from parts(value.right)
            yield from parts(value.condition)
        case p4.RegisterCell():
            yield from parts(value.index)
        case p4.Values():
            for item in value.items:
                yield from parts(item)
        case _:
            pass


def action_values(action: p4.Action) -> Iterator[p4.Value]:
    """Go through all values inside an action."""
    for statement in action.statements:
        for parameter in statement.parameters:
            yield from parts(parameter)


def _all_values(program: p4.Program) -> Iterator[tuple[str, p4.Value]]:  # noqa: C901, PLR0912
    for action in program.actions:
        for statement in action.statements:
            for value in statement.parameters:
                yield f"action {action.name}", value
    for state in program.parser.states:
        yield from ((f"parser state {state.name}", value) for value in _state_values(state))
    for control in program.controls:
        for node in control.nodes:
            if isinstance(node, p4.Conditional):
                yield f"conditional {node.name}", node.expression
            if isinstance(node, p4.Table):
                yield from ((f"table {node.name}", key.target) for key in node.keys)
        for profile in control.profiles:
            yield from ((f"action profile {profile.name}", item) for item in profile.inputs)
    for calculation in program.calculations.values():
        for item in calculation.inputs:
            if not isinstance(item, p4.Payload):
                yield f"calculation {calculation.name}", item
    for checksum in program.checksums:
        yield f"checksum {checksum.name}", checksum.target
        if checksum.condition is not None:
            yield f"checksum {checksum.name}", checksum.condition
    for meter in program.meters:
        if meter.target is not None:
            yield f"meter {meter.name}", meter.target
    for fields in (*program.field_lists.values(), *program.digests.values()):
        yield from ((f"field list {fields.name}", item) for item in fields.fields)


def _state_values(state: p4.State) -> Iterator[p4.Value]:
    yield from state.key
    for step in state.steps:
        if isinstance(step, p4.Statement):
            yield from step.parameters
            continue
        if step.length is not None:
            yield step.length
        if step.kind == "regular":
            yield p4.HeaderRef(step.target)
        elif step.kind == "stack":
            yield p4.StackRef(step.target)
        else:
            yield p4.UnionStackRef(step.target)


def _complaint(program: p4.Program, value: p4.Value) -> str | None:  # noqa: C901
    match value:
        case p4.FieldRef(header, field) if header in program.headers:
            return _field_complaint(program, program.headers[header].type, header, field)
        case p4.FieldRef(name, _) | p4.HeaderRef(name):
            known = name in program.headers
        case p4.StackField(stack, field) if stack in program.stacks:
            return _field_complaint(program, program.stacks[stack].type, stack, field)
        case p4.StackRef(name) | p4.StackField(name, _):
            known = name in program.stacks
        case p4.UnionRef(name):
            known = name in program.unions
        case p4.UnionStackRef(name) | p4.UnionStackField(name, _, _):
            known = name in program.union_stacks
        case p4.RegisterCell(name, _) | p4.Named("register_array", name):
            known = any(item.name == name for item in program.registers)
        case p4.Named("counter_array", name):
            known = any(item.name == name for item in program.counters)
        case p4.Named("meter_array", name):
            known = any(item.name == name for item in program.meters)
        case p4.Named("calculation", name):
            known = name in program.calculations
        case _:
            return None
    return None if known else f"there is no `{name}`"


def _field_complaint(program: p4.Program, kind: str, owner: str, field: str) -> str | None:
    fields = program.header_types[kind].fields
    if field == "$valid$" or any(item.name == field for item in fields):
        return None
    return f"`{owner}` has no field `{field}`"
