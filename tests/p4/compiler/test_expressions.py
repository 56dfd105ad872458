"""Expressions, folded and at run time, against Python's integers."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.p4.compiler.support import compile_parts, evaluate, primitives

FIELDS = "bit<8> a; bit<8> b; bit<16> c; int<8> s; int<8> u; bit<8> r; int<8> q; bit<16> w;"
WIDTHS = {"a": (8, False), "b": (8, False), "c": (16, False), "s": (8, True), "u": (8, True)}


@dataclass(frozen=True)
class Term:
    """An expression: its text, its value by our own reckoning, and its type."""

    text: str
    value: int
    width: int
    signed: bool


def wrap(value: int, width: int, signed: bool) -> int:  # noqa: FBT001
    value &= (1 << width) - 1
    return value - (1 << width) if signed and value >> (width - 1) else value


def clamp(value: int, width: int, signed: bool) -> int:  # noqa: FBT001
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    return max(low, min(high, value))


Shape = tuple[int, bool]  # width, signed


def leaf(draw: st.DrawFn, values: dict[str, int], shape: Shape) -> Term:
    leaves = [name for name, known in WIDTHS.items() if known == shape]
    width, signed = shape
    if draw(st.booleans()) and leaves:
        name = draw(st.sampled_from(leaves))
        return Term(f"hdr.h.{name}", values[name], width, signed)
    value = draw(st.integers(0, (1 << width) - 1))
    return Term(f"{width}{'s' if signed else 'w'}{value}", wrap(value, *shape), width, signed)


def binary(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    left, right = (draw(terms(values, shape, depth)) for _ in range(2))
    operator = draw(st.sampled_from(["+", "-", "*", "&", "|", "^", "|+|", "|-|"]))
    a, b = left.value, right.value
    exact = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    if operator in exact:
        result = wrap(exact[operator], *shape)
    else:
        result = clamp(a + b if operator == "|+|" else a - b, *shape)
    return Term(f"({left.text} {operator} {right.text})", result, *shape)


def unary(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    operand = draw(terms(values, shape, depth))
    operator = draw(st.sampled_from(["-", "~"]))
    value = -operand.value if operator == "-" else ~operand.value
    return Term(f"({operator}{operand.text})", wrap(value, *shape), *shape)


def shift(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    operand, amount = draw(terms(values, shape, depth)), draw(st.integers(0, 20))
    operator = draw(st.sampled_from(["<<", ">>"]))
    value = operand.value << amount if operator == "<<" else operand.value >> amount
    return Term(f"({operand.text} {operator} {amount})", wrap(value, *shape), *shape)


def cast(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    width, signed = shape
    other = (width, not signed) if signed or draw(st.booleans()) else (24 - width, False)
    operand = draw(terms(values, other, depth))
    prefix = f"({'int' if signed else 'bit'}<{width}>)"
    return Term(f"({prefix}{operand.text})", wrap(operand.value, *shape), *shape)


def cut(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    """Slice a word to a byte, or join two bytes to a word."""
    if shape == (8, False):
        operand, low = draw(terms(values, (16, False), depth)), draw(st.integers(0, 8))
        return Term(f"{operand.text}[{low + 7}:{low}]", (operand.value >> low) & 255, *shape)
    if shape == (16, False):
        high, low_byte = (draw(terms(values, (8, False), depth)) for _ in range(2))
        text = f"({high.text} ++ {low_byte.text})"
        return Term(text, high.value << 8 | low_byte.value, *shape)
    return leaf(draw, values, shape)


def choice(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    left, right, yes, no = (draw(terms(values, shape, depth)) for _ in range(4))
    operator = draw(st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
    a, b = left.value, right.value
    holds = {"<": a < b, "<=": a <= b, "==": a == b, "!=": a != b, ">": a > b, ">=": a >= b}
    text = f"({left.text} {operator} {right.text} ? {yes.text} : {no.text})"
    return Term(text, yes.value if holds[operator] else no.value, *shape)


@st.composite
def terms(draw: st.DrawFn, values: dict[str, int], shape: Shape, depth: int) -> Term:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return leaf(draw, values, shape)
    make = draw(st.sampled_from([binary, binary, unary, shift, cast, cut, choice]))
    return make(draw, values, shape, depth - 1)


@settings(max_examples=60, deadline=None, phases=[Phase.generate])
@given(st.data())
def test_expressions(data: st.DataObject) -> None:
    values = {
        name: wrap(data.draw(st.integers(0, (1 << width) - 1), name), width, signed)
        for name, (width, signed) in WIDTHS.items()
    }
    byte = data.draw(terms(values, (8, False), 4))
    signed = data.draw(terms(values, (8, True), 4))
    word = data.draw(terms(values, (16, False), 4))
    body = f"hdr.h.r = {byte.text}; hdr.h.q = {signed.text}; hdr.h.w = {word.text};"
    with tempfile.TemporaryDirectory() as folder:
        json = compile_parts(Path(folder), fields=FIELDS, apply=body)
    fields = {("h", name): value for name, value in values.items()}
    results = {
        each["parameters"][0]["value"][1]: evaluate(each["parameters"][1], fields)
        for each in primitives(json)
    }
    expected = {"r": byte.value, "q": signed.value, "w": word.value}
    assert {name: results.get(name) for name in expected} == expected
