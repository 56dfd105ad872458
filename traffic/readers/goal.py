"""GOAL: schedules of sends, receives and computations of ranks (LogGOPSim, ATLAHS), as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.readers.lines import LARGEST_MESSAGE, whole, words_of, wrong
from traffic.waits import CycleError, execution_order, waits

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.request import Request

IGNORED = ("tag", "cpu", "nic", "clabel")
PICOSECONDS_PER_NANOSECOND = 1000


@dataclass(slots=True)
class _Step:
    """An operation of a rank: send, recv or calc, and which of that rank's steps it requires."""

    kind: str
    rank: int
    peer: int
    size: int  # bytes, or nanoseconds of a calc
    tag: int
    line: int
    requires: list[int] = field(default_factory=list)
    follows: list[int] = field(default_factory=list)  # irequires: begins when they begin


@dataclass(slots=True)
class _Schedule:
    path: Path
    ranks: int = 0
    steps: list[_Step] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  # of the rank that is read

    def wrong(self, line: int, problem: str) -> UserError:
        return wrong(self.path, line, problem)


def read(path: Path, request: Request) -> Flows:
    """Read a schedule: rank r is host r.

    A send and the receive that matches it (by ranks, tag and order) are a message, a calc is a
    computation of so many nanoseconds. What requires a receive waits until the message is there,
    what requires a send until it is sent. Operations begin as soon as what they require is done:
    `cpu` and `nic` do not hold them up. Errors are UserErrors that name the file and the line.
    """
    schedule = _Schedule(path)
    for line, words in words_of(path, comment="//"):
        _read_line(schedule, line, words)
    if not schedule.steps:
        raise UserError(f"{path}: there are no operations")
    if schedule.ranks > request.hosts:
        raise UserError(
            f"{path}: it is for {schedule.ranks} ranks; the network has {request.hosts}"
        )
    return _flows(schedule, _matched(schedule))


def _read_line(schedule: _Schedule, line: int, words: list[str]) -> None:
    match words:
        case ["num_ranks", number]:
            schedule.ranks = whole(schedule.path, line, "num_ranks", number)
        case ["rank", number, "{"]:
            rank = whole(schedule.path, line, "rank", number)
            if rank >= schedule.ranks:
                raise schedule.wrong(line, f"rank {rank} is not one of {schedule.ranks}")
            schedule.labels = {"": rank}
        case ["}"]:
            schedule.labels = {}
        case [label, ("requires" | "irequires") as how, other]:
            step, required = (_labelled(schedule, line, name) for name in (label, other))
            wanted = schedule.steps[step]
            (wanted.requires if how == "requires" else wanted.follows).append(required)
        case [label, *operation] if label.endswith(":") and operation:
            _add(schedule, line, label[:-1], operation)
        case _:
            raise schedule.wrong(line, f"{' '.join(words)[:40]!r} is no line of GOAL")


def _labelled(schedule: _Schedule, line: int, label: str) -> int:
    if label not in schedule.labels or not label:
        raise schedule.wrong(line, f"{label[:40]!r} is no label of this rank")
    return schedule.labels[label]


def _add(schedule: _Schedule, line: int, label: str, words: list[str]) -> None:
    if "" not in schedule.labels:
        raise schedule.wrong(line, "an operation needs a rank around it")
    if label in schedule.labels:
        raise schedule.wrong(line, f"label {label[:40]} is given twice")
    rank, path = schedule.labels[""], schedule.path
    match words:
        case ["calc", number, *rest]:
            size = whole(path, line, "calc", number, LARGEST_MESSAGE)
            step = _Step("calc", rank, rank, size, 0, line)
        case [("send" | "recv") as kind, number, ("to" | "from") as which, peer, *rest] if (
            kind == "send"
        ) == (which == "to"):
            size = whole(path, line, "size", number.removesuffix("b"), LARGEST_MESSAGE)
            step = _Step(kind, rank, whole(path, line, "rank", peer), size, 0, line)
            if step.peer >= schedule.ranks or step.peer == rank:
                raise schedule.wrong(line, f"rank {step.peer} is no other of {schedule.ranks}")
        case _:
            raise schedule.wrong(
                line, "an operation reads: send Nb to RANK, recv Nb from RANK, or calc N"
            )
    for name, text in zip(rest[::2], [*rest[1::2], ""], strict=False):
        if name not in IGNORED:
            raise schedule.wrong(line, f"{name[:40]!r} is not known here")
        value = whole(path, line, name, text)
        step.tag = value if name == "tag" else step.tag
    schedule.labels[label] = len(schedule.steps)
    schedule.steps.append(step)


def _matched(schedule: _Schedule) -> dict[int, int]:
    """Return the send of each receive."""
    waiting: dict[tuple[int, int, int], list[int]] = {}
    for number, step in enumerate(schedule.steps):
        if step.kind == "send":
            waiting.setdefault((step.rank, step.peer, step.tag), []).append(number)
    matched: dict[int, int] = {}
    taken: dict[tuple[int, int, int], int] = {}
    for number, step in enumerate(schedule.steps):
        if step.kind != "recv":
            continue
        key = (step.peer, step.rank, step.tag)
        place = taken.get(key, 0)
        if place >= len(waiting.get(key, ())):
            raise schedule.wrong(step.line, f"no send of rank {step.peer} matches this receive")
        send = schedule.steps[waiting[key][place]]
        if send.size != step.size:
            raise schedule.wrong(
                step.line, f"it receives {step.size} B; line {send.line} sends {send.size} B"
            )
        matched[number] = waiting[key][place]
        taken[key] = place + 1
    for key, sends in waiting.items():
        if taken.get(key, 0) < len(sends):
            line = schedule.steps[sends[taken.get(key, 0)]].line
            raise schedule.wrong(line, f"rank {key[1]} has no receive for this send")
    return matched


def _flows(schedule: _Schedule, matched: dict[int, int]) -> Flows:
    """Make a row of each send and calc, and of receives that require something themselves."""
    steps = schedule.steps
    made = [
        number
        for number, step in enumerate(steps)
        if step.kind != "recv" or step.requires or step.follows
    ]
    row_of = {number: row for row, number in enumerate(made)}
    for receive, send in matched.items():
        row_of.setdefault(receive, row_of[send])
    pairs: list[tuple[int, int]] = []
    for row, number in enumerate(made):
        step = steps[number]
        required = [
            *step.requires,
            *(each for other in step.follows for each in steps[other].requires),
        ]
        pairs += [(row, row_of[other]) for other in required]
        if step.kind == "recv":
            pairs.append((row, row_of[matched[number]]))
    waiting, awaited = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    try:
        order = execution_order(len(made), waiting, awaited)
    except CycleError as error:
        lines = ", ".join(str(steps[made[each]].line) for each in error.rows)
        first = steps[made[error.rows[0]]].line
        raise schedule.wrong(first, f"operations require each other: lines {lines}") from error
    place = np.argsort(order)
    chosen = [steps[made[each]] for each in order]
    sends = np.array([step.kind == "send" for step in chosen])
    size = np.array([step.size for step in chosen], dtype=np.int64)
    calculates = np.array([step.kind == "calc" for step in chosen])
    return Flows.of(
        np.array([step.rank for step in chosen], dtype=np.int64),
        np.array([step.peer if step.kind == "send" else step.rank for step in chosen]),
        np.where(sends, np.maximum(size, 1), 0),
        after=waits(len(made), place[waiting], place[awaited]),
        delay_ps=np.where(calculates, size * PICOSECONDS_PER_NANOSECOND, 0),
    )


def write(path: Path, flows: Flows) -> None:
    """Write flows as a schedule; times are rounded to whole nanoseconds."""
    ranks = int(max(flows.source.max(), flows.destination.max())) + 1
    lines: list[list[str]] = [[] for _ in range(ranks)]
    arrives_at = np.where(flows.computes, -1, flows.destination).tolist()
    columns = (flows.source, flows.destination, flows.size_bytes, flows.delay_ps, flows.start_ps)
    for row, values in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        source, destination, size, delay, start = values
        here = lines[source]
        sends = source != destination
        awaited = flows.after.of(row).tolist()
        before = [f"{'r' if arrives_at[other] == source else 's'}{other}" for other in awaited]
        if sends:
            here.append(f"s{row}: send {size}b to {destination} tag {row}")
            lines[destination].append(f"r{row}: recv {size}b from {source} tag {row}")
        name = f"c{row}" if sends else f"s{row}"
        if delay or not sends:
            here.append(f"{name}: calc {round(delay / PICOSECONDS_PER_NANOSECOND)}")
            here += [f"{name} requires {other}" for other in before]
            before = [name] if sends else []
        if start:
            here.append(f"t{row}: calc {round(start / PICOSECONDS_PER_NANOSECOND)}")
            before.append(f"t{row}")
        here += [f"s{row} requires {other}" for other in before]
    with path.open("w", encoding="utf-8") as file:
        file.write(f"num_ranks {ranks}\n")
        for rank, own in enumerate(lines):
            file.write("\n".join([f"rank {rank} {{", *own, "}"]) + "\n")
