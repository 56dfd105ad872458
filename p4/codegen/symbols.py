"""A program's objects by their P4 names, and their values as the contract lays them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from errors import UserError
from p4.codegen.layout import whole_bytes
from p4.codegen.program import Match, TableKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p4.codegen import program as p4

SETTABLE_BITS = {
    "crc8_custom": 8,
    "crc16_custom": 16,
    "crc32_custom": 32,
    "crc64_custom": 64,
    "toeplitz": 32,
}
MatchValue = int | tuple[int, int] | None


class EngineError(UserError):
    """A call to the engine that names something unknown or gives a value that does not fit."""


class _Symbol(Protocol):
    @property
    def name(self) -> str: ...


S = TypeVar("S", bound=_Symbol)


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A field of a table's key."""

    name: str
    match: Match
    bits: int


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """An action's parameter."""

    name: str
    bits: int


@dataclass(frozen=True, slots=True)
class ActionInfo:
    """An action and its number in the program."""

    name: str
    number: int
    parameters: tuple[ParameterInfo, ...]


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table, its number, its key and the actions that its entries may have."""

    name: str
    number: int
    keys: tuple[KeyInfo, ...]
    actions: tuple[ActionInfo, ...]
    size: int
    profile: str | None
    counter: str | None
    meter: str | None
    by_prefix: bool

    @property
    def needs_priority(self) -> bool:
        """Return whether entries are ordered by a priority."""
        kinds = {key.match for key in self.keys}
        return bool(kinds - {Match.EXACT}) and not self.by_prefix


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """A register or counter array; `table` is the one a direct array belongs to."""

    name: str
    number: int
    size: int
    bits: int
    table: str | None = None


@dataclass(frozen=True, slots=True)
class MeterInfo:
    """A meter array and how many rates each meter has; `table` is the one it belongs to."""

    name: str
    number: int
    size: int
    rates: int
    table: str | None = None


@dataclass(frozen=True, slots=True)
class HashInfo:
    """A calculation whose parameters can be set: a CRC of `bits`, or `toeplitz`."""

    name: str
    number: int
    algorithm: str
    bits: int


@dataclass(frozen=True, slots=True)
class ProfileInfo:
    """An action profile; `selects` if entries may name groups of members."""

    name: str
    number: int
    size: int
    selects: bool


@dataclass(frozen=True, slots=True)
class ValueSetInfo:
    """A parser value set."""

    name: str
    number: int
    bits: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbols:
    """Everything of a program that the control plane can name."""

    tables: tuple[TableInfo, ...]
    actions: tuple[ActionInfo, ...]
    registers: tuple[ArrayInfo, ...]
    counters: tuple[ArrayInfo, ...]
    meters: tuple[MeterInfo, ...]
    profiles: tuple[ProfileInfo, ...]
    value_sets: tuple[ValueSetInfo, ...]
    hashes: tuple[HashInfo, ...]


def program_symbols(program: p4.Program) -> Symbols:
    """Return the names and numbers of a program's objects."""
    actions = tuple(
        ActionInfo(a.name, a.index, tuple(ParameterInfo(p.name, p.bits) for p in a.parameters))
        for a in program.actions
    )
    meters = enumerate(program.meters)
    sets = enumerate(program.value_sets)
    return Symbols(
        tuple(_table_info(program, n, t, actions) for n, t in enumerate(program.tables)),
        actions,
        tuple(ArrayInfo(r.name, n, r.size, r.bits) for n, r in enumerate(program.registers)),
        tuple(ArrayInfo(c.name, n, c.size, 64, c.table) for n, c in enumerate(program.counters)),
        tuple(MeterInfo(m.name, n, m.size, m.rates, m.table) for n, m in meters),
        tuple(
            ProfileInfo(p.name, n, p.size, bool(p.algorithm))
            for n, p in enumerate(program.profiles)
        ),
        tuple(ValueSetInfo(s.name, n, s.bits, s.size) for n, s in sets),
        tuple(
            HashInfo(c.name, number, c.algorithm, SETTABLE_BITS[c.algorithm])
            for number, c in enumerate(program.calculations.values())
            if c.algorithm in SETTABLE_BITS
        ),
    )


def _table_info(
    program: p4.Program, number: int, table: p4.Table, actions: tuple[ActionInfo, ...]
) -> TableInfo:
    counter = next((c.name for c in program.counters if c.table == table.name), None)
    kinds = {key.match for key in table.keys}
    prioritised = kinds & {Match.TERNARY, Match.RANGE, Match.OPTIONAL}
    return TableInfo(
        table.name,
        number,
        tuple(KeyInfo(key.name, key.match, key.bits) for key in table.keys),
        tuple(actions[index] for index in table.actions),
        table.size,
        table.profile if table.kind is not TableKind.SIMPLE else None,
        counter,
        table.direct_meter,
        table.match is Match.LPM and not prioritised,
    )


def find(items: Iterable[S], name: str, kind: str) -> S:
    """Return the item called `name`: its full P4 name, or a suffix that only one item has."""
    items = list(items)
    exact = [item for item in items if item.name == name]
    if exact:
        return exact[0]
    found = [item for item in items if item.name.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(item.name for item in found)
        raise EngineError(f"{kind} `{name}` is ambiguous: {names}")
    known = ", ".join(item.name for item in items[:20]) or "none"
    raise EngineError(f"there is no {kind} `{name}` (there are: {known})")


def field_bytes(value: int, bits: int, what: str) -> bytes:
    """Return a number as a field's bytes; EngineError names `what` if it does not fit."""
    if not isinstance(value, int):
        raise EngineError(f"{what}: {value!r} is not an integer")
    if value < 0 or value >> bits:
        raise EngineError(f"{what}: {value} does not fit {bits} bits")
    return value.to_bytes(whole_bytes(bits), "big")


def encode_key(
    table: TableInfo, match: Sequence[MatchValue] | Mapping[str, MatchValue]
) -> tuple[bytes, bytes]:
    """Return an entry's value and second part (masks, upper ends) as the contract wants them."""
    values = _values_in_order(table, match)
    value, second = bytearray(), bytearray()
    for key, item in zip(table.keys, values, strict=True):
        first, other = _field_parts(table, key, item)
        value += first
        second += other
    return bytes(value), bytes(second)


def _values_in_order(
    table: TableInfo, match: Sequence[MatchValue] | Mapping[str, MatchValue]
) -> Sequence[MatchValue]:
    if isinstance(match, str | bytes) or not hasattr(match, "__len__"):
        raise EngineError(f"table {table.name}: a match is a list, or maps field names to values")
    if not isinstance(match, Mapping):
        if len(match) != len(table.keys):
            raise EngineError(
                f"table {table.name}: {len(match)} match values for {len(table.keys)} key fields"
            )
        return match
    given = {find(table.keys, name, f"key of {table.name}").name: match[name] for name in match}
    for key in table.keys:
        if key.name not in given and key.match in {Match.EXACT, Match.LPM}:
            raise EngineError(f"table {table.name}: no value for key {key.name}")
    return [given.get(key.name) for key in table.keys]


def _field_parts(table: TableInfo, key: KeyInfo, item: MatchValue) -> tuple[bytes, bytes]:
    what = f"table {table.name}, key {key.name}"
    full = (1 << key.bits) - 1
    if item is None:
        if key.match in {Match.EXACT, Match.LPM}:
            raise EngineError(f"{what}: needs a value")
        upper = full if key.match is Match.RANGE else 0
        return field_bytes(0, key.bits, what), field_bytes(upper, key.bits, what)
    if not isinstance(item, tuple):
        if key.match is Match.RANGE:
            return field_bytes(item, key.bits, what), field_bytes(item, key.bits, what)
        return field_bytes(item, key.bits, what), field_bytes(full, key.bits, what)
    value, other = item
    if key.match is Match.EXACT:
        raise EngineError(f"{what}: an exact match has one value")
    if key.match is Match.LPM:
        if not 0 <= other <= key.bits:
            raise EngineError(f"{what}: prefix length {other} is not within {key.bits} bits")
        other = full ^ ((1 << (key.bits - other)) - 1)
    if key.match is Match.RANGE and value > other:
        raise EngineError(f"{what}: {value} is above the range's upper end {other}")
    return field_bytes(value, key.bits, what), field_bytes(other, key.bits, what)


def encode_parameters(action: ActionInfo, parameters: Sequence[int] | Mapping[str, int]) -> bytes:
    """Return an action's parameters as the contract wants them."""
    if isinstance(parameters, Mapping):
        names = [parameter.name for parameter in action.parameters]
        for name in parameters:
            if name not in names:
                raise EngineError(f"action {action.name} has no parameter `{name}`")
        missing = [name for name in names if name not in parameters]
        if missing:
            raise EngineError(f"action {action.name}: no value for {', '.join(missing)}")
        values = [parameters[name] for name in names]
    else:
        values = list(parameters)
    if len(values) != len(action.parameters):
        raise EngineError(
            f"action {action.name} takes {len(action.parameters)} parameters, got {len(values)}"
        )
    return b"".join(
        field_bytes(value, parameter.bits, f"action {action.name}, {parameter.name}")
        for value, parameter in zip(values, action.parameters, strict=True)
    )


def decode_key(table: TableInfo, value: bytes, second: bytes) -> tuple[MatchValue, ...]:
    """Return an entry's match values: the inverse of `encode_key`."""
    items: list[MatchValue] = []
    at = 0
    for key in table.keys:
        size = whole_bytes(key.bits)
        first = int.from_bytes(value[at : at + size], "big")
        other = int.from_bytes(second[at : at + size], "big")
        at += size
        full = (1 << key.bits) - 1
        match key.match:
            case Match.EXACT:
                items.append(first)
            case Match.LPM:
                items.append((first, (other & full).bit_count()))
            case Match.OPTIONAL:
                items.append(first if other & full else None)
            case _:
                items.append((first, other & full))
    return tuple(items)


def decode_parameters(action: ActionInfo, data: bytes) -> tuple[int, ...]:
    """Return an action's parameters from their bytes."""
    values, at = [], 0
    for parameter in action.parameters:
        size = whole_bytes(parameter.bits)
        values.append(int.from_bytes(data[at : at + size], "big"))
        at += size
    return tuple(values)
