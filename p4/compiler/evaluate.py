"""Arithmetic on constants, as P4 defines it; shared by the checker and by constant folding."""

import operator
from collections.abc import Callable

from p4.compiler.types import BOOL, Bits, Type, base, wrap

SHIFT_LIMIT = 1 << 16

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "|+|": operator.add,
    "|-|": operator.sub,
}
_LOGICAL: dict[str, Callable[[int, int], bool]] = {
    "&&": lambda left, right: bool(left and right),
    "||": lambda left, right: bool(left or right),
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def unary(symbol: str, value: int, type_: Type) -> int:
    """Return the result of a unary operator on a value of the type."""
    if symbol == "!":
        return int(not value)
    if symbol == "~":
        return wrap(~value, type_)
    return wrap(-value if symbol == "-" else value, type_)


def binary(symbol: str, left: int, right: int, type_: Type) -> int | None:
    """Return the result of an operator whose left operand has the type; None if it has none.

    There is none for a division by zero and for shifts that no memory would hold.
    """
    if symbol in _LOGICAL:
        return int(_LOGICAL[symbol](left, right))
    if symbol in {"|+|", "|-|"}:
        return _saturate(_ARITHMETIC[symbol](left, right), type_)
    if symbol in _ARITHMETIC:
        return wrap(_ARITHMETIC[symbol](left, right), type_)
    if symbol in {"/", "%"}:
        return _divide(symbol, left, right, type_)
    if symbol in {"<<", ">>"}:
        return _shift(symbol, left, right, type_)
    return None


def concatenate(left: int, right: int, right_width: int, result: Type) -> int:
    """Return `left ++ right` as a value of type `result`."""
    return wrap((left << right_width) | (right & ((1 << right_width) - 1)), result)


def cast(value: int, source: Type, target: Type) -> int:
    """Return a value as it is after a cast."""
    if base(target) == BOOL or base(source) == BOOL:
        return int(bool(value))
    return wrap(value, target)


def _divide(symbol: str, left: int, right: int, type_: Type) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return wrap(quotient if symbol == "/" else left - right * quotient, type_)


def _shift(symbol: str, left: int, right: int, type_: Type) -> int | None:
    if right < 0:
        return None
    if symbol == ">>":
        return wrap(left >> min(right, SHIFT_LIMIT), type_)
    bits = base(type_)
    if isinstance(bits, Bits):
        return wrap(left << min(right, bits.width), type_)
    return left << right if right <= SHIFT_LIMIT else None


def _saturate(value: int, type_: Type) -> int:
    bits = base(type_)
    assert isinstance(bits, Bits)
    if bits.signed:
        return max(-(1 << (bits.width - 1)), min((1 << (bits.width - 1)) - 1, value))
    return max(0, min((1 << bits.width) - 1, value))
