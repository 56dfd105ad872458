"""Expressions of BMv2 JSON to C.

The format computes with integers of any size and cuts only where a value is stored. Each piece of
C here carries the interval of its value, so that 64-bit arithmetic is used where it is exact, or
where only the low bits are asked for, and wide arithmetic elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.arithmetic import INT, binary, compare, low_binary, mask_of, shift, to_bits
from p4.codegen.code import WORD, Condition, Number, constant
from p4.codegen.document import ProgramError
from p4.codegen.layout import HeaderPlace, Place, whole_bytes

if TYPE_CHECKING:
    from p4.codegen.layout import Layout

BOOLEAN = frozenset(
    ["==", "!=", ">", ">=", "<", "<=", "and", "or", "not", "valid", "valid_union", "d2b"]
)
ORDER = frozenset(("==", "!=", ">", ">=", "<", "<="))
RING = frozenset(["+", "-", "*", "&", "|", "^"])


class Expressions:
    """Writes a program's expressions in C; `limbs` grows with the widest value met."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.program = layout.program
        self.limbs = 2
        self.parameters: tuple[Number, ...] = ()

    # Values -------------------------------------------------------------------------------

    def number(self, value: p4.Value | None) -> Number:
        """Return C for an integer, exact; ProgramError for what has no number."""
        number = self._number(value)
        if number.wide:
            self.need(number.low, number.high)
        return number

    def need(self, low: int, high: int) -> None:
        """Make wide numbers large enough for values from `low` to `high`."""
        bits = max(low.bit_length(), high.bit_length()) + 1
        self.limbs = max(self.limbs, min((bits + 63) // 64, 33))

    def _number(self, value: p4.Value | None) -> Number:  # noqa: PLR0911
        match value:
            case None:
                return constant(0)
            case p4.Constant(number):
                return constant(number)
            case p4.FieldRef() | p4.StackField() | p4.UnionStackField():
                return self.read_field(value)
            case p4.ActionParameter(index):
                if index >= len(self.parameters):
                    raise ProgramError(f"there is no action parameter {index}")
                return self.parameters[index]
            case p4.Lookahead():
                return self.lookahead(value)
            case p4.RegisterCell(array, index):
                return self.register(array, index)
            case p4.Truth() | p4.Operation() if self.is_condition(value):
                return Number(f"pl_truth({self.condition(value).text})", 0, 1, full=True)
            case p4.Operation():
                return self._operation(value)
            case _:
                raise ProgramError(f"{value} is no number")

    def read_field(self, value: p4.FieldRef | p4.StackField | p4.UnionStackField) -> Number:
        """Return C that reads a field."""
        if isinstance(value, p4.FieldRef) and value.field == "$valid$":
            number = self.layout.header(value.header).number
            return Number(f"pl_is_valid(packet->valid, {number})", 0, 1)
        return self.read(self.place(value))

    def read(self, place: Place) -> Number:
        """Return C that reads a place."""
        low, high = 0, (1 << place.bits) - 1
        if place.signed:
            low, high = -(1 << (place.bits - 1)), (1 << (place.bits - 1)) - 1
        if not place.wide:
            if place.signed:
                return Number(f"pl_signed({place.text}, {place.bits})", low, high, full=True)
            return Number(place.text, low, high, full=place.bits > 32)
        text = f"pl_wide_load({place.text}, {whole_bytes(place.bits)})"
        if place.signed:
            self.need(low, high)
            text = f"pl_wide_sign({text}, {place.bits})"
        return Number(text, low, high, wide=True)

    def lookahead(self, value: p4.Lookahead) -> Number:
        """Return C that reads bits ahead of the parser; the caller checks that they exist."""
        high = (1 << value.bits) - 1
        offset, bits = value.offset, value.bits
        if bits > 64:
            return Number(f"look_{offset}_{bits}(packet)", 0, high, wide=True)
        if offset % 8 == 0 and bits % 8 == 0:
            at = f" + {offset // 8}" if offset else ""
            return Number(f"pl_load{bits}(pl_cursor(&packet->base){at})", 0, high, full=True)
        text = f"pl_load_bits(pl_cursor(&packet->base), {offset}, {bits})"
        return Number(text, 0, high, full=True)

    def register(self, array: str, index: p4.Value) -> Number:
        """Return C that reads a register cell, the first one for an index out of range."""
        info = next(item for item in self.program.registers if item.name == array)
        if info.bits > 64:
            raise ProgramError(f"register {array}: too wide for an expression")
        where = f"pl_index(&packet->base, {self.number(index).unsigned()}, {info.size})"
        cells = self.layout.register_cells(array)
        return Number(f"{cells}(packet)[{where}]", 0, (1 << info.bits) - 1)

    # Places -------------------------------------------------------------------------------

    def place(self, value: p4.Value) -> Place:
        """Return the place that a field-valued expression names, for reading or writing."""
        match value:
            case p4.FieldRef():
                return self.layout.field(value)
            case p4.StackField(stack, field):
                return self.layout.member(self.layout.element(stack, self._last(stack)), field)
            case p4.UnionStackField(stack, member, field):
                union = self.program.unions[self.program.union_stacks[stack].unions[0]]
                number = union.members.index(member)
                place = self.layout.union_member(union, number, self._last(stack))
                return self.layout.member(place, field)
            case p4.Operation("access_field", left, p4.Constant(offset)):
                header = self.header(left)
                fields = self.program.header_types[header.type].fields
                return self.layout.member(header, fields[offset].name)
            case _:
                raise ProgramError(f"{value} is no field")

    def _last(self, stack: str) -> str:
        name = self.layout.next_name(stack)
        return f"pl_last({name})"

    def header(self, value: p4.Value | None) -> HeaderPlace:
        """Return the header that an expression names."""
        match value:
            case p4.HeaderRef(name):
                return self.layout.header(name)
            case p4.Operation(
                "dereference_header_stack" | "dereference_stack", p4.StackRef(name), right
            ):
                size = len(self.program.stacks[name].headers)
                return self.layout.element(name, self.index(right, size))
            case p4.Operation("access_union_header", p4.UnionRef(name), p4.Constant(member)):
                return self.layout.union_member(self.program.unions[name], member)
            case p4.Operation(
                "access_union_header",
                p4.Operation("dereference_union_stack", p4.UnionStackRef(name), right),
                p4.Constant(member),
            ):
                stack = self.program.union_stacks[name]
                index = self.index(right, len(stack.unions))
                return self.layout.union_member(self.program.unions[stack.unions[0]], member, index)
            case _:
                raise ProgramError(f"{value} is no header")

    def index(self, value: p4.Value | None, size: int) -> str:
        """Return C for an index that is never out of range."""
        number = self.number(value)
        if number.constant is not None and 0 <= number.low < size:
            return str(number.low)
        return f"pl_index(&packet->base, {number.unsigned()}, {size})"

    # Numbers ------------------------------------------------------------------------------

    def _operation(self, value: p4.Operation) -> Number:  # noqa: C901, PLR0911
        match value.operator:
            case "b2d":
                condition = self.condition(value.right or value.left)
                return Number(f"pl_truth({condition.text})", 0, 1, full=True)
            case "&":
                return self._and(value)
            case "+" | "-" | "*" | "/" | "%" | "|" | "^":
                return binary(value.operator, self.number(value.left), self.number(value.right))
            case "<<" | ">>":
                return shift(value.operator, self.number(value.left), self.number(value.right))
            case "~":
                return binary("-", constant(-1), self.number(value.right))
            case "?":
                return self._choice(value)
            case "two_comp_mod":
                return self._signed(value)
            case "usat_cast" | "sat_cast":
                return self._saturate(value)
            case "access_field":
                return self.read(self.place(value))
            case "last_stack_index" | "size_stack":
                return self._stack_size(value)
            case _:
                raise ProgramError(f"operator `{value.operator}` has no number here")

    def _stack_size(self, value: p4.Operation) -> Number:
        stack = value.left if value.left is not None else value.right
        if not isinstance(stack, p4.StackRef | p4.UnionStackRef):
            raise ProgramError(f"{stack} is no stack")
        name = self.layout.next_name(stack.name)
        if value.operator == "size_stack":
            return Number(name, 0, (1 << 32) - 1)
        return Number(f"(uint64_t){name} - 1", 0, WORD - 1, atom=False, full=True)

    def _and(self, value: p4.Operation) -> Number:
        for side, other in ((value.left, value.right), (value.right, value.left)):
            mask = side.value if isinstance(side, p4.Constant) else -1
            if 0 <= mask < WORD:
                if mask_of(mask):
                    return self.low(other, mask.bit_length())
                return binary("&", self.low(other, 64), constant(mask))
        return binary("&", self.number(value.left), self.number(value.right))

    def _choice(self, value: p4.Operation) -> Number:
        condition = self.condition(value.condition)
        left, right = self.number(value.left), self.number(value.right)
        low, high = min(left.low, right.low), max(left.high, right.high)
        if left.wide or right.wide or (low < 0 and high >= WORD >> 1):
            texts = left.widened(), right.widened()
        elif low < 0:
            texts = left.integer(), right.integer()
        elif high < INT:
            text = f"{condition.inside()} ? {left.inside()} : {right.inside()}"
            return Number(text, low, high, atom=False)
        else:
            texts = left.unsigned(), right.unsigned()
        wide = left.wide or right.wide or (low < 0 and high >= WORD >> 1)
        text = f"{condition.inside()} ? {texts[0]} : {texts[1]}"
        full = left.constant is None or right.constant is None
        return Number(text, low, high, wide=wide, atom=False, full=full)

    def _width(self, value: p4.Value | None) -> int:
        width = self.number(value).constant
        if width is None or width < 1:
            raise ProgramError("the width of a cast must be a positive constant")
        return width

    def _signed(self, value: p4.Operation) -> Number:
        bits = self._width(value.right)
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        source = self.low(value.left, 64) if bits <= 64 else self.number(value.left)
        if low <= source.low and source.high <= high:
            return source
        if bits <= 64:
            return Number(f"pl_signed({source.beside_word()}, {bits})", low, high, full=True)
        self.need(low, high)
        return Number(f"pl_wide_sign({source.widened()}, {bits})", low, high, wide=True)

    def _saturate(self, value: p4.Operation) -> Number:
        bits = self._width(value.right)
        source = self.number(value.left)
        signed = value.operator == "sat_cast"
        low = -(1 << (bits - 1)) if signed else 0
        high = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
        if low <= source.low and source.high <= high:
            return source
        if source.wide:
            name = "pl_wide_saturate_signed" if signed else "pl_wide_saturate"
            self.need(min(low, source.low), max(high, source.high))
            text = f"{name}({source.text}, {bits})"
            if bits <= 64:
                text = f"pl_wide_low({text})"
                return Number(f"(int64_t){text}" if signed else text, low, high, full=True)
            return Number(text, low, high, wide=True)
        if signed and source.low >= 0:
            text = f"pl_saturate_unsigned({source.beside_word()}, {bits - 1})"
        elif signed:
            text = f"pl_saturate_signed({source.integer()}, {bits})"
        elif source.signed:
            text = f"pl_saturate({source.beside_word()}, {bits})"
        else:
            text = f"pl_saturate_unsigned({source.beside_word()}, {bits})"
        least, most = (min(max(end, low), high) for end in (source.low, source.high))
        return Number(text, least, most, full=True)

    # Low bits -----------------------------------------------------------------------------

    def low(self, value: p4.Value | None, bits: int) -> Number:
        """Return C for the low `bits` (at most 64) of a value, as an unsigned number."""
        number = self._low(value)
        return to_bits(number, bits)

    def uncut(self, value: p4.Value | None, bits: int) -> Number:
        """Return C whose low `bits` are the value's; what is above them is left to a cast."""
        full = (1 << bits) - 1
        match value:
            case p4.Operation("&", p4.Constant(mask), inner) if mask & full == full:
                return self.uncut(inner, bits)
            case p4.Operation("&", inner, p4.Constant(mask)) if mask & full == full:
                return self.uncut(inner, bits)
            case _:
                number = self._low(value)
        if number.wide:
            return to_bits(number, bits)
        return number

    def _low(self, value: p4.Value | None) -> Number:  # noqa: PLR0911
        """Return C for a number that equals the value modulo 2 to the 64th."""
        match value:
            case p4.Operation("&", p4.Constant(mask), _) | p4.Operation("&", _, p4.Constant(mask)):
                if 0 <= mask < WORD:
                    return self.number(value)
                return low_binary("&", self._low(value.left), self._low(value.right))
            case p4.Operation(operator, left, right) if operator in RING:
                exact = self._exact_word(value)
                return exact or low_binary(operator, self._low(left), self._low(right))
            case p4.Operation("~", _, right):
                inner = self._low(right)
                if inner.constant is not None:
                    return constant(~inner.constant % WORD)
                return Number(f"pl_not({inner.unsigned()})", 0, WORD - 1, full=True)
            case p4.Operation("<<", left, right):
                amount = self.number(right)
                return low_binary("<<", self._low(left), amount)
            case _:
                return self.number(value)

    def _exact_word(self, value: p4.Operation) -> Number | None:
        """Return the exact number if 64 bits do for it and for what it is made of."""
        limbs = self.limbs
        number = self.number(value)
        if not number.wide and number.low >= 0 and "pl_wide" not in number.text:
            return number
        self.limbs = limbs
        return None

    # Conditions ---------------------------------------------------------------------------

    def is_condition(self, value: p4.Value | None) -> bool:
        """Return whether an expression is Boolean by its outermost operator."""
        match value:
            case p4.Truth():
                return True
            case p4.Operation("?", left, _, _):
                return self.is_condition(left)
            case p4.Operation(operator):
                return operator in BOOLEAN
            case _:
                return False

    def condition(self, value: p4.Value | None) -> Condition:  # noqa: PLR0911
        """Return C for a Boolean; a number counts as true unless it is zero."""
        match value:
            case p4.Truth(truth):
                return Condition("true" if truth else "false")
            case p4.Operation("not", _, right):
                return Condition(f"!{self.condition(right).inside()}")
            case p4.Operation("and" | "or", left, right):
                sign = "&&" if value.operator == "and" else "||"
                both = self.condition(left).inside(), self.condition(right).inside()
                return Condition(f"{both[0]} {sign} {both[1]}", atom=False)
            case p4.Operation("valid", _, right):
                return Condition(f"pl_is_valid(packet->valid, {self.header(right).number})")
            case p4.Operation("valid_union", _, right):
                return self._union_valid(right)
            case p4.Operation("d2b", _, p4.FieldRef(header, "$valid$")):
                number = self.layout.header(header).number
                return Condition(f"pl_is_valid(packet->valid, {number})")
            case p4.Operation("d2b", _, right):
                return compare("!=", self.number(right), constant(0))
            case p4.Operation("?", left, right, condition) if self.is_condition(value):
                parts = (self.condition(item).inside() for item in (condition, left, right))
                return Condition("{} ? {} : {}".format(*parts), atom=False)
            case p4.Operation(operator, left, right) if operator in ORDER:
                return self._compare(operator, left, right)
            case _:
                return compare("!=", self.number(value), constant(0))

    def _compare(self, operator: str, left: p4.Value | None, right: p4.Value | None) -> Condition:
        if self.layout.usage.type_of_header(left) is not None:
            return self._same_headers(operator, left, right)
        if self.is_condition(left) and self.is_condition(right):
            both = self.condition(left).inside(), self.condition(right).inside()
            return Condition(f"{both[0]} {operator} {both[1]}", atom=False)
        if isinstance(left, p4.UnionRef | p4.StackRef):
            raise ProgramError("comparing header unions and stacks is not supported")
        one, other = self.number(left), self.number(right)
        if one.wide or other.wide:
            self.need(min(one.low, other.low), max(one.high, other.high))
        return compare(operator, one, other)

    def _same_headers(
        self, operator: str, left: p4.Value | None, right: p4.Value | None
    ) -> Condition:
        one, other = self.header(left), self.header(right)
        tests = [
            f"pl_is_valid(packet->valid, {one.number})",
            f"pl_is_valid(packet->valid, {other.number})",
        ]
        for field in self.program.header_types[one.type].fields:
            a, b = self.layout.member(one, field.name), self.layout.member(other, field.name)
            if a.variable:
                tests.append(f"{a.text}_bits == {b.text}_bits")
                tests.append(f"memcmp({a.text}, {b.text}, {a.text}_bits / 8) == 0")
            elif a.wide:
                tests.append(f"memcmp({a.text}, {b.text}, sizeof({a.text})) == 0")
            else:
                tests.append(f"{a.text} == {b.text}")
        text = f"({' && '.join(tests)})"
        return Condition(text if operator == "==" else f"!{text}")

    def _union_valid(self, value: p4.Value | None) -> Condition:
        match value:
            case p4.UnionRef(name):
                place = self.layout.union_member(self.program.unions[name], 0)
            case p4.Operation("dereference_union_stack", p4.UnionStackRef(name), right):
                stack = self.program.union_stacks[name]
                index = self.index(right, len(stack.unions))
                place = self.layout.union_member(self.program.unions[stack.unions[0]], 0, index)
            case _:
                raise ProgramError(f"{value} is no header union")
        return Condition(f"pl_any_valid(packet->valid, {place.number}, {place.union_count})")
