"""Values of lowered code, simplified as they are made."""

from p4.compiler import evaluate, flat
from p4.compiler import types as t

TRUE = flat.Number(1, t.BOOL)
FALSE = flat.Number(0, t.BOOL)


def number(value: int, type_: t.Type) -> flat.Number:
    """Return a constant of the type, wrapped to fit."""
    return flat.Number(t.wrap(value, type_), t.base(type_))


def unary(symbol: str, operand: flat.Value) -> flat.Value:
    """Return `symbol operand`."""
    if symbol == "+":
        return operand
    if isinstance(operand, flat.Number):
        return flat.Number(evaluate.unary(symbol, operand.value, operand.type), operand.type)
    if symbol == "!" and isinstance(operand, flat.Operation) and operand.operator == "!":
        return operand.right
    return flat.Operation(symbol, None, operand, operand.type)


def binary(symbol: str, left: flat.Value, right: flat.Value, type_: t.Type) -> flat.Value:
    """Return `left symbol right`, whose result has the type."""
    if isinstance(left, flat.Number) and isinstance(right, flat.Number):
        value = evaluate.binary(symbol, left.value, right.value, left.type)
        if value is not None:
            return flat.Number(value, type_)
    if symbol in {"&&", "||"}:
        return _logical(symbol, left, right)
    if (
        isinstance(right, flat.Number)
        and right.value == 0
        and symbol in {"+", "-", "<<", ">>", "|"}
    ):
        return left
    return flat.Operation(symbol, left, right, type_)


def _logical(symbol: str, left: flat.Value, right: flat.Value) -> flat.Value:
    decisive = symbol == "||"
    for one, other in ((left, right), (right, left)):
        if isinstance(one, flat.Number):
            if bool(one.value) == decisive and one is left:
                return one
            if bool(one.value) != decisive:
                return other
    return flat.Operation(symbol, left, right, t.BOOL)


def cast(operand: flat.Value, target: t.Type) -> flat.Value:
    """Return the operand as a value of another type."""
    target = t.base(target)
    source = t.base(operand.type)
    if source == target:
        return operand
    if isinstance(operand, flat.Number):
        return flat.Number(evaluate.cast(operand.value, source, target), target)
    return flat.Operation("cast", None, operand, target)


def cut(operand: flat.Value, high: int, low: int) -> flat.Value:
    """Return the bits from `high` down to `low`."""
    source = t.base(operand.type)
    assert isinstance(source, t.Bits)
    unsigned = cast(operand, t.Bits(source.width))
    shifted = binary(">>", unsigned, number(low, t.Bits(32)), unsigned.type)
    return cast(shifted, t.Bits(high - low + 1))


def concatenate(left: flat.Value, right: flat.Value) -> flat.Value:
    """Return `left ++ right`."""
    first, second = t.base(left.type), t.base(right.type)
    assert isinstance(first, t.Bits)
    assert isinstance(second, t.Bits)
    whole = t.Bits(first.width + second.width)
    upper = cast(cast(left, t.Bits(first.width)), whole)
    lower = cast(cast(right, t.Bits(second.width)), whole)
    shifted = binary("<<", upper, number(second.width, t.Bits(32)), whole)
    joined = binary("|", shifted, lower, whole)
    return cast(joined, t.Bits(whole.width, first.signed))


def choose(condition: flat.Value, yes: flat.Value, no: flat.Value) -> flat.Value:
    """Return `condition ? yes : no`."""
    if isinstance(condition, flat.Number):
        return yes if condition.value else no
    return yes if yes == no else flat.Operation("?:", yes, no, yes.type, condition)


def join(values: list[flat.Value]) -> flat.Value:
    """Return the conjunction of conditions."""
    result: flat.Value = TRUE
    for value in values:
        result = binary("&&", result, value, t.BOOL)
    return result
