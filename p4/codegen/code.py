"""Pieces of C with what is known about their value."""

from __future__ import annotations

from dataclasses import dataclass

WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class Number:
    """A C expression for an integer within `low` to `high`.

    Up to 64 bits its C type is uint64_t or narrower, for intervals below zero int64_t; a `wide`
    one is a struct pl_wide. An `atom` needs no parentheses.
    """

    text: str
    low: int
    high: int
    wide: bool = False
    atom: bool = True
    full: bool = False  # its C type has 64 bits already

    @property
    def signed(self) -> bool:
        """Return whether the C type is int64_t."""
        return not self.wide and self.low < 0

    @property
    def constant(self) -> int | None:
        """Return the value if there is only one."""
        return self.low if self.low == self.high else None

    def inside(self) -> str:
        """Return the text as an operand."""
        return self.text if self.atom else f"({self.text})"

    def unsigned(self) -> str:
        """Return the text as an uint64_t operand, modulo 2 to the 64th."""
        if self.wide:
            return f"pl_wide_low({self.text})"
        if self.constant is not None:
            return unsigned_text(self.low % WORD)
        if self.full and not self.signed:
            return self.inside()
        return f"(uint64_t){self.inside()}"

    def beside_word(self) -> str:
        """Return the text where C makes a word of it, which must not change a sum's sign."""
        return self.text if self.atom or self.full or self.constant is not None else self.unsigned()

    def argument(self) -> str:
        """Return the text as an argument or index of type uint64_t."""
        return self.text if self.text.startswith("packet->") and self.atom else self.unsigned()

    def integer(self) -> str:
        """Return the text as an int64_t operand; the value must fit."""
        if self.signed:
            return self.inside()
        if self.constant is not None:
            big = self.low >= 1 << 31
            return f"INT64_C({self.low:#x})" if big else number_text(self.low)
        return f"(int64_t){self.inside()}"

    def widened(self) -> str:
        """Return the text as a struct pl_wide operand."""
        if self.wide:
            return self.text
        if self.constant is not None:
            return wide_text(self.low)
        return f"pl_wide_signed({self.text})" if self.signed else f"pl_wide_unsigned({self.text})"


@dataclass(frozen=True, slots=True)
class Condition:
    """A C expression of type bool."""

    text: str
    atom: bool = True

    def inside(self) -> str:
        """Return the text as an operand."""
        return self.text if self.atom else f"({self.text})"


def number_text(value: int) -> str:
    """Return an integer constant that fits an int64_t or an uint64_t."""
    if value < 0:
        return str(value) if value > -(1 << 31) else f"INT64_C({value + 1}) - 1"
    if value < 10:
        return str(value)
    if value < 1 << 31:
        return hex(value)
    return f"UINT64_C({hex(value)})"


def unsigned_text(value: int) -> str:
    """Return an unsigned 64-bit constant as an operand."""
    return number_text(value) if value < 1 << 31 else f"UINT64_C({hex(value)})"


def wide_text(value: int) -> str:
    """Return a wide constant: as few limbs as it needs, or a sum of shifted ones."""
    if 0 <= value < WORD:
        return f"pl_wide_unsigned({unsigned_text(value)})"
    if value < 0:
        return f"pl_wide_not({wide_text(-value - 1)})"
    limbs = []
    while value:
        limbs.append(unsigned_text(value % WORD))
        value //= WORD
    return f"(struct pl_wide){{{{{', '.join(limbs)}}}}}"


def constant(value: int) -> Number:
    """Return an integer constant."""
    if -(WORD >> 1) <= value < WORD:
        return Number(number_text(value), value, value, atom=value >= 0, full=value >= 1 << 31)
    return Number(wide_text(value), value, value, wide=True)
