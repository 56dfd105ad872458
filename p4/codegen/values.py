"""Read the type-value objects of BMv2 JSON: references, constants, expressions."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from p4.codegen import program as p4

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4.codegen.document import Place

OPERATORS = frozenset(
    [
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        ">>",
        "==",
        "!=",
        ">",
        ">=",
        "<",
        "<=",
        "and",
        "or",
        "not",
        "&",
        "|",
        "^",
        "~",
        "valid",
        "valid_union",
        "d2b",
        "b2d",
        "two_comp_mod",
        "sat_cast",
        "usat_cast",
        "?",
        "dereference_stack",
        "dereference_header_stack",
        "dereference_union_stack",
        "last_stack_index",
        "size_stack",
        "access_field",
        "access_union_header",
    ]
)
HEADER_COPIES = frozenset(("assign_header", "copy_header"))
NAMED_KINDS = frozenset(
    [
        "calculation",
        "register_array",
        "meter_array",
        "counter_array",
        "extern",
        "parse_vset",
        "field_list",
    ]
)


def field_reference(place: Place) -> p4.FieldRef:
    """Read a pair of header and field name."""
    return p4.FieldRef(place[0].text(), place[1].text())


def read_position(place: Place) -> p4.Position | None:
    """Read where something was declared; the file's folder is left out."""
    source = place.get("source_info")
    if source.absent:
        return None
    file = source.get("filename").text_or_none() or "program"
    fragment = source.get("source_fragment").text_or_none() or ""
    return p4.Position(PurePath(file).name, source["line"].natural(), fragment)


def read_statement(place: Place) -> p4.Statement:
    """Read a primitive call."""
    parameters = tuple(read_value(item) for item in place.get("parameters"))
    if place["op"].text() in HEADER_COPIES:
        parameters = tuple(map(_last_header, parameters))
    return p4.Statement(place["op"].text(), parameters, read_position(place))


def _last_header(value: p4.Value) -> p4.Value:
    """Return a stack's last header, which p4c writes as if it were one of its fields."""
    match value:
        case p4.StackField(stack, "last"):
            last = p4.Operation("last_stack_index", None, p4.StackRef(stack))
            return p4.Operation("dereference_header_stack", p4.StackRef(stack), last)
        case _:
            return value


def read_value(place: Place) -> p4.Value:
    """Read a type-value object; an unknown type is an error."""
    kind = place["type"].text()
    value = place["value"]
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(value)
    if kind == "expression":
        return read_expression(value)
    if kind == "hexstr":
        width = place.get("bitwidth")
        return p4.Constant(value.hexadecimal(), None if width.absent else width.natural())
    if kind in NAMED_KINDS:
        return p4.Named(kind, value.text())
    raise place.fail(f"unknown type `{kind}`")


def read_expression(place: Place) -> p4.Value:
    """Read an expression, whichever way it is wrapped; null is the constant 0."""
    if place.absent:
        return p4.Constant(0)
    if "op" not in place.dict():
        return read_value(place)
    operator = place["op"].text()
    if operator not in OPERATORS:
        raise place.fail(f"unknown operator `{operator}`")
    condition = read_operand(place["cond"]) if operator == "?" else None
    return p4.Operation(
        operator, read_operand(place.get("left")), read_operand(place.get("right")), condition
    )


def read_operand(place: Place) -> p4.Value | None:
    """Read one side of an operation: nothing, a bare offset, or a type-value object."""
    if place.absent:
        return None
    if isinstance(place.value, int):
        return p4.Constant(place.natural())
    return read_expression(place)


def _register_cell(place: Place) -> p4.Value:
    return p4.RegisterCell(place[0].text(), read_expression(place[1]))


def _parameters(place: Place) -> p4.Value:
    if place.value == {}:  # what p4c writes for none
        return p4.Values(())
    return p4.Values(tuple(read_value(item) for item in place))


def _truth(place: Place) -> p4.Value:
    return p4.Truth(place.truth())


_READERS: dict[str, Callable[[Place], p4.Value]] = {
    "field": field_reference,
    "bool": _truth,
    "header": lambda place: p4.HeaderRef(place.text()),
    "header_stack": lambda place: p4.StackRef(place.text()),
    "header_union": lambda place: p4.UnionRef(place.text()),
    "header_union_stack": lambda place: p4.UnionStackRef(place.text()),
    "stack_field": lambda place: p4.StackField(place[0].text(), place[1].text()),
    "union_stack_field": lambda place: p4.UnionStackField(
        place[0].text(), place[1].text(), place[2].text()
    ),
    "runtime_data": lambda place: p4.ActionParameter(place.natural()),
    "local": lambda place: p4.ActionParameter(place.natural()),
    "lookahead": lambda place: p4.Lookahead(place[0].natural(), place[1].natural()),
    "register": _register_cell,
    "string": lambda place: p4.Text(place.text()),
    "parameters_vector": _parameters,
}
