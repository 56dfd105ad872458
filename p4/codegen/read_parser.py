"""Read the parser of BMv2 JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.values import read_expression, read_position, read_statement, read_value

if TYPE_CHECKING:
    from p4.codegen.document import Place


def read_parser(root: Place) -> p4.Parser:
    """Read the document's first parser; a document without one parses nothing."""
    places = list(root.get("parsers"))
    if not places:
        return p4.Parser("parser", None, ())
    place = places[0]
    states = tuple(_state(item) for item in place["parse_states"])
    names = {state.name for state in states}
    for number, state in enumerate(states):
        for case in state.cases:
            if case.target is not None and case.target not in names:
                where = place["parse_states"][number]
                raise where.fail(f"transition to unknown state `{case.target}`")
    start = place["init_state"]
    if start.text_or_none() is not None and start.text() not in names:
        raise start.fail(f"there is no state `{start.value}`")
    return p4.Parser(place["name"].text(), start.text_or_none(), states)


def _state(place: Place) -> p4.State:
    steps = tuple(_step(item) for item in place.get("parser_ops"))
    key = tuple(_key(item) for item in place.get("transition_key"))
    cases = tuple(_case(item) for item in place.get("transitions"))
    return p4.State(place["name"].text(), steps, key, cases, read_position(place))


def _step(place: Place) -> p4.Extract | p4.Statement:
    operation = place["op"].text()
    parameters = place["parameters"]
    if operation in {"extract", "extract_VL"}:
        return _extract(parameters, variable=operation == "extract_VL")
    if operation == "primitive":
        return read_statement(parameters[0])
    if operation == "shift":
        amount = parameters[0]
        return p4.Statement("advance", (p4.Constant(8 * _shift_bytes(amount)),))
    if operation not in {"set", "verify", "advance"}:
        raise place["op"].fail(f"unknown parser operation `{operation}`")
    values = tuple(_parameter(item) for item in parameters)
    if len(values) != (1 if operation == "advance" else 2):
        raise parameters.fail(f"`{operation}` has {len(values)} parameters")
    return p4.Statement(operation, values, read_position(place))


def _shift_bytes(place: Place) -> int:
    return place.natural() if isinstance(place.value, int) else place["value"].hexadecimal()


def _parameter(place: Place) -> p4.Value:
    return read_expression(place) if "type" not in place.dict() else read_value(place)


def _extract(parameters: Place, *, variable: bool) -> p4.Extract:
    place = parameters[0]
    kind = place["type"].text()
    if kind not in {"regular", "stack", "union_stack"}:
        raise place["type"].fail(f"cannot extract to `{kind}`")
    value = place["value"]
    target, member = value.value, ""
    if kind == "union_stack":
        target, member = value[0].text(), value[1].text()
    length = read_value(parameters[1]) if variable else None
    return p4.Extract(kind, str(target), member, length)


def _key(
    place: Place,
) -> p4.FieldRef | p4.StackField | p4.UnionStackField | p4.Lookahead:
    value = read_value(place)
    if not isinstance(value, p4.FieldRef | p4.StackField | p4.UnionStackField | p4.Lookahead):
        raise place.fail("cannot select on this")
    return value


def _case(place: Place) -> p4.Case:
    kind = place.get("type")
    value = place["value"]
    mask = place.get("mask")
    target = place["next_state"].text_or_none()
    name = kind.text_or_none() or ("default" if value.value == "default" else "hexstr")
    bits = None if mask.absent else mask.hexadecimal()
    if name == "default":
        return p4.Case(p4.CaseKind.DEFAULT, 0, None, "", target)
    if name == "parse_vset":
        return p4.Case(p4.CaseKind.SET, 0, bits, value.text(), target)
    if name != "hexstr":
        raise kind.fail(f"unknown transition type `{name}`")
    return p4.Case(p4.CaseKind.VALUE, value.hexadecimal(), bits, "", target)
