"""htsim's connection matrices (`.cm` files)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.readers.lines import LARGEST_MESSAGE, whole, words_of, wrong
from traffic.waits import CycleError, execution_order, waits

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.request import Request

HEADER = ("Nodes", "Connections", "Triggers", "Failures")
NUMBERS = frozenset(
    ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "msg", "prio")
)
ENDS = re.compile(r"([0-9]{1,9})->([0-9]{1,9})$")
START_UNITS = {"ps": 1, "ns": 1000, "us": 1_000_000}
OPTIONS = {"start_unit": "ps, ns or us, of the starts in the file"}
LATEST_START = 4 * 10**12  # in any unit
PLAIN_DIGITS = 18  # of numbers that need no look
TIERS = {"TOR": "edge", "AGG": "aggregation", "CORE": "core"}


class Trigger(NamedTuple):
    """A trigger: its kind, how many activations are wanted, and its line."""

    kind: str
    wanted: int
    line: int


class Failure(NamedTuple):
    """A failed link: number `switch` of a tier, and which of its uplinks (a core's links)."""

    tier: str
    switch: int
    link: int


@dataclass(slots=True)
class _Matrix:
    """A file as it stands; `rows` has a connection's ends, size, start, phase and line."""

    path: Path
    header: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    starts_by: dict[int, list[int]] = field(default_factory=dict)  # trigger -> rows it starts
    sent: dict[int, list[int]] = field(default_factory=dict)  # trigger -> rows that pull it
    received: dict[int, list[int]] = field(default_factory=dict)
    triggers: dict[int, Trigger] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def wrong(self, line: int, problem: str) -> UserError:
        return wrong(self.path, line, problem)

    def whole(self, line: int, name: str, text: str) -> int:
        return whole(self.path, line, name, text)

    def line_of(self, row: int) -> int:
        return self.rows[row][5]


def read(path: Path, request: Request) -> Flows:
    """Read a connection matrix for a network.

    A file gives `Nodes`, `Connections`, and `Triggers` and `Failures` if it has any, then lines

    - `SOURCE->DESTINATION` with `size` in bytes (0 or none: the request's message), `start` (in
      picoseconds, or option `start_unit`) or `trigger ID`, and `recv_done_trigger ID` or
      `send_done_trigger ID` to pull a trigger when it is delivered or acknowledged; `id` and `msg`
      are ignored, `prio` becomes the phase of the messages' results: all data is of one class here;
    - `trigger id ID oneshot`, `multishot`, or `barrier count N`;
    - `failure TOR|AGG|CORE SWITCH LINK`, see `failures`.

    A trigger acts where it is pulled: at the host that its connections are sent from. What depends
    on the order of events (which of several connections pulls first) has no counterpart here, where
    it is known beforehand who waits for whom, and is refused. Every error is a UserError that
    names the file and the line.
    """
    unit = START_UNITS[request.choice("start_unit", tuple(START_UNITS))]
    matrix = _read(path, request.message_bytes)
    _check_counts(matrix, request.hosts)
    row, flow, acknowledged = _waits(matrix)
    try:
        order = execution_order(len(matrix.rows), row, flow)
    except CycleError as error:
        lines = ", ".join(str(matrix.line_of(each)) for each in error.rows)
        raise matrix.wrong(
            matrix.line_of(error.rows[0]), f"connections wait for each other: lines {lines}"
        ) from error
    place = np.argsort(order)
    source, destination, size, start, priority, _ = np.array(matrix.rows, dtype=np.int64)[order].T
    classes, phase = np.unique(priority, return_inverse=True)
    return Flows.of(
        source,
        destination,
        size,
        after=waits(len(order), place[row], place[flow], acknowledged=acknowledged),
        start_ps=start * unit,
        phase=phase,
        phases=[f"priority {number}" if number >= 0 else "" for number in classes],
    )


def failures(path: Path) -> list[Failure]:
    """Read the links that a connection matrix fails."""
    return _read(path, 1).failures


def _read(path: Path, message_bytes: int) -> _Matrix:
    matrix = _Matrix(path)
    for line, words in words_of(path):
        if ends := ENDS.match(words[0]):
            _connection(matrix, line, (int(ends[1]), int(ends[2])), words[1:], message_bytes)
        elif words[0] in HEADER:
            _header(matrix, line, words)
        elif words[0] == "trigger":
            _trigger(matrix, line, words[1:])
        elif words[0] == "failure":
            _failure(matrix, line, words[1:])
        else:
            raise matrix.wrong(
                line, f"{words[0][:40]!r} is neither SOURCE->DESTINATION nor a known word"
            )
    return matrix


def _header(matrix: _Matrix, line: int, words: list[str]) -> None:
    if len(words) != 2:
        raise matrix.wrong(line, f"{words[0]} needs one number")
    if words[0] in matrix.header:
        raise matrix.wrong(line, f"{words[0]} is given twice")
    matrix.header[words[0]] = matrix.whole(line, *words)


def _connection(
    matrix: _Matrix, line: int, ends: tuple[int, int], words: list[str], message_bytes: int
) -> None:
    values = _values(matrix, line, words)
    nodes = matrix.header.get("Nodes", 0)
    if max(ends) >= nodes:
        raise matrix.wrong(line, f"host {max(ends)} is not one of {nodes}")
    if ends[0] == ends[1]:
        raise matrix.wrong(line, f"host {ends[0]} sends to itself")
    if ("start" in values) == ("trigger" in values):
        raise matrix.wrong(line, "a connection needs either start or trigger")
    row = len(matrix.rows)
    if "trigger" in values:
        matrix.starts_by.setdefault(values["trigger"], []).append(row)
    for pulled, kind in (
        (matrix.sent, "send_done_trigger"),
        (matrix.received, "recv_done_trigger"),
    ):
        if kind in values:
            pulled.setdefault(values[kind], []).append(row)
    size = values.get("size", 0) or message_bytes
    if size > LARGEST_MESSAGE:
        raise matrix.wrong(line, f"size is {size}; it must be at most {LARGEST_MESSAGE:,}")
    start, priority = values.get("start", 0), values.get("prio", -1)
    if start > LATEST_START:
        raise matrix.wrong(line, f"start is {start}; it must be at most {LATEST_START:,}")
    matrix.rows.append((*ends, size, start, priority, line))


def _values(matrix: _Matrix, line: int, words: list[str]) -> dict[str, int]:
    values: dict[str, int] = {}
    texts = words[1::2] if len(words) % 2 == 0 else [*words[1::2], ""]
    for name, text in zip(words[::2], texts, strict=True):
        if name not in NUMBERS:
            raise matrix.wrong(line, f"{name[:40]!r} is not known here")
        if name in values:
            raise matrix.wrong(line, f"{name} is given twice")
        plain = len(text) <= PLAIN_DIGITS and text.isdecimal()
        values[name] = int(text) if plain else matrix.whole(line, name, text)
    return values


def _trigger(matrix: _Matrix, line: int, words: list[str]) -> None:
    match words:
        case ["id", number, ("oneshot" | "multishot") as kind]:
            trigger = Trigger(kind, 1, line)
        case ["id", number, "barrier", "count", count]:
            trigger = Trigger("barrier", matrix.whole(line, "count", count), line)
        case _:
            raise matrix.wrong(
                line, "a trigger line reads: trigger id NUMBER oneshot|multishot|barrier count N"
            )
    name = matrix.whole(line, "id", number)
    if name in matrix.triggers:
        raise matrix.wrong(line, f"trigger {name} is given twice")
    matrix.triggers[name] = trigger


def _failure(matrix: _Matrix, line: int, words: list[str]) -> None:
    match words:
        case ["switch_type", tier, "switch_id", switch, "link_id", link] | [tier, switch, link] if (
            tier in TIERS
        ):
            read_number = partial(matrix.whole, line)
            matrix.failures.append(
                Failure(TIERS[tier], read_number("switch_id", switch), read_number("link_id", link))
            )
        case _:
            raise matrix.wrong(line, "a failure line reads: failure TOR|AGG|CORE SWITCH LINK")


def _check_counts(matrix: _Matrix, hosts: int) -> None:
    nodes = matrix.header.get("Nodes")
    if nodes is None or "Connections" not in matrix.header:
        raise UserError(f"{matrix.path}: Nodes and Connections must be given at its start")
    if nodes > hosts:
        raise UserError(f"{matrix.path}: it is for {nodes} hosts; the network has {hosts}")
    counted = {
        "Connections": len(matrix.rows),
        "Triggers": len(matrix.triggers),
        "Failures": len(matrix.failures),
    }
    for name, number in counted.items():
        if matrix.header.get(name, 0) != number:
            raise UserError(
                f"{matrix.path}: {name} says {matrix.header.get(name, 0)}, but there are {number}"
            )
    if not matrix.rows:
        raise UserError(f"{matrix.path}: there are no connections")


def _waits(matrix: _Matrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return who waits for whom, and whether until it is acknowledged."""
    edges: list[tuple[int, int, bool]] = []
    for name, started in matrix.starts_by.items():
        trigger = matrix.triggers.get(name)
        if trigger is None:
            raise matrix.wrong(matrix.line_of(started[0]), f"trigger {name} has no line of its own")
        pulls = [(row, True) for row in matrix.sent.get(name, ())]
        pulls += [(row, False) for row in matrix.received.get(name, ())]
        pairs = _pairs(matrix, name, trigger, started, sorted(pulls))
        for waiting, (pulling, sent) in pairs:
            _check_place(matrix, name, waiting, pulling, sent=sent)
            edges.append((waiting, pulling, sent))
    row, flow, acknowledged = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    return row, flow, acknowledged.astype(bool)


def _pairs(
    matrix: _Matrix,
    name: int,
    trigger: Trigger,
    started: list[int],
    pulls: list[tuple[int, bool]],
) -> list[tuple[int, tuple[int, bool]]]:
    """Return which connections wait for which pulls of a trigger."""
    if not pulls:
        raise matrix.wrong(matrix.line_of(started[0]), f"nothing pulls trigger {name}")
    if trigger.kind == "multishot":
        return _one_after_the_other(matrix, name, trigger, started, pulls)
    if len(pulls) < trigger.wanted:
        raise matrix.wrong(
            trigger.line, f"trigger {name} waits for {trigger.wanted}; {len(pulls)} pull it"
        )
    if len(pulls) > trigger.wanted:
        raise matrix.wrong(
            trigger.line,
            f"{len(pulls)} connections pull trigger {name}, which waits for {trigger.wanted}: who "
            "comes first is not known beforehand",
        )
    return [(waiting, pull) for waiting in started for pull in pulls]


def _one_after_the_other(
    matrix: _Matrix,
    name: int,
    trigger: Trigger,
    started: list[int],
    pulls: list[tuple[int, bool]],
) -> list[tuple[int, tuple[int, bool]]]:
    """Return the chain of a multishot trigger: each pull starts the next of its connections."""
    first = [pull for pull in pulls if pull[0] not in set(started)]
    chained = {row: (row, sent) for row, sent in pulls}
    if len(first) != 1 or len(chained) != len(pulls):
        raise matrix.wrong(
            trigger.line,
            f"{len(first)} connections pull multishot trigger {name} that it does not start: who "
            "comes first is not known beforehand",
        )
    chain = [first[0]]
    for row in started[:-1]:
        if row not in chained:
            raise matrix.wrong(
                matrix.line_of(row), f"after it nothing pulls trigger {name}, and others wait"
            )
        chain.append(chained[row])
    return list(zip(started, chain, strict=True))


def _check_place(matrix: _Matrix, name: int, waiting: int, pulling: int, *, sent: bool) -> None:
    here = matrix.rows[waiting][0]
    there = matrix.rows[pulling][0 if sent else 1]
    if here != there:
        raise matrix.wrong(
            matrix.line_of(waiting),
            f"trigger {name} is pulled at host {there} (line {matrix.line_of(pulling)}), but host "
            f"{here} sends: hosts know only what they sent and received",
        )


def write(path: Path, flows: Flows) -> None:
    """Write flows as a connection matrix.

    Raises UserError for what the format cannot say: computations and delays, and a message for
    which others wait in more than one way of a kind (it can pull one trigger when it is sent and
    one when it is delivered).
    """
    if flows.computes.any() or flows.delay_ps.any():
        raise UserError(f"{path}: connection matrices have no computations and no delays")
    pulls: list[dict[str, int]] = [{} for _ in range(len(flows))]
    triggers: list[int] = []
    starts: list[str] = []
    for row in range(len(flows)):
        awaited = flows.after.of(row).tolist()
        if not awaited:
            starts.append(f"start {flows.start_ps[row]}")
            continue
        triggers.append(len(awaited))
        starts.append(f"trigger {len(triggers)}")
        for other in awaited:
            delivered = flows.destination[other] == flows.source[row]
            kind = "recv_done_trigger" if delivered else "send_done_trigger"
            if kind in pulls[other]:
                raise UserError(f"{path}: for message {other} several others wait, each by itself")
            pulls[other][kind] = len(triggers)
    nodes = int(max(flows.source.max(), flows.destination.max())) + 1
    with path.open("w", encoding="utf-8") as file:
        file.write(f"Nodes {nodes}\nConnections {len(flows)}\nTriggers {len(triggers)}\n")
        for row, start in enumerate(starts):
            pulled = "".join(f" {kind} {number}" for kind, number in pulls[row].items())
            ends = f"{flows.source[row]}->{flows.destination[row]}"
            file.write(f"{ends} id {row + 1} {start} size {flows.size_bytes[row]}{pulled}\n")
        for number, count in enumerate(triggers, 1):
            file.write(f"trigger id {number} barrier count {count}\n")
