"""Operators on numbers in C, with intervals: 64-bit where that is exact, wide elsewhere."""

from __future__ import annotations

from p4.codegen.code import WORD, Condition, Number, constant

WIDE_NAMES = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "%": "modulo",
    "&": "and",
    "|": "or",
    "^": "xor",
}
MOST_BITS = 2048
HALF = WORD >> 1
INT = 1 << 31  # below it, C's promotions to int are exact


def mask_of(value: int) -> bool:
    """Return whether a number is one less than a power of two."""
    return value > 0 and value & (value + 1) == 0


def _ones(value: int) -> int:
    return (1 << value.bit_length()) - 1


def _interval(operator: str, a: Number, b: Number) -> tuple[int, int]:  # noqa: PLR0911
    match operator:
        case "+":
            return a.low + b.low, a.high + b.high
        case "-":
            return a.low - b.high, a.high - b.low
        case "*":
            products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            return min(products), max(products)
        case "/":
            return min(a.low, 0), max(a.high, 0)
        case "%":
            return 0, max(min(a.high, max(b.high - 1, 0)), 0)
        case "&":
            highs = [n.high for n in (a, b) if n.low >= 0]
            if highs:
                return 0, min(highs)
        case _:
            pass
    if a.low >= 0 and b.low >= 0:
        return 0, max(_ones(a.high), _ones(b.high))
    most = max(_ones(n) for n in (a.high, b.high, -a.low, -b.low))
    return -most - 1, most


def binary(operator: str, a: Number, b: Number) -> Number:  # noqa: PLR0911
    """Return C for an operator on two exact numbers, exact."""
    if a.constant is not None and b.constant is not None:
        value = _fold(operator, a.constant, b.constant)
        if value is not None:
            return constant(value)
    low, high = _interval(operator, a, b)
    small = not a.wide and not b.wide
    if small and _fits_int(operator, a, b, low, high):
        return Number(f"{a.inside()} {operator} {b.inside()}", low, high, atom=False)
    if small and low >= 0 and a.low >= 0 and b.low >= 0 and high < WORD:
        return Number(_word_text(operator, a, b), low, high, atom=operator in "/%", full=True)
    if small and a.high < HALF and b.high < HALF and low >= -HALF and high < HALF:
        if operator in "/%":
            return _wide(operator, a, b, low, high)
        text = f"{a.integer()} {operator} {b.integer()}"
        if low >= 0:
            return Number(f"(uint64_t)({text})", low, high, atom=True, full=True)
        return Number(text, low, high, atom=False, full=True)
    return _wide(operator, a, b, low, high)


def _fits_int(operator: str, a: Number, b: Number, low: int, high: int) -> bool:
    """Return whether the operator is exact in C's own promotions: all in 31 bits, none below 0."""
    lowest, highest = min(low, a.low, b.low), max(high, a.high, b.high)
    return operator in "+*&|^" and lowest >= 0 and highest < INT


def _fold(operator: str, a: int, b: int) -> int | None:  # noqa: PLR0911
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case _:
            return None


def _wide(operator: str, a: Number, b: Number, low: int, high: int) -> Number:
    text = f"pl_wide_{WIDE_NAMES[operator]}({a.widened()}, {b.widened()})"
    if low >= 0 and high < WORD:
        return Number(f"pl_wide_low({text})", low, high, full=True)
    return Number(text, low, high, wide=True)


def _word_text(operator: str, a: Number, b: Number) -> str:
    if operator in "/%":
        if b.low > 0:
            return f"({a.unsigned()} {operator} {_right(b)})"
        name = "pl_divide" if operator == "/" else "pl_modulo"
        return f"{name}({a.beside_word()}, {b.beside_word()})"
    right = _right(b) if a.constant is None else b.unsigned()
    return f"{a.unsigned()} {operator} {right}"


def _right(b: Number) -> str:
    """Return the operand on the right of a word."""
    return b.inside() if b.atom or b.full else b.unsigned()


def _shifted(a: Number) -> str:
    """Return what is shifted to the left, as an operand of 64 bits even if it is constant."""
    return a.unsigned() if a.constant is None else f"UINT64_C({a.low % WORD})"


def _amount(b: Number) -> str:
    """Return how far to shift as an uint64_t operand; all that is more counts as its greatest."""
    return f"pl_wide_amount({b.text})" if b.wide else b.unsigned()


def shift(operator: str, a: Number, b: Number) -> Number:
    """Return C for a shift of an exact number, exact (modulo 2 to the 2048th)."""
    if operator == ">>":
        return _shift_right(a, b)
    most = min(b.high, MOST_BITS)
    low, high = min(a.low << most, 0), max(a.high << most, 0)
    if a.constant is not None and b.constant is not None and b.constant <= MOST_BITS:
        return constant(a.constant << b.constant)
    bound = 1 << MOST_BITS
    low, high = max(low, -bound), min(high, bound - 1)
    if not a.wide and low >= 0 and high < WORD:
        return Number(f"{_shifted(a)} << {b.inside()}", low, high, atom=False, full=True)
    text = f"pl_wide_shift_left({a.widened()}, {_amount(b)})"
    return Number(text, low, high, wide=True)


def _shift_right(a: Number, b: Number) -> Number:
    low, high = min(a.low, 0), a.high >> min(b.low, MOST_BITS) if a.high >= 0 else -1
    if a.wide:
        text = f"pl_wide_shift_right({a.text}, {_amount(b)})"
        if low >= 0 and high < WORD:
            return Number(f"pl_wide_low({text})", low, high, full=True)
        return Number(text, low, high, wide=True)
    if a.signed:
        return Number(
            f"pl_shift_right_signed({a.beside_word()}, {_amount(b)})", low, high, full=True
        )
    if a.high < INT and b.high < 31:
        return Number(f"{a.inside()} >> {b.inside()}", low, high, atom=False)
    if b.high < 64:
        return Number(f"{a.unsigned()} >> {b.inside()}", low, high, atom=False, full=True)
    return Number(f"pl_shift_right({a.beside_word()}, {_amount(b)})", low, high, full=True)


def low_binary(operator: str, a: Number, b: Number) -> Number:
    """Return C for an operator where only the low 64 bits of the result count."""
    if operator == "<<":
        if b.high < 64:
            text = f"{_shifted(a)} << {b.inside()}"
            return Number(text, 0, WORD - 1, atom=False, full=True)
        return Number(f"pl_shift_left({a.unsigned()}, {_amount(b)})", 0, WORD - 1, full=True)
    text = f"{a.unsigned()} {operator} {b.unsigned()}"
    return Number(text, 0, WORD - 1, atom=False, full=True)


def to_bits(number: Number, bits: int) -> Number:
    """Return C for the low `bits` (at most 64) of a number."""
    high = (1 << bits) - 1
    if not number.wide and number.low >= 0 and number.high <= high:
        return number
    if number.constant is not None:
        return constant(number.constant & high)
    if not number.wide and number.low >= 0 and number.high < INT:
        return Number(f"{number.inside()} & {constant(high).text}", 0, high, atom=False)
    text = number.unsigned()
    if bits == 64:
        return Number(text, 0, high, full=True)
    return Number(f"{text} & {constant(high).text}", 0, high, atom=False, full=True)


def compare(operator: str, a: Number, b: Number) -> Condition:
    """Return C for a comparison of two exact numbers."""
    decided = _decide(operator, a, b)
    if decided is not None:
        return Condition("true" if decided else "false")
    if a.wide or b.wide:
        text = f"pl_wide_compare({a.widened()}, {b.widened()}) {operator} 0"
    elif a.low >= 0 and b.low >= 0:
        text = f"{a.inside()} {operator} {b.inside()}"
    elif a.high < HALF and b.high < HALF:
        text = f"{a.integer()} {operator} {b.integer()}"
    else:
        text = f"pl_wide_compare({a.widened()}, {b.widened()}) {operator} 0"
    return Condition(text, atom=False)


def _decide(operator: str, a: Number, b: Number) -> bool | None:  # noqa: PLR0911
    """Return a comparison's result if the intervals leave only one."""
    match operator:
        case "<" | ">" if a.text == b.text:
            return False
        case "<=" | ">=" if a.text == b.text:
            return True
        case "<":
            return _decide(">", b, a)
        case "<=":
            return _decide(">=", b, a)
        case ">":
            return True if a.low > b.high else (False if a.high <= b.low else None)
        case ">=":
            return True if a.low >= b.high else (False if a.high < b.low else None)
        case _:
            pass
    apart = a.low > b.high or b.low > a.high
    same = a.text == b.text or (a.constant is not None and a.constant == b.constant)
    return (operator == "!=") == apart if apart or same else None
