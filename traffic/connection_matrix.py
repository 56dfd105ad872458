"""htsim's connection matrices (`.cm` files) read as workloads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.waits import CycleError, execution_order, waits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONNECTION = re.compile(r"(\d+)->(\d+)$")
WITH_NUMBER = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")
ONE_SHOT = ("oneshot", "multishot")


@dataclass(slots=True)
class _Connection:
    source: int
    destination: int
    size: int
    triggered_by: int | None
    triggers: int | None
    line: int


@dataclass(slots=True)
class _Matrix:
    path: Path
    hosts: int = 0
    header: dict[str, int] = field(default_factory=dict)
    connections: list[_Connection] = field(default_factory=list)
    triggers: dict[int, int] = field(default_factory=dict)  # id -> line

    def error(self, line: int, problem: str) -> UserError:
        """Make an error that names this file and the line."""
        return UserError(f"{self.path}:{line}: {problem}")


def read(path: Path, hosts: int, message_bytes: int) -> Flows:
    """Read a connection matrix for a network of `hosts`.

    A file gives `Nodes`, `Connections` and optionally `Triggers` in its header, then a line
    `SOURCE->DESTINATION` for each connection with its `size` in bytes (0 or none: `message_bytes`)
    and either `start 0` or `trigger ID`, and a line `trigger id ID oneshot` for each trigger.
    A connection with `recv_done_trigger ID` releases those with `trigger ID`. Starts other than 0,
    barriers, triggers at the sender, and failures have no counterpart here and are refused. Every
    error is a UserError that names the file and the line.
    """
    matrix = _Matrix(path)
    for number, words in _lines(path):
        _read_line(matrix, number, words, message_bytes)
    _check_counts(matrix, hosts)
    return _flows(matrix)


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UserError(f"{path}: cannot be read: {reason}") from error
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if words:
            yield number, words


def _read_line(matrix: _Matrix, line: int, words: list[str], message_bytes: int) -> None:
    if words[0] in ("Nodes", "Connections", "Triggers", "Failures"):
        if len(words) != 2:
            raise matrix.error(line, f"{words[0]} needs one number")
        matrix.header[words[0]] = _number(matrix, line, words[0], words[1])
    elif words[0] == "trigger":
        _read_trigger(matrix, line, words[1:])
    elif words[0] == "failure":
        raise matrix.error(line, "failures are not read here; give the scenario's own")
    elif found := CONNECTION.match(words[0]):
        ends = int(found[1]), int(found[2])
        matrix.connections.append(_connection(matrix, line, ends, words[1:], message_bytes))
    else:
        raise matrix.error(line, f"{words[0]!r} is neither SOURCE->DESTINATION nor a known word")


def _connection(
    matrix: _Matrix, line: int, ends: tuple[int, int], words: list[str], message_bytes: int
) -> _Connection:
    values: dict[str, int] = {}
    rest = iter(words)
    for word in rest:
        if word not in WITH_NUMBER:
            raise matrix.error(line, f"{word!r} is not known here")
        values[word] = _number(matrix, line, word, next(rest, ""))
    for end in ends:
        if end >= matrix.header.get("Nodes", 0):
            raise matrix.error(line, f"host {end} is not one of {matrix.header.get('Nodes', 0)}")
    if ends[0] == ends[1]:
        raise matrix.error(line, f"host {ends[0]} sends to itself")
    if values.get("start", 0) != 0:
        raise matrix.error(line, "start must be 0: all messages of a collective start together")
    if ("start" in values) == ("trigger" in values):
        raise matrix.error(line, "a connection needs either start or trigger")
    if "send_done_trigger" in values:
        raise matrix.error(line, "send_done_trigger is not supported; recv_done_trigger is")
    size = values.get("size", 0) or message_bytes
    return _Connection(*ends, size, values.get("trigger"), values.get("recv_done_trigger"), line)


def _read_trigger(matrix: _Matrix, line: int, words: list[str]) -> None:
    if len(words) != 3 or words[0] != "id" or words[2] not in ONE_SHOT:
        raise matrix.error(line, "a trigger line reads: trigger id NUMBER oneshot")
    matrix.triggers[_number(matrix, line, "id", words[1])] = line


def _number(matrix: _Matrix, line: int, name: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if value < 0 or value != int(value):
        raise matrix.error(line, f"{name} is {text!r}; it must be a whole number")
    return int(value)


def _check_counts(matrix: _Matrix, hosts: int) -> None:
    nodes = matrix.header.get("Nodes")
    if nodes is None or "Connections" not in matrix.header:
        raise UserError(f"{matrix.path}: Nodes and Connections must be given at its start")
    if nodes > hosts:
        raise UserError(f"{matrix.path}: it is for {nodes} hosts; the network has {hosts}")
    counted = {"Connections": len(matrix.connections), "Triggers": len(matrix.triggers)}
    for name, number in counted.items():
        if matrix.header.get(name, 0) != number:
            raise UserError(
                f"{matrix.path}: {name} says {matrix.header.get(name, 0)}, but there are {number}"
            )
    if not matrix.connections:
        raise UserError(f"{matrix.path}: there are no connections")


def _flows(matrix: _Matrix) -> Flows:
    released_by: dict[int, int] = {}
    for row, connection in enumerate(matrix.connections):
        if connection.triggers is not None:
            if connection.triggers in released_by:
                raise matrix.error(connection.line, "two connections pull the same trigger")
            released_by[connection.triggers] = row
    rows = [
        (connection.source, connection.destination, connection.size, awaited)
        for connection in matrix.connections
        for awaited in [_waits_for(matrix, connection, released_by)]
    ]
    source, destination, size, before = np.array(rows, dtype=np.int64).T
    waiting = np.flatnonzero(before >= 0)
    try:
        order = execution_order(len(rows), waiting, before[waiting])
    except CycleError as error:
        line = matrix.connections[error.rows[0]].line
        raise matrix.error(line, "it waits, by way of triggers, for itself") from error
    place = np.argsort(order)
    after = waits(len(rows), place[waiting], place[before[waiting]])
    return Flows.of(source[order], destination[order], size[order], after=after)


def _waits_for(matrix: _Matrix, connection: _Connection, released_by: dict[int, int]) -> int:
    trigger = connection.triggered_by
    if trigger is None:
        return -1
    if trigger not in matrix.triggers:
        raise matrix.error(connection.line, f"trigger {trigger} has no line of its own")
    if trigger not in released_by:
        raise matrix.error(connection.line, f"nothing pulls trigger {trigger}")
    row = released_by[trigger]
    if matrix.connections[row].destination != connection.source:
        raise matrix.error(
            connection.line, f"trigger {trigger} is pulled at a host that is not its sender"
        )
    return row
