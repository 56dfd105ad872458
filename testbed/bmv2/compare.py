"""The same frames through simple_switch and through our engine: every output, register, counter.

Both run one BMv2 JSON whose clock and dice are reproducible, with the same random or given control
plane. Frames that make a register index run out of range are left out first: our engine drops and
counts them, simple_switch dies of them.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from p4.codegen.program import FieldRef
from p4.compiler import compile_file
from p4.engine import Program, Switch
from testbed.addressing import ipv4
from testbed.bmv2 import control
from testbed.bmv2.client import connect
from testbed.bmv2.errors import Bmv2Error
from testbed.bmv2.files import Frame, start_on_pipes
from testbed.bmv2.randomly import (
    Replication,
    random_frames,
    random_replication,
    random_setup,
    value_pools,
)
from testbed.bmv2.reproducible import reproducible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from testbed.bmv2.client import Client
    from testbed.plan import Plan, SwitchSetup

PORTS = tuple(range(16))
COUNTERS_READ = 64
ASYNCHRONOUS = {"resubmit", "recirculate"}


@dataclass(frozen=True, slots=True)
class Case:
    """What both switches get: a program as BMv2 JSON, its control plane, and frames."""

    name: str
    document: dict[str, Any]
    setup: SwitchSetup
    replication: Replication
    frames: Sequence[Frame]


@dataclass(frozen=True, slots=True)
class State:
    """What a switch put out, by port, and what it holds in the end."""

    outputs: dict[int, list[bytes]]
    registers: dict[str, list[int]]
    counters: dict[str, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many frames went in and out, and a line for each difference."""

    frames: int
    outputs: int
    differences: tuple[str, ...]


def random_case(name: str, document: dict[str, Any], seed: int, frames: int) -> Case:
    """Make a case of a program with a random control plane and random frames."""
    random = Random(seed)
    still = reproducible(document)
    model = Program.from_document(still, name).model
    pools = value_pools(model, random)
    return Case(
        name,
        still,
        random_setup(model, pools, random),
        random_replication(PORTS, random),
        random_frames(model, pools, PORTS, frames, random),
    )


def planned_case(plan: Plan, switch: str, seed: int, frames: int) -> Case:
    """Make a case of a plan's switch as the control plane sets it up, with frames for its hosts."""
    random = Random(seed)
    source = plan.programs[switch]
    document = reproducible(compile_file(source.path, defines=dict(source.defines)), tick=1)
    name = f"{plan.scenario.scheme} on {switch}"
    model = Program.from_document(document, source.path.stem).model
    hosts = [ipv4(node, plan.topology) for node in plan.topology.nodes if node.tier == "host"]
    pools = {FieldRef("ipv4", name): hosts for name in ("source", "destination")}
    ports = range(1, 1 + next(n.ports for n in plan.topology.nodes if n.name == switch))
    return Case(
        name,
        document,
        plan.whole_setup(switch),
        Replication({}, {}),
        random_frames(model, pools, ports, frames, random),
    )


def compare(case: Case) -> Comparison:
    """Run a case on both switches; raises Bmv2Error if simple_switch dies or refuses something."""
    program = Program.from_document(case.document, case.name)
    frames, per_frame, ours = _run_ours(program, case)
    theirs = _run_reference(program, case, frames, per_frame)
    return Comparison(
        len(frames),
        sum(map(len, per_frame)),
        (
            *_output_differences(frames, per_frame, ours, theirs),
            *_state_differences("register", ours.registers, theirs.registers),
            *_state_differences("counter", ours.counters, theirs.counters),
        ),
    )


def _run_ours(program: Program, case: Case) -> tuple[Sequence[Frame], list[list[Frame]], State]:
    """Run our engine until no frame is left that faults: frames, what each caused, the end."""
    frames = case.frames
    while True:
        switch = _our_switch(program, case)
        per_frame, faults = [], []
        for frame in frames:
            outputs = switch.receive(frame.port, frame.data)
            per_frame.append([Frame(out.port, out.data) for out in outputs if out.port in PORTS])
            faults.append(_faults(switch))
        if faults[-1] == 0:
            return frames, per_frame, _our_state(program, switch, per_frame)
        before = [0, *faults]
        frames = [frame for i, frame in enumerate(frames) if faults[i] == before[i]]
        if not frames:
            raise Bmv2Error(f"{case.name}: every frame faults")


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
    return switch


def _faults(switch: Switch) -> int:
    faults = switch.faults()
    return faults.register_range + faults.header_room + faults.recursion + faults.assertions


def _our_state(program: Program, switch: Switch, per_frame: list[list[Frame]]) -> State:
    outputs: dict[int, list[bytes]] = {port: [] for port in PORTS}
    for frame in itertools.chain.from_iterable(per_frame):
        outputs[frame.port].append(frame.data)
    return State(
        outputs,
        {
            register.name: [
                min(value, control.LARGEST_REGISTER)
                for value in switch.register_read(register.name)
            ]
            for register in program.model.registers
        },
        {
            name: [switch.counter_read(name, index) for index in range(size)]
            for name, size in _counters(program)
        },
    )


def _counters(program: Program) -> Iterator[tuple[str, int]]:
    for counter in program.model.counters:
        if counter.table is None:
            yield counter.name, min(counter.size, COUNTERS_READ)


def _run_reference(
    program: Program, case: Case, frames: Sequence[Frame], per_frame: list[list[Frame]]
) -> State:
    sizes = [sum(out.recorded_bytes for out in outputs) for outputs in per_frame]
    left_bytes = list(itertools.accumulate(sizes))
    with tempfile.TemporaryDirectory(prefix="bmv2-") as folder:
        document = Path(folder) / "program.json"
        document.write_text(json.dumps(case.document), encoding="utf-8")
        switch = start_on_pipes(case.name, document, PORTS, Path(folder))
        try:
            client = connect(switch.process)
            control.require_ports(client, PORTS)
            control.set_queues(client, {}, depth=len(frames) * len(PORTS) + 64)
            control.install(client, program.model, case.setup)
            control.replicate(client, case.replication.groups, case.replication.sessions)
            switch.feed(frames, left_bytes if _needs_steps(program, case.document) else None)
            switch.wait_for(left_bytes[-1])
            switch.process.require_alive()
            state = State(switch.outputs(), *_reference_arrays(program, client))
            client.close()
        finally:
            switch.stop()
    return state


def _needs_steps(program: Program, document: dict[str, Any]) -> bool:
    """Tell whether frames may overtake each other in simple_switch, whose egress has threads."""
    used = {step["op"] for action in document["actions"] for step in action["primitives"]}
    return not program.pure_egress or bool(used & ASYNCHRONOUS)


def _reference_arrays(
    program: Program, client: Client
) -> tuple[dict[str, list[int]], dict[str, list[tuple[int, int]]]]:
    registers = {r.name: control.read_register(client, r.name) for r in program.model.registers}
    counters = {
        name: [control.read_counter(client, name, index) for index in range(size)]
        for name, size in _counters(program)
    }
    return registers, counters


def _output_differences(
    frames: Sequence[Frame], per_frame: list[list[Frame]], ours: State, theirs: State
) -> Iterator[str]:
    """Yield the first difference of each port, with the frame that caused it."""
    causes: dict[int, list[int]] = {port: [] for port in PORTS}
    for number, outputs in enumerate(per_frame):
        for out in outputs:
            causes[out.port].append(number)
    for port in PORTS:
        pairs = itertools.zip_longest(ours.outputs[port], theirs.outputs[port])
        for place, (own, other) in enumerate(pairs):
            if own != other:
                cause = causes[port][place] if place < len(causes[port]) else None
                told = _told(frames, cause)
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
        for index, (own, other) in enumerate(zip(values, theirs[name], strict=False)):
            if own != other:
                yield f"{kind} {name}[{index}]: {own} != {other}"
                break


def _hex(data: bytes | None) -> str:
    return "nothing" if data is None else data.hex() or "an empty frame"
