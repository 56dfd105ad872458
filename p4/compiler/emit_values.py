"""The sixth pass, part one: values and primitives' parameters as JSON.

BMv2 computes without bounds, so every operator that can leave its type's range is cut back to it.
BMv2 keeps booleans apart from data: `data` gives a value as data, `condition` as a boolean.
"""

from typing import Any

from p4.compiler import flat
from p4.compiler import types as t

Json = dict[str, Any]

_UNBOUNDED = {"+", "-", "*", "<<", "~", "cast"}
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_SATURATING = {"|+|": "+", "|-|": "-"}


def expression(operator: str, left: Json | None, right: Json, cond: Json | None = None) -> Json:
    """Return an expression of BMv2."""
    value: Json = {"op": operator, "left": left, "right": right}
    if cond is not None:
        value["cond"] = cond
    return {"type": "expression", "value": value}


def hexstr(value: int, width: int | None = None) -> str:
    """Return a number in hexadecimal, padded to the bytes of its width."""
    digits = -(-width // 8) * 2 if width else 1
    sign = "-" if value < 0 else ""
    return f"{sign}0x{abs(value):0{digits}x}"


def number(value: int, width: int | None = None) -> Json:
    """Return a constant."""
    return {"type": "hexstr", "value": hexstr(value, width)}


def field(header: str, name: str) -> Json:
    """Return a reference to a header's field."""
    return {"type": "field", "value": [header, name]}


def data(value: flat.Value) -> Json:  # noqa: PLR0911
    """Return a value as data, as it stands inside an expression."""
    match value:
        case flat.Number():
            return number(value.value, t.width(value.type))
        case flat.Field():
            return field(value.header, value.name)
        case flat.RuntimeData():
            return {"type": "local", "value": value.index}
        case flat.Validity():
            return field(value.header, "$valid$")
        case flat.LastIndex():
            stack = {"type": value.kind, "value": value.stack}
            return expression("last_stack_index", None, stack)
        case flat.StackTop(member=None):
            return {"type": "stack_field", "value": [value.stack, value.name]}
        case flat.StackTop():
            parts = [value.stack, value.member, value.name]
            return {"type": "union_stack_field", "value": parts}
        case flat.Lookahead():
            return {"type": "lookahead", "value": [value.offset, t.width(value.type)]}
        case flat.Operation() if value.type != t.BOOL:
            return _operation(value)
    return expression("b2d", None, condition(value))


def condition(value: flat.Value) -> Json:
    """Return a boolean value."""
    match value:
        case flat.Number():
            return {"type": "bool", "value": bool(value.value)}
        case flat.UnionValidity():
            union = {"type": "header_union", "value": value.union}
            return expression("valid_union", None, union)
        case flat.Operation() if value.operator != "cast":
            return _boolean(value)
        case flat.Operation():
            return expression("d2b", None, data(value.right))
    return expression("d2b", None, data(value))


def _boolean(value: flat.Operation) -> Json:
    if value.operator == "!":
        return expression("not", None, condition(value.right))
    assert value.left is not None
    if value.operator in {"&&", "||"}:
        operator = {"&&": "and", "||": "or"}[value.operator]
        return expression(operator, condition(value.left), condition(value.right))
    if value.operator in _COMPARISONS:
        return expression(value.operator, data(value.left), data(value.right))
    assert value.operator == "?:"
    assert value.condition is not None
    chosen = condition(value.condition)
    yes = expression("and", chosen, condition(value.left))
    no = expression("and", expression("not", None, chosen), condition(value.right))
    return expression("or", yes, no)


def _operation(value: flat.Operation) -> Json:
    operator = value.operator
    type_ = t.base(value.type)
    if operator == "?:":
        assert value.left is not None
        assert value.condition is not None
        return expression("?", data(value.left), data(value.right), condition(value.condition))
    if operator == "cast":
        return _cast(value.right, type_)
    right = data(value.right)
    left = data(value.left) if value.left is not None else None
    if operator in _SATURATING:
        assert isinstance(type_, t.Bits)
        sum_ = expression(_SATURATING[operator], left, right)
        saturate = "sat_cast" if type_.signed else "usat_cast"
        return expression(saturate, sum_, number(type_.width, 8))
    if operator == "-" and left is None:
        left = number(0)
    result = expression(operator, left, right)
    return _cut(result, type_) if operator in _UNBOUNDED else result


def _cast(operand: flat.Value, target: t.Type) -> Json:
    source = t.base(operand.type)
    result = data(operand)
    if not isinstance(source, t.Bits) or not isinstance(target, t.Bits):
        return result
    if source.signed == target.signed and target.width >= source.width:
        return result
    return _cut(result, target)


def _cut(result: Json, type_: t.Type) -> Json:
    if not isinstance(type_, t.Bits):
        return result
    if type_.signed:
        return expression("two_comp_mod", result, number(type_.width, 8))
    return expression("&", result, number((1 << type_.width) - 1, type_.width))


def parameter(value: flat.Parameter) -> Json:
    """Return a parameter of a primitive."""
    match value:
        case flat.Reference():
            return {"type": value.kind, "value": value.name}
        case flat.Text():
            return {"type": "string", "value": value.text}
        case flat.Vector():
            return {
                "type": "parameters_vector",
                "value": [parameter(each) for each in value.values],
            }
        case flat.UnionEnd():
            return {"type": "union_stack", "value": [value.stack, value.member]}
    return wrapped(data(value))


def wrapped(value: Json) -> Json:
    """Return a value as a parameter: an expression stands inside one more object."""
    if value["type"] == "local":
        return {"type": "runtime_data", "value": value["value"]}
    return {"type": "expression", "value": value} if value["type"] == "expression" else value
