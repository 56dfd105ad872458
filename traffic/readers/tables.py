"""CSV files whose first line says what they are: SimCCL's flows, messages, and MoE routings."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.moe import exchange
from traffic.collectives.moe.model import MODEL_OPTIONS
from traffic.flows import Flows
from traffic.readers.lines import LARGEST_MESSAGE, whole, wrong
from traffic.waits import CycleError, execution_order, waits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from traffic.request import Request

SIMCCL = ("flow_id", "src", "dest", "flow_size", "parent_flow_ids")
MESSAGES = ("src", "dst", "bytes")
TOKENS = "gpu"
NUMBERS = re.compile(r"[0-9]+")
OPTIONS = MODEL_OPTIONS


def read(path: Path, request: Request) -> Flows:
    """Read a table by its first line.

    - SimCCL's flows: columns flow_id, src, dest, flow_size, parent_flow_ids (numbers, separated by
      anything) among others; a flow begins when its parents have arrived at its source.
    - Messages, an all-to-all-v: `src,dst,bytes`.
    - Tokens of a mixture of experts: `gpu,expert,expert…`, then a line a token.
    - Without a heading, a matrix of token copies: a row a GPU, a column an expert.

    The last two are exchanged as traffic.collectives.moe does it, with its options. Errors are
    UserErrors that name the file and the line.
    """
    lines = _rows(path)
    number, first = next(lines, (0, []))
    heading = tuple(word.strip() for word in first)
    if set(SIMCCL) <= set(heading):
        return _simccl(path, request, heading, lines)
    if heading == MESSAGES:
        return _messages(path, request, lines)
    if heading[:1] == (TOKENS,):
        numbers = _numbers(path, lines, len(heading))
        _check_hosts(path, request, numbers[:, :1])
        return exchange.from_tokens(request, numbers[:, 0], numbers[:, 1:])
    if heading and all(NUMBERS.fullmatch(word) for word in heading):
        counts = _numbers(path, _with((number, first), lines), len(heading))
        if len(counts) != request.hosts:
            raise UserError(f"{path}: it has {len(counts)} rows; there are {request.hosts} hosts")
        return exchange.from_counts(request, counts.astype(np.float64))
    raise UserError(
        f"{path}:1: its first line is neither SimCCL's, nor {','.join(MESSAGES)}, nor "
        f"{TOKENS},expert,…, nor numbers"
    )


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "it is not a table"
        raise UserError(f"{path}: cannot be read: {reason}") from error


def _with(
    first: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rest


def _numbers(path: Path, lines: Iterator[tuple[int, list[str]]], columns: int) -> NDArray[np.int64]:
    rows = []
    for line, words in lines:
        if len(words) != columns:
            raise wrong(path, line, f"it has {len(words)} columns; the first line has {columns}")
        rows.append([whole(path, line, "a number", word.strip()) for word in words])
    if not rows or columns < 2:
        raise UserError(f"{path}: there is nothing in it")
    return np.array(rows, dtype=np.int64)


def _check_hosts(path: Path, request: Request, hosts: NDArray[np.int64]) -> None:
    if hosts.max(initial=0) >= request.hosts:
        raise UserError(f"{path}: host {hosts.max()} is not one of {request.hosts}")


def _messages(path: Path, request: Request, lines: Iterator[tuple[int, list[str]]]) -> Flows:
    source, destination, size = _numbers(path, lines, len(MESSAGES)).T
    _check_hosts(path, request, np.stack((source, destination)))
    kept = (source != destination) & (size > 0)
    return Flows.of(source[kept], destination[kept], size[kept])


def _simccl(
    path: Path,
    request: Request,
    heading: Sequence[str],
    lines: Iterator[tuple[int, list[str]]],
) -> Flows:
    places = [heading.index(name) for name in SIMCCL]
    rows: list[tuple[int, int, int]] = []
    row_of: dict[int, int] = {}
    parents: list[tuple[int, int, int]] = []  # row, parent, line
    for line, words in lines:
        if len(words) != len(heading):
            raise wrong(path, line, f"it has {len(words)} columns; the heading has {len(heading)}")
        flow, source, destination, size = (
            whole(path, line, SIMCCL[place], words[places[place]].strip(), LARGEST_MESSAGE)
            for place in range(4)
        )
        if flow in row_of:
            raise wrong(path, line, f"flow {flow} is given twice")
        if max(source, destination) >= request.hosts or source == destination:
            raise wrong(path, line, f"{source} to {destination}: not two of {request.hosts} hosts")
        row_of[flow] = len(rows)
        found = NUMBERS.findall(words[places[4]])
        parents += [(len(rows), int(parent), line) for parent in found]
        rows.append((source, destination, max(size, 1)))
    if not rows:
        raise UserError(f"{path}: there are no flows")
    return _ordered(path, rows, row_of, parents)


def _ordered(
    path: Path,
    rows: list[tuple[int, int, int]],
    row_of: dict[int, int],
    parents: list[tuple[int, int, int]],
) -> Flows:
    pairs = []
    for row, parent, line in parents:
        if parent not in row_of:
            raise wrong(path, line, f"there is no flow {parent}, its parent")
        before = row_of[parent]
        if rows[before][1] != rows[row][0]:
            raise wrong(
                path, line, f"its parent {parent} ends at host {rows[before][1]}, not at its source"
            )
        pairs.append((row, before))
    waiting, awaited = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    try:
        order = execution_order(len(rows), waiting, awaited)
    except CycleError as error:
        raise UserError(
            f"{path}: flows are each other's parents: {len(error.rows)} of them"
        ) from error
    place = np.argsort(order)
    source, destination, size = np.array(rows, dtype=np.int64)[order].T
    after = waits(len(rows), place[waiting], place[awaited])
    return Flows.of(source, destination, size, after=after)
