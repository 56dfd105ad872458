"""Tables to C: a function that looks a key up and runs the action, and their description."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.action import parameter_words, used_parameters
from p4.codegen.arithmetic import to_bits
from p4.codegen.calculation import hash_call
from p4.codegen.code import Number
from p4.codegen.document import ProgramError
from p4.codegen.layout import whole_bytes

if TYPE_CHECKING:
    from p4.codegen.context import Context

ROW_HEADER_BYTES = 24
VALIDITY = "$valid$"
MATCH_NAMES = {
    p4.Match.EXACT: "PL_EXACT",
    p4.Match.LPM: "PL_LPM",
    p4.Match.TERNARY: "PL_TERNARY",
    p4.Match.RANGE: "PL_RANGE",
    p4.Match.OPTIONAL: "PL_OPTIONAL",
}


@dataclass(frozen=True, slots=True)
class TableShape:
    """Sizes of a table's key and rows, and how it is searched."""

    engine: str
    by_prefix: bool
    key_bytes: int
    key_words: int
    value_words: int
    argument_words: int

    @property
    def row_bytes(self) -> int:
        """Return the bytes of a row."""
        return ROW_HEADER_BYTES + 8 * (self.value_words + self.argument_words)


def table_shape(program: p4.Program, table: p4.Table) -> TableShape:
    """Return a table's sizes."""
    kinds = {key.match for key in table.keys}
    key_bytes = sum(whole_bytes(key.bits) for key in table.keys)
    words = (key_bytes + 7) // 8
    if not table.keys:
        engine = "PL_NO_KEY"
    elif p4.Match.RANGE in kinds:
        engine = "PL_SCANNED"
    elif kinds == {p4.Match.EXACT}:
        engine = "PL_HASHED"
    else:
        engine = "PL_MASKED"
    prioritised = kinds & {p4.Match.TERNARY, p4.Match.RANGE, p4.Match.OPTIONAL}
    by_prefix = table.match is p4.Match.LPM and not prioritised
    arguments = max((parameter_words(program.actions[i])[-1] for i in table.actions), default=0)
    if table.default_action is not None:
        arguments = max(arguments, parameter_words(program.actions[table.default_action])[-1])
    value_words = 2 * words if engine == "PL_SCANNED" else words
    if table.kind is not p4.TableKind.SIMPLE:
        arguments = 0
    return TableShape(engine, by_prefix, key_bytes, words, value_words, arguments)


def direct_action(table: p4.Table) -> int | None:
    """Return the action that a table without a key always runs, if nothing can change it."""
    if table.keys or table.kind is not p4.TableKind.SIMPLE or table.direct_meter:
        return None
    return table.default_action if table.default_constant else None


class TableGenerator:
    """Writes the functions that apply tables."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._writer = context.writer

    def write(self, number: int, table: p4.Table, *, result: bool) -> None:
        """Write the function of a table; `result`: the control looks at what was found."""
        self._context.head(table.position, f"table {table.name}")
        name = self._context.table_name(table.name)
        kind = "struct pl_found" if result else "void"
        with self._writer.function(f"static inline {kind} {name}(struct packet *packet)"):
            self._write_lookup(number, table)
            self._write_direct(table)
            self._write_actions(table)
            if result:
                self._writer.line("return found;")

    def _write_lookup(self, number: int, table: p4.Table) -> None:
        shape = table_shape(self._context.program, table)
        line = self._writer.line
        line(f"const struct pl_store *store = packet->base.sw->stores[{number}];")
        row = "NULL"
        if table.keys:
            row = "row"
            self._write_key(table, shape)
            sizes = f"{shape.key_words}, {shape.row_bytes}"
            call = {
                "PL_HASHED": f"pl_lookup_hashed(store, key, {sizes})",
                "PL_MASKED": f"pl_lookup_masked(store, key, {sizes})",
                "PL_SCANNED": f"pl_lookup_scanned(store, &tables[{number}], key)",
            }[shape.engine]
            line(f"const struct pl_row *row = {call};")
        line(f"struct pl_found found = pl_found_row(store, {row}, {shape.value_words});")
        if table.profile is not None:
            self._write_member(table)

    def _write_member(self, table: p4.Table) -> None:
        profiles = self._context.program.profiles
        number = next(n for n, p in enumerate(profiles) if p.name == table.profile)
        choice = "0"
        if profiles[number].algorithm:
            choice = hash_call(self._context, f"profile {profiles[number].name}")
        found = f"pl_found_member(&packet->base, {number}, found, {choice})"
        self._writer.line(f"found = {found};")

    def _write_key(self, table: p4.Table, shape: TableShape) -> None:
        words: list[list[str]] = [[] for _ in range(shape.key_words)]
        copies, byte = [], 0
        for key in table.keys:
            count = whole_bytes(key.bits)
            number = self._key_number(key)
            if key.bits > 64:
                copies.append((key, byte))
            else:
                _place_word(words, number, byte, count)
            byte += count
        texts = [" | ".join(parts) or "0" for parts in words]
        if not copies:
            self._writer.line(f"const uint64_t key[{shape.key_words}] = {{{', '.join(texts)}}};")
            return
        self._writer.line(f"uint64_t key[{shape.key_words}] = {{{', '.join(texts)}}};")
        for key, at in copies:
            self._write_wide_key(key, at)

    def _key_number(self, key: p4.Key) -> Number:
        value: p4.Value = key.target
        if key.mask is not None:
            value = p4.Operation("&", value, p4.Constant(key.mask))
        valid = self._validity(key)
        if valid is not None:
            value = p4.Operation("?", value, p4.Constant(0), valid)
        if key.bits > 64:
            return self._context.expressions.number(value)
        return self._context.expressions.low(value, key.bits)

    def _validity(self, key: p4.Key) -> p4.Value | None:
        """Return what must hold for a key's field to count: those of invalid headers are 0."""
        header = self._context.program.headers[key.target.header]
        if header.metadata or key.target.field == VALIDITY:
            return None
        return p4.Operation("valid", None, p4.HeaderRef(header.name))

    def _write_wide_key(self, key: p4.Key, at: int) -> None:
        place = self._context.layout.field(key.target)
        if place.variable:
            raise ProgramError(f"a varbit cannot be a table key: {key.name}")
        bytes_text = place.text
        if key.mask is not None:
            bytes_text = f"masked_{at}"
            text = self._key_number(key).widened()
            self._writer.line(f"uint8_t {bytes_text}[{whole_bytes(key.bits)}];")
            self._writer.line(f"pl_wide_store({bytes_text}, {key.bits}, {text});")
        call = f"pl_key_bytes(key, {at}, {bytes_text}, {whole_bytes(key.bits)});"
        valid = self._validity(key)
        if valid is None or key.mask is not None:
            self._writer.line(call)
            return
        with self._writer.block(f"if ({self._context.expressions.condition(valid).text})"):
            self._writer.line(call)

    def _write_direct(self, table: p4.Table) -> None:
        counter = direct_counter(self._context.program, table)
        meter = direct_meter(self._context.program, table)
        if counter is None and meter is None:
            return
        shape = table_shape(self._context.program, table)
        with self._writer.block("if (found.row)"):
            row = f"pl_row_number(store, found.row, {shape.row_bytes})"
            if counter is not None:
                self._writer.line(f"pl_count_row(&packet->base, {counter}, {row});")
            if meter is not None:
                target = self._context.program.meters[meter].target
                colour = Number(f"pl_meter(&packet->base, {meter}, {row})", 0, 2)
                if target is not None:
                    place = self._context.layout.field(target)
                    self._context.store_number(place, to_bits(colour, place.bits))

    def _write_actions(self, table: p4.Table) -> None:
        actions = dict.fromkeys(table.actions)
        if table.default_action is not None:
            actions[table.default_action] = None
        busy = [i for i in actions if self._context.program.actions[i].statements]
        if not busy:
            self._writer.line("(void)found;")
            return
        with self._writer.block("switch (found.action)"):
            for index in busy:
                action = self._context.program.actions[index]
                self._writer.case(f"case {index}:")
                arguments = ", found.arguments" if used_parameters(action) else ""
                self._writer.line(f"{self._context.action_name(index)}(packet{arguments});")
                self._writer.line("break;")
            self._writer.case("default:")
            self._writer.line("break;")


def _place_word(words: list[list[str]], number: Number, byte: int, count: int) -> None:
    """Add a field of `count` bytes at `byte` to the key's words, most significant byte first."""
    first, last = byte // 8, (byte + count - 1) // 8
    end = 8 * (byte + count)
    if first == last:
        shift = 64 * (first + 1) - end
        words[first].append(f"{number.unsigned()} << {shift}" if shift else number.unsigned())
        return
    over = end - 64 * last
    words[first].append(f"{number.unsigned()} >> {over}")
    words[last].append(f"{number.unsigned()} << {64 - over}")


def direct_counter(program: p4.Program, table: p4.Table) -> int | None:
    """Return the number of a table's direct counter."""
    for number, counter in enumerate(program.counters):
        if counter.table == table.name and table.with_counters:
            return number
    return None


def direct_meter(program: p4.Program, table: p4.Table) -> int | None:
    """Return the number of a table's direct meter."""
    for number, meter in enumerate(program.meters):
        if meter.name == table.direct_meter and table.direct_meter is not None:
            return number
    return None
