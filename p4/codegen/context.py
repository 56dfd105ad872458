"""What all generators of one program share: its names, places, expressions and output."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from p4.codegen import program as p4
from p4.codegen.code import number_text
from p4.codegen.cwriter import Writer
from p4.codegen.document import ProgramError
from p4.codegen.expression import Expressions
from p4.codegen.layout import Layout, Place, c_bits, whole_bytes
from p4.codegen.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from p4.codegen.code import Number

T = TypeVar("T", p4.Register, p4.Counter, p4.Meter)


class Context:
    """The state of generating C for one program."""

    def __init__(self, program: p4.Program) -> None:
        self.program = program
        self.layout = Layout(program)
        self.expressions = Expressions(self.layout)
        self.writer = Writer()
        self.functions = Names()

    def action_name(self, index: int) -> str:
        """Return the C function of an action."""
        return self.functions.of(("action", index), f"action_{self.program.actions[index].name}")

    def state_name(self, name: str) -> str:
        """Return the C function of a parser state."""
        return self.functions.of(("state", name), f"state_{name}")

    def table_name(self, name: str) -> str:
        """Return the C function that applies a table."""
        return self.functions.of(("table", name), f"table_{name}")

    def calculation_name(self, name: str) -> str:
        """Return the C function that computes a calculation."""
        return self.functions.of(("calculation", name), f"calculation_{name}")

    def head(self, position: p4.Position | None, text: str) -> None:
        """Write the comment before a function: where it comes from in P4."""
        self.writer.comment(f"{position}: {text}" if position is not None else text)

    # Statements -----------------------------------------------------------------------------

    def store(self, place: Place, value: p4.Value) -> None:
        """Write the assignment of a value to a place."""
        source = self._field_place(value)
        if place.wide and source is not None and source.wide and source.bits == place.bits:
            if source.text != place.text:
                self.writer.line(f"memmove({place.text}, {source.text}, sizeof({place.text}));")
            return
        if place.wide:
            number = self.expressions.number(value)
            self.store_number(place, number)
            return
        if place.bits in {8, 16, 32}:
            # The cast to the place's type cuts what is too wide.
            self.store_number(place, self.expressions.uncut(value, place.bits))
            return
        self.store_number(place, self.expressions.low(value, place.bits))

    def store_number(self, place: Place, number: Number) -> None:
        """Write the assignment of a number, already cut to the place's width if narrow."""
        if place.wide:
            self.writer.line(f"pl_wide_store({place.text}, {place.bits}, {number.widened()});")
            return
        width = c_bits(place.bits)
        if number.constant is not None:
            text = number_text(number.low % (1 << place.bits))
        elif width == 64:
            text = number.text if number.full and not number.signed else number.unsigned()
        else:
            text = f"(uint{width}_t){number.inside()}"
        self.writer.line(f"{place.text} = {text};")

    def _field_place(self, value: p4.Value) -> Place | None:
        match value:
            case p4.FieldRef(_, field) if field != "$valid$":
                return self.layout.field(value)
            case p4.StackField() | p4.UnionStackField() | p4.Operation("access_field"):
                return self.expressions.place(value)
            case _:
                return None

    def narrow(self, value: p4.Value, bits: int = 64) -> str:
        """Return a value as an uint64_t argument."""
        return self.expressions.low(value, bits).argument()

    def register(self, name: str) -> p4.Register:
        """Return a register array."""
        return _find(self.program.registers, name, "register")[1]

    def counter(self, name: str) -> tuple[int, p4.Counter]:
        """Return a counter array and its number."""
        return _find(self.program.counters, name, "counter")

    def meter(self, name: str) -> tuple[int, p4.Meter]:
        """Return a meter array and its number."""
        return _find(self.program.meters, name, "meter")

    def valid(self, header: str) -> str:
        """Return C that tests whether a header is valid; metadata always is."""
        if self.program.headers[header].metadata:
            return "true"
        return f"pl_is_valid(packet->valid, {self.layout.header(header).number})"


def _find(items: Iterable[T], name: str, kind: str) -> tuple[int, T]:
    for number, item in enumerate(items):
        if item.name == name:
            return number, item
    raise ProgramError(f"there is no {kind} `{name}`")


def register_places(program: p4.Program) -> list[tuple[int, int]]:
    """Return each register's byte offset among the cells, and its cell's bytes."""
    places, offset = [], 0
    for register in program.registers:
        cell = c_bits(register.bits) // 8 if register.bits <= 64 else whole_bytes(register.bits)
        offset = (offset + 7) // 8 * 8
        places.append((offset, cell))
        offset += cell * register.size
    return places
