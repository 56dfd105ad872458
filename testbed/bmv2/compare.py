"""The same frames through simple_switch and through our engine: every output, register, counter.

Both run one BMv2 JSON whose clock and dice are reproducible, with the same control plane. Frames
that make a register index run out of range are left out first: our engine drops and counts them,
simple_switch dies of them.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from p4.engine import GROUP, Program, Switch
from testbed.bmv2 import control, profiles
from testbed.bmv2.cases import PORTS
from testbed.bmv2.client import connect
from testbed.bmv2.errors import Bmv2Error
from testbed.bmv2.files import Frame, start_on_pipes
from testbed.bmv2.reproducible import CLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from testbed.bmv2.cases import Case
    from testbed.bmv2.client import Client
    from testbed.bmv2.files import FileSwitch
    from testbed.bmv2.randomly import Indirection

COUNTERS_READ = 64
OVERTAKING = {"resubmit", "recirculate"}

T = TypeVar("T")
Registers = dict[str, list[int]]
Counters = dict[str, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class State:
    """What a switch put out, by port, and what it holds in the end."""

    outputs: dict[int, list[bytes]]
    registers: Registers
    counters: Counters


@dataclass(frozen=True, slots=True)
class OurRun:
    """Our engine's run: the frames that did not fault, what each caused, clocks, and the end.

    `clocks[i]` is the reproducible clock after frame i, `left_bytes[i]` the size of all outputs so
    far.
    """

    frames: Sequence[Frame]
    caused: Sequence[Sequence[Frame]]
    clocks: Sequence[int]
    state: State

    @property
    def left_bytes(self) -> list[int]:
        """Return the recorded size of all outputs after each frame."""
        sizes = (sum(out.recorded_bytes for out in outputs) for outputs in self.caused)
        return list(itertools.accumulate(sizes))


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many frames went in and out, and a line for each difference."""

    frames: int
    outputs: int
    differences: tuple[str, ...]


def compare(case: Case, *, one_by_one: bool = False) -> Comparison:
    """Run a case on both switches; raises Bmv2Error if simple_switch dies or refuses something.

    `one_by_one` lets each frame be done before the next one enters. Programs that read fields of
    invalid headers need that: they see what an earlier frame left in the same memory.
    """
    program = Program.from_document(case.document, case.name)
    ours = run_engine(program, case)
    theirs = _run_reference(program, case, ours, one_by_one or _may_overtake(program, case))
    return Comparison(
        len(ours.frames),
        sum(map(len, ours.caused)),
        (
            *_output_differences(ours, theirs),
            *_state_differences("register", ours.state.registers, theirs.registers),
            *_state_differences("counter", ours.state.counters, theirs.counters),
        ),
    )


def run_engine(program: Program, case: Case) -> OurRun:
    """Run our engine again and again until no frame is left that faults."""
    frames = case.frames
    while frames:
        switch = _our_switch(program, case)
        caused, clocks, faults = [], [], []
        for frame in frames:
            outputs = switch.receive(frame.port, frame.data)
            caused.append([Frame(out.port, out.data) for out in outputs if out.port in PORTS])
            clocks.append(switch.register_read(CLOCK, 0))
            faults.append(_faults(switch))
        if faults[-1] == 0:
            return OurRun(frames, caused, clocks, _our_state(program, switch, caused))
        before = [0, *faults]
        frames = [frame for i, frame in enumerate(frames) if faults[i] == before[i]]
    raise Bmv2Error(f"{case.name}: every frame faults")


def compare_runs(one: OurRun, other: OurRun) -> tuple[str, ...]:
    """Return a line for each difference between two runs of the engine, of one name for name.

    What only one of the two programs has (a compiler may leave out what is not used) is not told.
    """
    if one.frames != other.frames:
        return (f"{len(one.frames)} frames without a fault != {len(other.frames)}",)
    return (
        *_output_differences(one, other.state),
        *_state_differences("register", *_shared(one.state.registers, other.state.registers)),
        *_state_differences("counter", *_shared(one.state.counters, other.state.counters)),
    )


def _shared(one: Mapping[str, T], other: Mapping[str, T]) -> tuple[dict[str, T], dict[str, T]]:
    names = [name for name in one if name in other]
    return {name: one[name] for name in names}, {name: other[name] for name in names}


def _our_switch(program: Program, case: Case) -> Switch:
    switch = Switch(program)
    for entry in case.setup.entries:
        switch.table_add(entry.table, entry.match, entry.action, entry.parameters, entry.priority)
    for table, (action, arguments) in case.setup.defaults.items():
        switch.table_set_default(table, action, arguments)
    for name, values in case.setup.registers.items():
        switch.register_write(name, slice(0, len(values)), list(values))
    for group, copies in case.replication.groups.items():
        switch.group_set(group, copies)
    for session, port in case.replication.sessions.items():
        switch.mirror_set(session, port)
    _fill_profiles(switch, case.indirection)
    return switch


def _fill_profiles(switch: Switch, wanted: Indirection) -> None:
    for member in wanted.members:
        switch.member_set(member.profile, member.action, member.arguments)
    for group in wanted.groups:
        switch.selection_set(group.profile, group.members)
    for each in wanted.entries:
        number, entry = each.number | GROUP * each.names_group, each.entry
        switch.table_add(entry.table, entry.match, number, (), entry.priority)
    for name, values in wanted.sets.items():
        switch.value_set_fill(name, values)


def _faults(switch: Switch) -> int:
    faults = switch.faults()
    return faults.register_range + faults.header_room + faults.recursion + faults.assertions


def _our_state(program: Program, switch: Switch, caused: Sequence[Sequence[Frame]]) -> State:
    outputs: dict[int, list[bytes]] = {port: [] for port in PORTS}
    for frame in itertools.chain.from_iterable(caused):
        outputs[frame.port].append(frame.data)
    registers = {
        register.name: [
            min(value, control.LARGEST_REGISTER) for value in switch.register_read(register.name)
        ]
        for register in program.model.registers
    }
    counters = {
        name: [switch.counter_read(name, index) for index in range(size)]
        for name, size in _counters(program)
    }
    return State(outputs, registers, counters)


def _counters(program: Program) -> Iterator[tuple[str, int]]:
    for counter in program.model.counters:
        if counter.table is None:
            yield counter.name, min(counter.size, COUNTERS_READ)


def _may_overtake(program: Program, case: Case) -> bool:
    """Tell whether frames may overtake each other in simple_switch, whose egress has threads."""
    used = {step["op"] for action in case.document["actions"] for step in action["primitives"]}
    return not program.pure_egress or bool(used & OVERTAKING)


def _run_reference(program: Program, case: Case, ours: OurRun, one_by_one: bool) -> State:  # noqa: FBT001
    left_bytes = ours.left_bytes
    with tempfile.TemporaryDirectory(prefix="bmv2-") as folder:
        document = Path(folder) / "program.json"
        document.write_text(json.dumps(case.document), encoding="utf-8")
        switch = start_on_pipes(case.name, document, PORTS, Path(folder))
        try:
            with connect(switch.process) as client:
                _configure(client, program, case)
                done = _done(switch, client, ours.clocks, left_bytes) if one_by_one else None
                switch.feed(ours.frames, done)
                switch.wait_for(left_bytes[-1])
                switch.process.require_alive()
                return State(switch.outputs(), *_reference_arrays(program, client))
        finally:
            switch.stop()


def _configure(client: Client, program: Program, case: Case) -> None:
    control.require_ports(client, PORTS)
    control.set_queues(client, {}, depth=len(case.frames) * len(PORTS) + 64)
    control.install(client, program.model, case.setup)
    control.replicate(client, case.replication.groups, case.replication.sessions)
    profiles.fill(client, program.model, case.indirection)


def _done(
    switch: FileSwitch, client: Client, clocks: Sequence[int], left_bytes: Sequence[int]
) -> Callable[[int], bool]:
    def done(number: int) -> bool:
        entered = control.read_register(client, CLOCK)[0] >= clocks[number]
        return entered and switch.recorded_bytes() >= left_bytes[number]

    return done


def _reference_arrays(program: Program, client: Client) -> tuple[Registers, Counters]:
    registers = {r.name: control.read_register(client, r.name) for r in program.model.registers}
    counters = {
        name: [control.read_counter(client, name, index) for index in range(size)]
        for name, size in _counters(program)
    }
    return registers, counters


def _output_differences(ours: OurRun, theirs: State) -> Iterator[str]:
    """Yield the first difference of each port, with the frame that caused it."""
    causes: dict[int, list[int]] = {port: [] for port in PORTS}
    for number, outputs in enumerate(ours.caused):
        for out in outputs:
            causes[out.port].append(number)
    for port in PORTS:
        pairs = itertools.zip_longest(ours.state.outputs[port], theirs.outputs[port])
        for place, (own, other) in enumerate(pairs):
            if own != other:
                cause = causes[port][place] if place < len(causes[port]) else None
                told = _told(ours.frames, cause)
                yield f"port {port}, output {place}: {_hex(own)} != {_hex(other)}{told}"
                break


def _told(frames: Sequence[Frame], cause: int | None) -> str:
    if cause is None:
        return ""
    return f"; frame {cause} on port {frames[cause].port} was {_hex(frames[cause].data)}"


def _state_differences(
    kind: str, ours: Mapping[str, Sequence[object]], theirs: Mapping[str, Sequence[object]]
) -> Iterator[str]:
    for name, values in ours.items():
        for index, (own, other) in enumerate(zip(values, theirs[name], strict=True)):
            if own != other:
                yield f"{kind} {name}[{index}]: {own} != {other}"
                break


def _hex(data: bytes | None) -> str:
    return "nothing" if data is None else data.hex() or "an empty frame"
