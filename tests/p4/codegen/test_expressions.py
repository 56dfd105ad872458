"""Expressions in C against Python's integers, which BMv2's are like: of any size."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from p4.engine import Program, Switch
from tests.p4.codegen.documents import ADD_OUT, assign, constant, document, field, operation

Json = dict[str, Any]
Values = dict[str, int]

FIELDS = [
    ("bit1", 1, False),
    ("bit3", 3, False),
    ("byte", 8, False),
    ("signed8", 8, True),
    ("bit13", 13, False),
    ("word", 32, False),
    ("signed32", 32, True),
    ("bit48", 48, False),
    ("long", 64, False),
    ("signed64", 64, True),
    ("bit72", 72, False),
    ("bit128", 128, False),
    ("signed130", 130, True),
    ("bit256", 256, False),
]
WIDTHS = [1, 7, 8, 16, 31, 32, 48, 63, 64, 65, 128, 200, 256]
MOST_SHIFT = 2048


def signed(value: int, width: int) -> int:
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


class Generator:
    """Random expressions, each as JSON and as a Python function of the fields."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, depth: int) -> tuple[Json, Callable[[Values], int]]:  # noqa: C901, PLR0911
        choice = self.random.randrange(12) if depth else self.random.randrange(2)
        if choice == 0:
            value = self.random.choice(
                [0, 1, 2, 255, 1 << 31, (1 << 64) - 1, 1 << 64, (1 << 128) - 1]
            )
            return constant(value), lambda _: value
        if choice == 1:
            name, width, is_signed = self.random.choice(FIELDS)
            if is_signed:
                return field("in", name), lambda v: signed(v[name], width)
            return field("in", name), lambda v: v[name]
        if choice == 2:
            return self.shift(depth)
        if choice == 3:
            return self.cast(depth)
        if choice == 4:
            return self.ternary(depth)
        if choice == 5:
            left, f = self.number(depth - 1)
            return operation("~", None, left), lambda v: ~f(v)
        if choice == 6:
            left, f = self.number(depth - 1)
            mask = (1 << self.random.choice(WIDTHS)) - 1
            return operation("&", left, constant(mask)), lambda v: f(v) & mask
        if choice == 7:
            condition, test = self.condition(depth - 1)
            return operation("b2d", None, condition), lambda v: int(test(v))
        if choice == 8:
            return self.divide(depth)
        return self.binary(depth)

    def binary(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        operators: dict[str, Callable[[int, int], int]] = {
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "*": lambda a, b: a * b,
            "&": lambda a, b: a & b,
            "|": lambda a, b: a | b,
            "^": lambda a, b: a ^ b,
        }
        name = self.random.choice(sorted(operators))
        left, f = self.number(depth - 1)
        right, g = self.number(depth - 1)
        return operation(name, left, right), lambda v: operators[name](f(v), g(v))

    def divide(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        left, f = self.unsigned(depth - 1)
        right, g = self.unsigned(depth - 1)
        name = self.random.choice("/%")

        def value(v: Values) -> int:
            a, b = f(v), g(v)
            return 0 if b == 0 else (a // b if name == "/" else a % b)

        return operation(name, left, right), value

    def unsigned(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        json, f = self.number(depth)
        mask = (1 << self.random.choice(WIDTHS)) - 1
        return operation("&", json, constant(mask)), lambda v: f(v) & mask

    def shift(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        left, f = self.number(depth - 1)
        mask = self.random.choice([1, 7, 63, 255, (1 << 128) - 1])
        amount, g = self.number(0)
        by = operation("&", amount, constant(mask))
        if self.random.randrange(2):
            return operation(">>", left, by), lambda v: f(v) >> min(g(v) & mask, MOST_SHIFT)
        cut = (1 << self.random.choice(WIDTHS)) - 1
        shifted = operation("<<", left, by)
        return operation(
            "&", shifted, constant(cut)
        ), lambda v: f(v) << min(g(v) & mask, MOST_SHIFT) & cut

    def cast(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        left, f = self.number(depth - 1)
        width = self.random.choice(WIDTHS)
        kind = self.random.choice(["two_comp_mod", "sat_cast", "usat_cast"])
        low = -(1 << (width - 1)) if kind == "sat_cast" else 0
        high = (1 << (width - 1)) - 1 if kind == "sat_cast" else (1 << width) - 1

        def value(v: Values) -> int:
            return signed(f(v), width) if kind == "two_comp_mod" else min(max(f(v), low), high)

        return operation(kind, left, constant(width)), value

    def ternary(self, depth: int) -> tuple[Json, Callable[[Values], int]]:
        condition, test = self.condition(depth - 1)
        left, f = self.number(depth - 1)
        right, g = self.number(depth - 1)
        return operation("?", left, right, condition), lambda v: f(v) if test(v) else g(v)

    def condition(self, depth: int) -> tuple[Json, Callable[[Values], bool]]:
        if depth <= 0 or self.random.randrange(3):
            return self.comparison(max(depth, 0))
        name = self.random.choice(["and", "or", "not", "d2b"])
        if name == "d2b":
            json, f = self.number(depth - 1)
            return operation("d2b", None, json), lambda v: f(v) != 0
        left, p = self.condition(depth - 1)
        right, q = self.condition(depth - 1)
        if name == "not":
            return operation("not", None, right), lambda v: not q(v)
        if name == "and":
            return operation("and", left, right), lambda v: p(v) and q(v)
        return operation("or", left, right), lambda v: p(v) or q(v)

    def comparison(self, depth: int) -> tuple[Json, Callable[[Values], bool]]:
        operators: dict[str, Callable[[int, int], bool]] = {
            "==": lambda a, b: a == b,
            "!=": lambda a, b: a != b,
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
        }
        name = self.random.choice(sorted(operators))
        left, f = self.number(depth - 1 if depth else 0)
        right, g = self.number(depth - 1 if depth else 0)
        return operation(name, left, right), lambda v: operators[name](f(v), g(v))

    def values(self) -> Values:
        result = {}
        for name, width, _ in FIELDS:
            top = 1 << (width - 1)
            special = [0, 1, top, top - 1, (1 << width) - 1, self.random.getrandbits(width)]
            result[name] = self.random.choice(special) & ((1 << width) - 1)
        return result


def pack(values: Values) -> bytes:
    total, number = 0, 0
    for name, width, _ in FIELDS:
        number = number << width | values[name]
        total += width
    padding = -total % 8
    return (number << padding).to_bytes((total + padding) // 8, "big")


@pytest.mark.parametrize("seed", range(3))
def test_expressions__are_pythons(seed: int) -> None:
    generator = Generator(seed)
    cases, results = [], []
    for number in range(40):
        json, function = generator.number(4)
        width = generator.random.choice(WIDTHS)
        cases.append((json, function, width))
        results.append((f"r{number}", width))
    primitives = [ADD_OUT, *(assign(f"r{n}", json) for n, (json, _, _) in enumerate(cases))]
    switch = Switch(Program.from_document(document(FIELDS, primitives, results), "expressions"))
    for _ in range(40):
        values = generator.values()
        [output] = switch.receive(0, pack(values))
        total = sum(width for _, width in results)
        left = int.from_bytes(output.data, "big") >> (-total % 8)
        for json, function, width in reversed(cases):
            got, left = left & ((1 << width) - 1), left >> width
            wanted = function(values) & ((1 << width) - 1)
            assert got == wanted, (json, values)
