"""Random control planes and frames for any program, made to meet: what tables want, frames carry.

Frames are made by walking the program's own parser, so that its deep states are reached too, and
some are then cut, lengthened or overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4.codegen.program import CaseKind, Extract, FieldRef, Lookahead, Match, StackField, TableKind
from testbed.bmv2.files import Frame
from testbed.plan import SwitchSetup, TableEntry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from p4.codegen.program import HeaderType, Key, Program, State, Table

VALUES_PER_FIELD = 6
SMALL = 16  # ports, indices and counts are small numbers
LONGEST_WALK = 64
LONGEST_PAYLOAD = 200
MOST_ENTRIES = 40
MEMBERS, GROUPS = 8, 4

Matches = tuple[int | tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Pools:
    """A few values for each field that a table matches on, and the members of parser value sets."""

    fields: dict[FieldRef, list[int]]
    sets: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an action profile, whose number is its place among all of that profile."""

    profile: str
    action: str
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group of an action selector, by its members' numbers; numbered as members are."""

    profile: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndirectEntry:
    """An entry that names a member of its table's profile, or a group, instead of an action."""

    entry: TableEntry
    number: int
    names_group: bool


@dataclass(frozen=True, slots=True)
class Indirection:
    """What goes into action profiles, into the tables that use them, and into value sets."""

    members: tuple[Member, ...] = ()
    groups: tuple[Group, ...] = ()
    entries: tuple[IndirectEntry, ...] = ()
    sets: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replication:
    """Multicast groups, each its (port, egress_rid) copies, and mirroring sessions' ports."""

    groups: dict[int, list[tuple[int, int]]]
    sessions: dict[int, int]


def value_pools(program: Program, rng: Random) -> Pools:
    """Choose values for every field that a table matches on, and for every value set."""
    fields = {
        key.target: [_value(key.bits, rng) for _ in range(VALUES_PER_FIELD)]
        for table in program.tables
        for key in table.keys
    }
    sets = {
        found.name: sorted({_value(found.bits, rng) for _ in range(rng.randrange(found.size) + 1)})
        for found in program.value_sets
    }
    return Pools(fields, sets)


def random_setup(program: Program, pools: Pools, rng: Random) -> SwitchSetup:
    """Make random entries, default actions and registers that may serve as indices."""
    entries = [entry for table in program.tables for entry in _entries(program, table, pools, rng)]
    defaults = {
        table.name: _call(program, rng.choice(table.actions), rng)
        for table in program.tables
        if not table.default_constant and _writable(table) and rng.random() < 0.5
    }
    safe = min([SMALL, *(register.size for register in program.registers)])
    registers = {
        register.name: [rng.randrange(min(safe, 1 << register.bits)) for _ in range(register.size)]
        for register in program.registers
        if rng.random() < 0.5
    }
    return SwitchSetup(entries, defaults, registers)


def disturbed(program: Program, setup: SwitchSetup, rng: Random) -> SwitchSetup:
    """Return a set-up of which some entries are gone and some calls are random ones."""
    tables = {table.name: table for table in program.tables}
    entries = []
    for entry in setup.entries:
        chance = rng.random()
        if chance < 0.2:
            call = _call(program, rng.choice(tables[entry.table].actions), rng)
            entries.append(TableEntry(entry.table, entry.match, *call, entry.priority))
        elif chance < 0.9:
            entries.append(entry)
    defaults = {
        name: call if rng.random() < 0.8 else _call(program, rng.choice(tables[name].actions), rng)
        for name, call in setup.defaults.items()
    }
    return SwitchSetup(entries, defaults, setup.registers)


def random_indirection(program: Program, pools: Pools, rng: Random) -> Indirection:
    """Make random members and groups, and entries that name them."""
    members: list[Member] = []
    groups: list[Group] = []
    entries: list[IndirectEntry] = []
    for profile in program.profiles:
        tables = [table for table in program.tables if table.profile == profile.name]
        numbers = range(min(MEMBERS, profile.size))
        calls = [_call(program, rng.choice(tables[0].actions), rng) for _ in numbers]
        members += [Member(profile.name, *call) for call in calls]
        chosen = [rng.sample(numbers, rng.randrange(1, len(numbers) + 1)) for _ in range(GROUPS)]
        has_groups = bool(profile.algorithm)
        groups += [Group(profile.name, tuple(sorted(some))) for some in chosen if has_groups]
        for table in tables:
            for match, priority in _matches(table, pools, rng).items():
                names_group = has_groups and rng.random() < 0.7
                number = rng.choice(range(GROUPS) if names_group else numbers)
                entry = TableEntry(table.name, match, "", (), priority)
                entries.append(IndirectEntry(entry, number, names_group))
    return Indirection(tuple(members), tuple(groups), tuple(entries), pools.sets)


def random_replication(ports: Sequence[int], rng: Random) -> Replication:
    """Make small groups and sessions with numbers below SMALL, some of them missing."""
    groups = {
        group: [(port, group) for port in sorted(rng.sample(ports, rng.randrange(1, 4)))]
        for group in range(1, SMALL, 2)
    }
    return Replication(groups, {session: rng.choice(ports) for session in range(0, SMALL, 2)})


def random_frames(
    program: Program, pools: Pools, ports: Sequence[int], count: int, rng: Random
) -> list[Frame]:
    """Make `count` frames for random ports, one in five of them malformed."""
    return [
        Frame(rng.choice(ports), _mangled(_frame(program, pools, rng), rng)) for _ in range(count)
    ]


def _entries(program: Program, table: Table, pools: Pools, rng: Random) -> list[TableEntry]:
    if not _writable(table) or table.entries_constant:
        return []
    return [
        TableEntry(table.name, match, *_call(program, rng.choice(table.actions), rng), priority)
        for match, priority in _matches(table, pools, rng).items()
    ]


def _matches(table: Table, pools: Pools, rng: Random) -> dict[Matches, int]:
    """Choose what a table's entries match, each once, and their priorities."""
    count = rng.randrange(min(table.size, MOST_ENTRIES) + 1) if table.keys else 0
    return {
        tuple(_key(key, pools.fields[key.target], rng) for key in table.keys): priority
        for priority in range(1, 1 + count)
    }


def _writable(table: Table) -> bool:
    return table.kind is TableKind.SIMPLE and bool(table.actions)


def _key(key: Key, values: Sequence[int], rng: Random) -> int | tuple[int, int]:
    value, ones = rng.choice(values), (1 << key.bits) - 1
    if key.mask is not None:
        value &= key.mask
    match key.match:
        case Match.EXACT:
            return value
        case Match.LPM:
            length = rng.randrange(key.bits + 1)
            return value & ~(ones >> length) & ones, length
        case Match.RANGE:
            low, high = sorted((value, rng.choice(values)))
            return low, high
        case Match.OPTIONAL:
            return (value, ones) if rng.random() < 0.8 else (0, 0)
        case Match.TERNARY:
            mask = rng.choice((0, ones, ones, rng.randrange(ones + 1)))
            return value & mask, mask


def _call(program: Program, number: int, rng: Random) -> tuple[str, tuple[int, ...]]:
    action = program.actions[number]
    return action.name, tuple(_value(parameter.bits, rng) for parameter in action.parameters)


def _value(bits: int, rng: Random) -> int:
    """Choose a small number mostly, sometimes any, sometimes the greatest."""
    chance = rng.random()
    if chance < 0.7:
        return rng.randrange(min(SMALL, 1 << bits))
    return (1 << bits) - 1 if chance > 0.97 else rng.getrandbits(bits)


@dataclass(slots=True)
class _Bits:
    """A frame under construction, and where the fields extracted last stand in it."""

    value: int = 0
    length: int = 0
    places: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def append(self, value: int, bits: int) -> None:
        self.value = self.value << bits | value
        self.length += bits

    def overwrite(self, place: tuple[int, int], value: int) -> None:
        start, bits = place
        shift = self.length - start - bits
        self.value = self.value & ~(((1 << bits) - 1) << shift) | value << shift


def _frame(program: Program, pools: Pools, rng: Random) -> bytes:
    states = {state.name: state for state in program.parser.states}
    bits, name = _Bits(), program.parser.start
    for _ in range(LONGEST_WALK):
        if name is None or name not in states:
            break
        for step in states[name].steps:
            if isinstance(step, Extract):
                _extract(program, step, bits, pools, rng)
        name = _take(program, states[name], bits, pools, rng)
    bits.append(0, -bits.length % 8)
    return bits.value.to_bytes(bits.length // 8, "big") + rng.randbytes(_payload(rng))


def _payload(rng: Random) -> int:
    return rng.choice((0, 1, rng.randrange(LONGEST_PAYLOAD)))


def _extract(program: Program, step: Extract, bits: _Bits, pools: Pools, rng: Random) -> None:
    if step.kind == "union_stack":
        return
    header_type, known = _extracted(program, step)
    for part in header_type.fields:
        if part.variable:
            bits.append(0, 8 * rng.randrange(part.bits // 8 + 1))
            continue
        bits.places[step.target, part.name] = (bits.length, part.bits)
        pool = pools.fields.get(FieldRef(known, part.name))
        chosen = rng.choice(pool) if pool and rng.random() < 0.8 else _value(part.bits, rng)
        bits.append(chosen, part.bits)


def _extracted(program: Program, step: Extract) -> tuple[HeaderType, str]:
    """Return what a step extracts: its type and the name of an instance."""
    if step.kind == "stack":
        stack = program.stacks[step.target]
        return program.header_types[stack.type], stack.headers[0]
    return program.header_types[program.headers[step.target].type], step.target


def _take(program: Program, state: State, bits: _Bits, pools: Pools, rng: Random) -> str | None:
    """Choose a transition and give the key the value that takes it, as far as it can be set."""
    if not state.cases:
        return None
    case = rng.choice(state.cases)
    widths = [_key_bits(program, part) for part in state.key]
    if case.kind is CaseKind.VALUE:
        _overwrite_key(state, bits, case.value, widths, [-(-width // 8) * 8 for width in widths])
    elif case.kind is CaseKind.SET and pools.sets[case.value_set]:
        _overwrite_key(state, bits, rng.choice(pools.sets[case.value_set]), widths, widths)
    return case.target


def _overwrite_key(
    state: State, bits: _Bits, value: int, widths: Sequence[int], places: Sequence[int]
) -> None:
    """Give the fields of a key their parts of a value, in which each has a place of some bits."""
    for part, width, place in reversed(list(zip(state.key, widths, places, strict=True))):
        found = bits.places.get(_owner(part))
        if found is not None and found[1] == width:
            bits.overwrite(found, value & ((1 << width) - 1))
        value >>= place


def _owner(part: object) -> tuple[str, str]:
    match part:
        case FieldRef(header, name):
            return header, name
        case StackField(stack, name):
            return stack, name
    return "", ""


def _key_bits(program: Program, part: object) -> int:
    match part:
        case Lookahead(_, width):
            return width
        case FieldRef():
            return program.field(part).bits
        case StackField(stack, name):
            return program.header_types[program.stacks[stack].type].field(name).bits
    return 0


def _mangled(frame: bytes, rng: Random) -> bytes:
    """Leave four frames of five alone."""
    chance = rng.random()
    if chance < 0.1:
        return frame[: rng.randrange(len(frame) + 1)]
    if chance < 0.15 and frame:
        at = rng.randrange(len(frame))
        return frame[:at] + rng.randbytes(1) + frame[at + 1 :]
    return rng.randbytes(rng.randrange(LONGEST_PAYLOAD)) if chance < 0.2 else frame
