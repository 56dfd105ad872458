"""Primitives to C: what actions, parser states and the deparser are made of."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.arithmetic import compare, to_bits
from p4.codegen.code import Number, unsigned_text
from p4.codegen.document import ProgramError
from p4.codegen.headers import HeaderStatements
from p4.codegen.layout import Place, whole_bytes
from p4.codegen.usage import STANDARD_METADATA, dropping_fields

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from p4.codegen.context import Context

ARITHMETIC = {
    "add": "+",
    "subtract": "-",
    "bit_xor": "^",
    "bit_or": "|",
    "bit_and": "&",
    "shift_left": "<<",
    "shift_right": ">>",
}
DROP_PORT = 511
COUNTS = {
    "assign": 2,
    "modify_field": 2,
    "assign_VL": 2,
    "set": 2,
    "register_read": 3,
    "register_write": 3,
    "count": 2,
    "execute_meter": 3,
    "modify_field_rng_uniform": 3,
    "modify_field_with_hash_based_offset": 4,
    "clone_ingress_pkt_to_egress": 2,
    "clone_egress_pkt_to_egress": 2,
    "resubmit": 1,
    "recirculate": 1,
    "truncate": 1,
    "generate_digest": 2,
    "log_msg": 1,
    "assert": 1,
    "assume": 1,
    "_jump": 1,
    "_jump_if_zero": 2,
    "add_header": 1,
    "add_header_fast": 1,
    "remove_header": 1,
    "assign_header": 2,
    "copy_header": 2,
    "assign_union": 2,
    "assign_header_stack": 2,
    "assign_union_stack": 2,
    "push": 2,
    "pop": 2,
    "add_to_field": 2,
    "subtract_from_field": 2,
    **dict.fromkeys(ARITHMETIC, 3),
}


class Statements:
    """Writes primitives, one after the other."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writer = context.writer
        self._headers = HeaderStatements(context)
        self._handlers: dict[str, Callable[[tuple[p4.Value, ...]], None]] = {
            "assign": self._assign,
            "modify_field": self._assign,
            "set": self._assign,
            "assign_VL": self._assign_variable,
            "no_op": lambda _: None,
            "drop": self._drop,
            "mark_to_drop": self._mark_to_drop,
            "exit": self._exit,
            "_jump": self._jump,
            "_jump_if_zero": self._jump_if_zero,
            "register_read": self._register_read,
            "register_write": self._register_write,
            "count": self._count,
            "execute_meter": self._execute_meter,
            "modify_field_rng_uniform": self._random,
            "modify_field_with_hash_based_offset": self._hash,
            "clone_ingress_pkt_to_egress": self._clone,
            "clone_egress_pkt_to_egress": self._clone,
            "resubmit": lambda p: self._request("pl_resubmit", p[0]),
            "recirculate": lambda p: self._request("pl_recirculate", p[0]),
            "truncate": lambda p: self._request("pl_truncate", p[0]),
            "generate_digest": lambda p: self._request("pl_request_digest", p[1]),
            "log_msg": self._log,
            "assert": self._assert,
            "assume": self._assert,
            "add_to_field": lambda p: self._arithmetic("+", (p[0], *p)),
            "subtract_from_field": lambda p: self._arithmetic("-", (p[0], *p)),
        }

    def write(self, statement: p4.Statement) -> None:
        """Write one primitive; ProgramError if the engine does not know it."""
        name, parameters = statement.operation, statement.parameters
        if len(parameters) < COUNTS.get(name, 0):
            raise ProgramError(f"has {len(parameters)} parameters, needs {COUNTS[name]}")
        if name in self._handlers:
            self._handlers[name](parameters)
        elif name in ARITHMETIC:
            self._arithmetic(ARITHMETIC[name], parameters)
        elif not self._headers.write(statement):
            raise ProgramError("primitive is not supported")

    def _request(self, name: str, value: p4.Value) -> None:
        self._writer.line(f"{name}(&packet->base, {self._context.narrow(value)});")

    def _assign(self, parameters: tuple[p4.Value, ...]) -> None:
        place = self._context.expressions.place(parameters[0])
        if place.variable:
            self._assign_variable(parameters)
            return
        self._context.store(place, parameters[1])

    def _assign_variable(self, parameters: tuple[p4.Value, ...]) -> None:
        to, source = (self._context.expressions.place(value) for value in parameters[:2])
        if not to.variable or not source.variable:
            raise ProgramError("assigns a varbit to what is none")
        self._writer.line(f"memmove({to.text}, {source.text}, {source.text}_bits / 8);")
        self._writer.line(f"{to.text}_bits = {source.text}_bits;")

    def _arithmetic(self, operator: str, parameters: tuple[p4.Value, ...]) -> None:
        value = p4.Operation(operator, parameters[1], parameters[2])
        self._context.store(self._context.expressions.place(parameters[0]), value)

    def _drop(self, _: tuple[p4.Value, ...]) -> None:
        self._writer.line("pl_mark_to_drop(&packet->base);")

    def _mark_to_drop(self, parameters: tuple[p4.Value, ...]) -> None:
        """Write a drop of the frame, or a note of it in a copy of the standard metadata."""
        match parameters:
            case (p4.HeaderRef(name),) if name != STANDARD_METADATA:
                for field in dropping_fields(self._context.program, name):
                    value = DROP_PORT if field.field == "egress_spec" else 0
                    self._context.store(self._context.layout.field(field), p4.Constant(value))
            case _:
                self._drop(())

    def _exit(self, _: tuple[p4.Value, ...]) -> None:
        self._writer.line("pl_exit(&packet->base);")
        self._writer.line("return;")

    def _jump(self, parameters: tuple[p4.Value, ...]) -> None:
        self._writer.line(f"goto statement_{_constant(parameters[0])};")

    def _jump_if_zero(self, parameters: tuple[p4.Value, ...]) -> None:
        condition = self._context.expressions.condition(parameters[0])
        with self._writer.block(f"if (!{condition.inside()})"):
            self._writer.line(f"goto statement_{_constant(parameters[1])};")

    def _clone(self, parameters: tuple[p4.Value, ...]) -> None:
        session, fields = (self._context.narrow(value) for value in parameters[:2])
        self._writer.line(f"pl_clone(&packet->base, {session}, {fields});")

    def _assert(self, parameters: tuple[p4.Value, ...]) -> None:
        condition = self._context.expressions.condition(parameters[0])
        self._writer.line(f"pl_assert(&packet->base, {condition.text});")

    def _log(self, parameters: tuple[p4.Value, ...]) -> None:
        text, values = parameters[0], parameters[1] if len(parameters) > 1 else p4.Values(())
        if not isinstance(text, p4.Text) or not isinstance(values, p4.Values):
            raise ProgramError("needs a format and a list of values")
        items = [self._context.narrow(value) for value in values.items]
        string = json.dumps(text.value).replace("?", "\\?")
        if not items:
            self._writer.line(f"pl_log(&packet->base, {string}, NULL, 0);")
            return
        array = f"(const uint64_t[]){{{', '.join(items)}}}"
        self._writer.line(f"pl_log(&packet->base, {string}, {array}, {len(items)});")

    # Externs --------------------------------------------------------------------------------

    def _register_read(self, parameters: tuple[p4.Value, ...]) -> None:
        register = self._context.register(_name(parameters[1]))
        place = self._context.expressions.place(parameters[0])
        index = self._context.narrow(parameters[2])
        with self._guard(index, register.size, parameters[2]):
            if register.bits > 64:
                size = whole_bytes(register.bits)
                text = f"{self._cells(register)} + {size} * {index}"
                wide = f"pl_wide_load({text}, {size})"
                value = Number(wide, 0, (1 << register.bits) - 1, wide=True)
                self._context.expressions.need(0, value.high)
                self._store_cut(place, value)
                return
            value = Number(self._cell(register, index), 0, (1 << register.bits) - 1)
            self._store_cut(place, value)

    def _store_cut(self, place: Place, value: Number) -> None:
        if not place.wide:
            value = to_bits(value, place.bits)
        self._context.store_number(place, value)

    def _cells(self, register: p4.Register) -> str:
        return f"{self._context.layout.register_cells(register.name)}(packet)"

    def _cell(self, register: p4.Register, index: str) -> str:
        return f"{self._cells(register)}[{index}]"

    def _register_write(self, parameters: tuple[p4.Value, ...]) -> None:
        register = self._context.register(_name(parameters[0]))
        index = self._context.narrow(parameters[1])
        with self._guard(index, register.size, parameters[1]):
            if register.bits > 64:
                size = whole_bytes(register.bits)
                value = self._context.expressions.number(parameters[2]).widened()
                cell = f"{self._cells(register)} + {size} * {index}"
                self._writer.line(f"pl_wide_store({cell}, {register.bits}, {value});")
                return
            place = Place(self._cell(register, index), register.bits)
            self._context.store(place, parameters[2])

    def _guard(self, index: str, size: int, value: p4.Value) -> AbstractContextManager[None]:
        """Open a block for an index in range; none is needed if it cannot be out of it."""
        number = self._context.expressions.low(value, 64)
        if number.low >= 0 and number.high < size:
            return nullcontext()
        return self._writer.block(f"if (pl_in_range(&packet->base, {index}, {size}))")

    def _count(self, parameters: tuple[p4.Value, ...]) -> None:
        number, _ = self._context.counter(_name(parameters[0]))
        index = self._context.narrow(parameters[1])
        self._writer.line(f"pl_count(&packet->base, {number}, {index});")

    def _execute_meter(self, parameters: tuple[p4.Value, ...]) -> None:
        number, _ = self._context.meter(_name(parameters[0]))
        index = self._context.narrow(parameters[1])
        colour = Number(f"pl_meter(&packet->base, {number}, {index})", 0, 2)
        self._store_cut(self._context.expressions.place(parameters[2]), colour)

    def _random(self, parameters: tuple[p4.Value, ...]) -> None:
        low, high = (self._context.expressions.low(value, 64) for value in parameters[1:3])
        place = self._context.expressions.place(parameters[0])
        text = f"pl_random(packet->base.sw, {low.unsigned()}, {high.unsigned()})"
        drawn = Number(text, low.low, high.high, full=True)
        test = compare("<=", low, high)
        if test.text == "true":
            self._store_cut(place, drawn)
            return
        with self._writer.block(f"if ({test.text})"):
            self._store_cut(place, drawn)

    def _hash(self, parameters: tuple[p4.Value, ...]) -> None:
        target, base, calculation, size = parameters[:4]
        name = self._context.calculation_name(_name(calculation))
        limit = self._context.expressions.low(size, 64)
        low = self._context.expressions.low(base, 64)
        text = f"{name}(packet)"
        if limit.constant is not None:
            most = limit.constant or 1
            modulus = Number(f"{text} % {unsigned_text(most)}", 0, most - 1)
        else:
            modulus = Number(f"pl_hash_modulo({text}, {limit.text})", 0, (1 << 64) - 1)
        if low.constant == 0:
            value = Number(modulus.text, 0, modulus.high, atom=False, full=True)
        else:
            value = Number(
                f"{modulus.text} + {low.unsigned()}", 0, (1 << 64) - 1, atom=False, full=True
            )
        self._store_cut(self._context.expressions.place(target), value)


def _name(value: p4.Value) -> str:
    if not isinstance(value, p4.Named):
        raise ProgramError(f"{value} is not an object's name")
    return value.name


def _constant(value: p4.Value) -> int:
    if not isinstance(value, p4.Constant):
        raise ProgramError(f"{value} is not a constant")
    return value.value
