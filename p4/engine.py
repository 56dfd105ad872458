"""A compiled P4 program from Python: switches, their tables, registers and counters by P4 name."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import cffi

from p4.codegen.build import CODEGEN, build_program
from p4.codegen.generate import generate_c
from p4.codegen.kept import find_kept, keep, kept_name
from p4.codegen.layout import whole_bytes
from p4.codegen.reader import read_file, read_program
from p4.codegen.symbols import (
    ActionInfo,
    EngineError,
    MatchValue,
    TableInfo,
    decode_key,
    decode_parameters,
    encode_key,
    encode_parameters,
    field_bytes,
    find,
    program_symbols,
)
from p4.world import Output, Recorder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p4.codegen.program import Program as Model

    Matches = Sequence[MatchValue] | Mapping[str, MatchValue]
    Parameters = Sequence[int] | Mapping[str, int]

__all__ = ["EngineError", "Entry", "Faults", "Member", "Output", "Program", "Recorder", "Switch"]

GROUP = 1 << 30
OWN = (1 << 31) - 1  # as a default action: the one that the program declares


@dataclass(frozen=True, slots=True)
class Entry:
    """A table's entry. A table with an action profile has a member's or group's number."""

    handle: int
    match: tuple[MatchValue, ...]
    action: str
    parameters: tuple[int, ...]
    priority: int


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an action profile."""

    action: str
    parameters: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Faults:
    """Why frames vanished or were stopped inside a switch, counted."""

    dropped: int
    register_range: int
    header_room: int
    recursion: int
    assertions: int


def contract_declarations() -> str:
    """Return the body of the pipeline contract as cffi's parser takes it."""
    lines = (CODEGEN / "pipeline.h").read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("#"))


@cache
def contract() -> cffi.FFI:
    """Return the foreign function interface that knows the pipeline contract."""
    ffi = cffi.FFI()
    ffi.cdef(contract_declarations() + "\nextern struct pl_program pl_program;")
    return ffi


def _open(library: Path) -> Any:
    return contract().dlopen(str(library))


class Program:
    """A P4 program compiled to a shared object and loaded."""

    def __init__(self, model: Model, library: Path) -> None:
        self.model = model
        self.library = library
        self.ffi: Any = contract()
        self._loaded = _open(library)
        self.pointer: Any = self.ffi.addressof(self._loaded, "pl_program")
        self.symbols = program_symbols(model)
        self._kept: weakref.WeakKeyDictionary[Any, object] = weakref.WeakKeyDictionary()

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        defines: Mapping[str, str] | None = None,
        include_paths: Sequence[str | Path] = (),
        compiler: str = "ours",
    ) -> Self:
        """Compile and load a `.p4` file, or load a BMv2 `.json` file.

        `compiler` is `ours` or `p4c`. Raises ProgramError for a wrong JSON file, UserError where
        no C compiler works, and the compiler's own error for wrong P4.
        """
        path = Path(path)
        folders = [Path(folder) for folder in include_paths]
        if path.suffix == ".json":
            return cls.from_model(read_file(path))
        if compiler == "p4c":
            return cls.from_document(_reference_document(path, defines or {}, folders), path.stem)
        return cls._from_source(path, defines or {}, folders)

    @classmethod
    def _from_source(cls, path: Path, defines: Mapping[str, str], folders: list[Path]) -> Self:
        """Load a P4 source, from what was kept of it if nothing has changed since."""
        name = kept_name(path, defines, folders)
        kept = find_kept(name)
        if kept is not None:
            return cls(kept.program, Path(kept.library))
        from p4.compiler import compile_file  # noqa: PLC0415  (not needed for kept programs)
        from p4.compiler.source import preprocess  # noqa: PLC0415

        document = compile_file(path, defines=defines, include_paths=folders)
        program = cls.from_document(document, path.stem)
        files = preprocess(path, defines, folders).files
        keep(name, program.model, program.library, [str(Path(file).resolve()) for file in files])
        return program

    @classmethod
    def from_document(cls, document: dict[str, Any], name: str | None = None) -> Self:
        """Load a program from its BMv2 JSON."""
        return cls.from_model(read_program(document, name))

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Generate, build and load a program."""
        return cls(model, build_program(generate_c(model), model.name))

    @property
    def name(self) -> str:
        """Return the program's name."""
        return self.model.name

    @property
    def pure_egress(self) -> bool:
        """Return whether frames are final when they are enqueued."""
        return bool(self.pointer.pure_egress)

    def keep(self, owner: Any, thing: object) -> None:
        """Keep `thing` alive as long as `owner`."""
        self._kept[owner] = thing

    def table(self, name: str) -> TableInfo:
        """Return the table of that name, or of a name that ends so."""
        return find(self.symbols.tables, name, "table")

    def action(self, table: TableInfo, name: str) -> ActionInfo:
        """Return the action of that name among a table's."""
        return find(table.actions, name, f"action of table {table.name}")

    def check(self, code: int, what: str) -> int:
        """Return a call's result; EngineError says what failed and why if it is negative."""
        if code < 0:
            reason = self.ffi.string(self.pointer.error(code)).decode()
            raise EngineError(f"{what}: {reason}")
        return int(code)


class Switch:
    """One switch running a program. Made for a world in C, or with a Recorder for tests."""

    def __init__(self, program: Program, world: Any = None, seed: int = 0) -> None:
        self.program = program
        self.recorder = world if isinstance(world, Recorder) else None
        if world is None:
            self.recorder = Recorder()
        self._ffi: Any = program.ffi
        self._calls: Any = program.pointer
        self._world = self.recorder.bind(program) if self.recorder is not None else world
        pointer = self._calls.create(self._world, seed & (1 << 64) - 1)
        if pointer == self._ffi.NULL:
            raise EngineError(f"program {program.name}: out of memory for a switch")
        self.pointer = self._ffi.gc(pointer, self._calls.destroy)

    @classmethod
    def at(cls, program: Program, address: int) -> Self:
        """Return the switch at an address, which a world in C has made and will free."""
        switch = cls.__new__(cls)
        switch.program, switch.recorder = program, None
        switch._ffi, switch._calls = program.ffi, program.pointer  # noqa: SLF001
        switch._world = None  # noqa: SLF001
        switch.pointer = program.ffi.cast("struct pl_switch *", address)
        return switch

    def close(self) -> None:
        """Free the switch now; it must not be used afterwards."""
        self._ffi.release(self.pointer)

    # Frames ---------------------------------------------------------------------------------

    def receive(
        self, port: int, frame: bytes, *, now: int = 0, length: int | None = None
    ) -> list[Output]:
        """Let a frame arrive, finish everything it causes, and return what came out.

        `length` is its length on the wire where `frame` holds only its first bytes. Needs a
        switch made with a Recorder.
        """
        if self.recorder is None:
            raise EngineError("this switch reports to another world")
        first = len(self.recorder.outputs)
        self.arrive(port, frame, now=now, length=length)
        self.drain(now)
        return self.recorder.outputs[first:]

    def arrive(self, port: int, frame: bytes, *, now: int = 0, length: int | None = None) -> None:
        """Let a frame arrive; what it causes waits in the recorder, or has left already."""
        data = self._ffi.new("uint8_t[]", frame or b"\0")
        struct = self._ffi.new("struct pl_frame *")
        struct.data, struct.stored, struct.length = data, len(frame), length or len(frame)
        self._calls.receive(self.pointer, port, struct, now)

    def drain(self, now: int = 0) -> None:
        """Serve all frames that wait for their egress, and those that this makes wait."""
        while self.recorder is not None and self.recorder.waiting:
            _, _, held = self.recorder.waiting.popleft()
            self.serve(held, enqueued_at=now, dequeued_at=now)

    def serve(
        self,
        held: Any,
        *,
        enqueued_at: int,
        dequeued_at: int,
        packets_at_enqueue: int = 0,
        packets_at_dequeue: int = 0,
    ) -> None:
        """Let a frame that waited go through egress, telling the program what it met."""
        queueing = self._ffi.new("struct pl_queueing *")
        queueing.enqueued_at, queueing.dequeued_at = enqueued_at, dequeued_at
        queueing.packets_at_enqueue = packets_at_enqueue
        queueing.packets_at_dequeue = packets_at_dequeue
        self._calls.dequeue(self.pointer, held, queueing)

    def discard(self, held: Any) -> None:
        """Drop a frame that waits."""
        self._calls.discard(self.pointer, held)

    def faults(self) -> Faults:
        """Return the switch's fault counters."""
        struct = self._ffi.new("struct pl_faults *")
        self._calls.faults(self.pointer, struct)
        return Faults(
            struct.dropped,
            struct.register_range,
            struct.header_room,
            struct.recursion,
            struct.assertions,
        )

    # Tables ---------------------------------------------------------------------------------

    def table_add(
        self,
        table: str,
        match: Matches,
        action: str | int,
        parameters: Parameters = (),
        priority: int | None = None,
    ) -> int:
        """Add an entry and return its handle.

        `match` lists values in key order or maps key names to them: an integer (exact), value and
        prefix length (lpm), value and mask (ternary), low and high (range), None for any. A table
        with an action profile takes a member's number as `action`, or a group's plus GROUP.
        Ternary, range and optional entries need a priority, of which the smaller wins.
        """
        info = self.program.table(table)
        with_data = self._encode_entry(info, match, action, parameters, priority)
        entry = self._ffi.new("struct pl_entry *", with_data[0])
        code = self._calls.table_add(self.pointer, info.number, entry)
        return self.program.check(code, f"table {info.name}, entry {match}")

    def table_add_many(
        self, table: str, entries: Iterable[tuple[Matches, str | int, Parameters, int | None]]
    ) -> list[int]:
        """Add entries, each match, action, parameters and priority, and return their handles.

        If one fails, none is added.
        """
        info = self.program.table(table)
        items = list(entries)
        encoded = [self._encode_entry(info, *item) for item in items]
        array = self._ffi.new("struct pl_entry[]", [fields for fields, _ in encoded])
        handles = self._ffi.new("int64_t[]", len(items))
        code = self._calls.table_add_many(self.pointer, info.number, array, len(items), handles)
        done = self.program.check(code, f"table {info.name}")
        if done < len(items):
            for handle in handles[0:done]:
                self._calls.table_delete(self.pointer, info.number, handle)
            self.program.check(handles[done], f"table {info.name}, entry {items[done][0]}")
        return list(handles)

    def _encode_entry(
        self,
        info: TableInfo,
        match: Matches,
        action: str | int,
        parameters: Parameters,
        priority: int | None,
    ) -> tuple[tuple[Any, ...], object]:
        """Return the fields of a `struct pl_entry`, and what must live as long as they do."""
        value, second = encode_key(info, match)
        number, data = self._encode_action(info, action, parameters)
        if priority is None and info.needs_priority:
            raise EngineError(f"table {info.name}: an entry needs a priority; the smaller wins")
        priority = priority or 0
        if not 0 <= priority < 1 << 32:
            raise EngineError(f"table {info.name}: priority {priority} does not fit 32 bits")
        arrays = tuple(self._ffi.from_buffer("uint8_t[]", item) for item in (value, second, data))
        return (arrays[0], arrays[1], priority, number, arrays[2]), arrays

    def _encode_action(
        self, info: TableInfo, action: str | int, parameters: Parameters
    ) -> tuple[int, bytes]:
        if info.profile is not None:
            if not isinstance(action, int):
                raise EngineError(f"table {info.name}: an entry names a member or a group")
            return action, b""
        if isinstance(action, int):
            raise EngineError(f"table {info.name}: an entry names an action")
        found = self.program.action(info, action)
        return found.number, encode_parameters(found, parameters)

    def table_modify(
        self, table: str, handle: int, action: str | int, parameters: Parameters = ()
    ) -> None:
        """Give an entry another action."""
        info = self.program.table(table)
        number, data = self._encode_action(info, action, parameters)
        code = self._calls.table_modify(self.pointer, info.number, handle, number, data)
        self.program.check(code, f"table {info.name}, handle {handle}")

    def table_delete(self, table: str, handle: int) -> None:
        """Delete an entry."""
        info = self.program.table(table)
        code = self._calls.table_delete(self.pointer, info.number, handle)
        self.program.check(code, f"table {info.name}, handle {handle}")

    def table_clear(self, table: str) -> None:
        """Delete all entries of a table."""
        for entry in self.table_entries(table):
            self.table_delete(table, entry.handle)

    def table_set_default(self, table: str, action: str | int, parameters: Parameters = ()) -> None:
        """Set what a table does with a frame that no entry matches."""
        info = self.program.table(table)
        number, data = self._encode_action(info, action, parameters)
        code = self._calls.table_default(self.pointer, info.number, number, data)
        self.program.check(code, f"table {info.name}, default {action}")

    def table_reset_default(self, table: str) -> None:
        """Give a table the default action back that the program declares, if it has one."""
        info = self.program.table(table)
        code = self._calls.table_default(self.pointer, info.number, OWN, self._ffi.NULL)
        self.program.check(code, f"table {info.name}")

    def table_count(self, table: str) -> int:
        """Return how many entries a table has."""
        info = self.program.table(table)
        code = self._calls.table_count(self.pointer, info.number)
        return self.program.check(code, f"table {info.name}")

    def table_entries(self, table: str) -> list[Entry]:
        """Return a table's entries by handle."""
        info = self.program.table(table)
        entries, handle = [], -1
        while (handle := self._calls.table_next(self.pointer, info.number, handle)) >= 0:
            entry = self._read_entry(info, handle)
            if entry is not None:
                entries.append(entry)
        return entries

    def table_default(self, table: str) -> Entry | None:
        """Return what a table does with a frame that no entry matches, if anything."""
        info = self.program.table(table)
        return self._read_entry(info, -1)

    def _read_entry(self, info: TableInfo, handle: int) -> Entry | None:
        key_bytes = sum(whole_bytes(key.bits) for key in info.keys)
        most = self._most_parameter_bytes()
        value, second, data = (
            self._ffi.new("uint8_t[]", size + 1) for size in (key_bytes, key_bytes, most)
        )
        priority = self._ffi.new("uint32_t *")
        number = self._calls.table_read(
            self.pointer, info.number, handle, value, second, data, priority
        )
        if number < 0:
            return None
        match = decode_key(info, bytes(value), bytes(second)) if handle >= 0 else ()
        if info.profile is not None:
            return Entry(handle, match, _member_text(number), (), priority[0])
        action = self.program.symbols.actions[number]
        parameters = decode_parameters(action, bytes(data))
        return Entry(handle, match, action.name, parameters, priority[0])

    def _most_parameter_bytes(self) -> int:
        return max((_parameter_bytes(a) for a in self.program.symbols.actions), default=0) + 1

    def share_table(self, table: str, other: Switch) -> None:
        """Read a table of another switch instead of an own one, until the next write."""
        info = self.program.table(table)
        code = self._calls.table_share(self.pointer, info.number, other.pointer)
        self.program.check(code, f"table {info.name}")

    # Registers and counters -------------------------------------------------------------------

    def register_read(self, name: str, index: int | slice | None = None) -> Any:
        """Return a register's value, or a list of them for a slice or the whole array."""
        info = find(self.program.symbols.registers, name, "register")
        first, count = _range(index, info.size)
        size = whole_bytes(info.bits)
        data = self._ffi.new("uint8_t[]", size * count + 1)
        code = self._calls.register_read(self.pointer, info.number, first, count, data)
        self.program.check(code, f"register {info.name}, index {index}")
        raw = bytes(data)
        values = [int.from_bytes(raw[at : at + size], "big") for at in range(0, size * count, size)]
        return values[0] if isinstance(index, int) else values

    def register_write(
        self, name: str, index: int | slice | None, values: int | Sequence[int]
    ) -> None:
        """Set registers: one value for one index or for all of a slice, or a value each."""
        info = find(self.program.symbols.registers, name, "register")
        first, count = _range(index, info.size)
        items = [values] * count if isinstance(values, int) else list(values)
        if len(items) != count:
            raise EngineError(f"register {info.name}: {len(items)} values for {count} cells")
        data = b"".join(field_bytes(v, info.bits, f"register {info.name}") for v in items)
        code = self._calls.register_write(self.pointer, info.number, first, count, data)
        self.program.check(code, f"register {info.name}, index {index}")

    def counter_read(self, name: str, index: int) -> tuple[int, int]:
        """Return a counter's packets and bytes; a direct one is indexed by entry handle."""
        info = find(self.program.symbols.counters, name, "counter")
        packets, size = self._ffi.new("uint64_t *"), self._ffi.new("uint64_t *")
        code = self._calls.counter_read(self.pointer, info.number, _cell(index), packets, size)
        self.program.check(code, f"counter {info.name}, index {index}")
        return packets[0], size[0]

    def counter_write(self, name: str, index: int, packets: int, size: int) -> None:
        """Set a counter's packets and bytes."""
        info = find(self.program.symbols.counters, name, "counter")
        code = self._calls.counter_write(self.pointer, info.number, _cell(index), packets, size)
        self.program.check(code, f"counter {info.name}, index {index}")

    def meter_set(self, name: str, index: int, rates: Sequence[tuple[float, float]]) -> None:
        """Set a meter's rates, committed first, each with its burst, per time unit of `now`."""
        info = find(self.program.symbols.meters, name, "meter")
        if len(rates) != info.rates:
            raise EngineError(f"meter {info.name} has {info.rates} rates, got {len(rates)}")
        padded = [*rates, (0.0, 0.0)][:2]
        speeds = self._ffi.new("double[]", [rate for rate, _ in padded])
        bursts = self._ffi.new("double[]", [burst for _, burst in padded])
        code = self._calls.meter_set(self.pointer, info.number, _cell(index), speeds, bursts)
        self.program.check(code, f"meter {info.name}, index {index}")

    def meter_rates(self, name: str, index: int) -> list[tuple[float, float]]:
        """Return a meter's rates with their bursts, committed first; none if it has none."""
        info = find(self.program.symbols.meters, name, "meter")
        speeds, bursts = self._ffi.new("double[2]"), self._ffi.new("double[2]")
        code = self._calls.meter_get(self.pointer, info.number, _cell(index), speeds, bursts)
        count = self.program.check(code, f"meter {info.name}, index {index}")
        return [(speeds[i], bursts[i]) for i in range(count)]

    # Replication, profiles, value sets --------------------------------------------------------

    def group_set(self, group: int, copies: Sequence[tuple[int, int]]) -> None:
        """Set a multicast group's copies: port and egress_rid of each."""
        ports = self._ffi.new("uint32_t[]", [port for port, _ in copies])
        instances = self._ffi.new("uint32_t[]", [instance for _, instance in copies])
        code = self._calls.group_set(self.pointer, group, ports, instances, len(copies))
        self.program.check(code, f"multicast group {group}")

    def group_delete(self, group: int) -> None:
        """Delete a multicast group."""
        self.program.check(self._calls.group_delete(self.pointer, group), f"group {group}")

    def mirror_set(self, session: int, port: int | None = None, group: int | None = None) -> None:
        """Send clones of a session to a port, to a multicast group, or both."""
        where = -1 if port is None else port, -1 if group is None else group
        code = self._calls.mirror_set(self.pointer, session, *where)
        self.program.check(code, f"mirroring session {session}")

    def mirror_delete(self, session: int) -> None:
        """Delete a mirroring session."""
        code = self._calls.mirror_delete(self.pointer, session)
        self.program.check(code, f"mirroring session {session}")

    def member_set(
        self, profile: str, action: str, parameters: Parameters = (), member: int = -1
    ) -> int:
        """Make a member of an action profile, or change one, and return its number."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        tables = [t for t in self.program.symbols.tables if t.profile == info.name]
        choices = {a.number: a for table in tables for a in table.actions}
        found = find(choices.values(), action, f"action of profile {info.name}")
        data = encode_parameters(found, parameters)
        code = self._calls.member_set(self.pointer, info.number, member, found.number, data)
        return self.program.check(code, f"action profile {info.name}")

    def member_delete(self, profile: str, member: int) -> None:
        """Delete a member that no entry and no group uses."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        code = self._calls.member_delete(self.pointer, info.number, member)
        self.program.check(code, f"action profile {info.name}, member {member}")

    def selection_set(self, profile: str, members: Sequence[int], group: int = -1) -> int:
        """Make a group of members to choose from, or change one, and return its number."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        array = self._ffi.new("uint32_t[]", list(members))
        code = self._calls.selection_set(self.pointer, info.number, group, array, len(members))
        return self.program.check(code, f"action profile {info.name}")

    def selection_delete(self, profile: str, group: int) -> None:
        """Delete a group of an action profile that no entry uses."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        code = self._calls.selection_delete(self.pointer, info.number, group)
        self.program.check(code, f"action profile {info.name}, group {group}")

    def members(self, profile: str) -> dict[int, Member]:
        """Return an action profile's members by their numbers."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        found, member = {}, -1
        data = self._ffi.new("uint8_t[]", self._most_parameter_bytes())
        while (member := self._calls.member_next(self.pointer, info.number, member)) >= 0:
            number = self._calls.member_read(self.pointer, info.number, member, data)
            action = self.program.symbols.actions[number]
            found[member] = Member(action.name, decode_parameters(action, bytes(data)))
        return found

    def selections(self, profile: str) -> dict[int, list[int]]:
        """Return the members of an action profile's groups by the groups' numbers."""
        info = find(self.program.symbols.profiles, profile, "action profile")
        found, group = {}, -1
        while (group := self._calls.selection_next(self.pointer, info.number, group)) >= 0:
            arguments = self.pointer, info.number, group
            count = self._calls.selection_read(*arguments, self._ffi.NULL, 0)
            members = self._ffi.new("uint32_t[]", count)
            self._calls.selection_read(*arguments, members, count)
            found[group] = list(members)
        return found

    def value_set_fill(self, name: str, values: Sequence[int]) -> None:
        """Set the members of a parser value set."""
        info = find(self.program.symbols.value_sets, name, "value set")
        data = b"".join(field_bytes(v, info.bits, f"value set {info.name}") for v in values)
        code = self._calls.value_set_fill(self.pointer, info.number, data, len(values))
        self.program.check(code, f"value set {info.name}")

    # Hashes, everything ---------------------------------------------------------------------

    def crc_set(
        self,
        calculation: str,
        polynomial: int,
        initial: int,
        final_xor: int,
        *,
        reflect_data: bool,
        reflect_remainder: bool,
    ) -> None:
        """Set the parameters of a custom CRC."""
        info = find(self.program.symbols.hashes, calculation, "hash that can be set")
        reflect = int(reflect_data) + 2 * int(reflect_remainder)
        values = polynomial, initial, final_xor
        if any(not 0 <= value < 1 << info.bits for value in values):
            raise EngineError(f"hash {info.name}: its parameters have {info.bits} bits")
        code = self._calls.crc_set(self.pointer, info.number, *values, reflect)
        self.program.check(code, f"hash {info.name} ({info.algorithm})")

    def toeplitz_set(self, calculation: str, key: bytes) -> None:
        """Set the key of a Toeplitz hash, a multiple of 4 bytes."""
        info = find(self.program.symbols.hashes, calculation, "hash that can be set")
        code = self._calls.toeplitz_set(self.pointer, info.number, key, len(key))
        self.program.check(code, f"hash {info.name} ({info.algorithm})")

    def reset(self) -> None:
        """Put all tables, arrays, groups and settings back to how the program begins."""
        self.program.check(self._calls.reset(self.pointer), "reset")


def _reference_document(
    path: Path, defines: Mapping[str, str], folders: list[Path]
) -> dict[str, Any]:
    from p4.compiler.reference import compile_with_p4c  # noqa: PLC0415

    definitions = [f"{name}={value}" for name, value in defines.items()]
    return compile_with_p4c(path, defines=definitions, include_paths=folders)


def _parameter_bytes(action: ActionInfo) -> int:
    return sum(whole_bytes(parameter.bits) for parameter in action.parameters)


def _member_text(number: int) -> str:
    return f"group {number - GROUP}" if number & GROUP else f"member {number}"


def _cell(index: int) -> int:
    """Return an index as the contract takes it; one out of range becomes one that nobody has."""
    return index if 0 <= index < 1 << 32 else (1 << 32) - 1


def _range(index: int | slice | None, size: int) -> tuple[int, int]:
    if index is None:
        return 0, size
    if isinstance(index, slice):
        start, stop, step = index.indices(size)
        if step != 1:
            raise EngineError("register slices have no step")
        return start, max(stop - start, 0)
    return _cell(index), 1
