"""A whole trace as flows: who waits for whom over all ranks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows, joined
from traffic.readers.chakra import nodes
from traffic.readers.chakra.collectives import NAMES, messages_of
from traffic.readers.chakra.nodes import Node, files_of, read_nodes
from traffic.readers.lines import LARGEST_MESSAGE
from traffic.waits import CycleError, execution_order, waits

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.request import Request

OPTIONS = {"missing": "refuse or ignore, of nodes that others depend on"}
PICOSECONDS_PER_MICROSECOND = 1_000_000
LONGEST_US = 4 * 10**6
LARGEST_RANK = 1 << 22
LARGEST_TAG = 1 << 62
SHOWN = 8  # nodes of a circle
LAST_COLLECTIVE = len(NAMES) - 1
Pairs = list[tuple[int, int]]


@dataclass(slots=True)
class _Rows:
    """Rows in the making: blocks of flows, who waits for whom, and the node of each row."""

    parts: list[Flows] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    pairs: Pairs = field(default_factory=list)

    def add(self, flows: Flows, node: Node) -> int:
        first = len(self.nodes)
        self.parts.append(flows)
        self.nodes += [node] * len(flows)
        return first

    def compute(self, node: Node, duration_us: int = 0) -> int:
        return self.add(
            _row(node.rank, node.rank, 0, duration_us * PICOSECONDS_PER_MICROSECOND), node
        )

    def flows(self) -> Flows:
        waiting, awaited = np.array(self.pairs, dtype=np.int64).reshape(-1, 2).T
        whole = joined(self.parts)
        try:
            order = execution_order(len(whole), waiting, awaited)
        except CycleError as error:
            first = self.nodes[error.rows[0]]
            places = ", ".join(str(self.nodes[row].place) for row in error.rows[:SHOWN])
            raise first.wrong(f"nodes depend on each other: {places}") from error
        place = np.argsort(order)
        after = waits(len(whole), place[waiting], place[awaited])
        return Flows.of(
            whole.source[order],
            whole.destination[order],
            whole.size_bytes[order],
            after=after,
            delay_ps=whole.delay_ps[order],
        )


@dataclass(slots=True)
class _Collective:
    """One collective of a group: its node, and where each rank enters and leaves it."""

    nodes: list[Node] = field(default_factory=list)
    enters: dict[int, int] = field(default_factory=dict)
    leaves: dict[int, int] = field(default_factory=dict)

    def join(self, node: Node, enters: int, leaves: int) -> None:
        self.nodes.append(node)
        self.enters[node.rank], self.leaves[node.rank] = enters, leaves


def read(path: Path, request: Request) -> Flows:
    """Read the trace that `path` is one file of; rank r is host r.

    A computation lasts `duration_micros`, as does whatever is no communication. A send and the
    receive that matches it (by ranks, `comm_tag` and order) are a message of `comm_size` bytes. The
    n-th collective of each rank under a process group's name (`pg_name`) is the n-th of the group,
    which are all ranks that have nodes of that name. Its messages wait for what the node of their
    rank depends on, and what depends on a node of a collective waits until its rank has sent and
    received all of its own. The operator of a host that starts a collective, which has no
    `comm_size`, is a computation. Option `missing=ignore` skips dependencies on nodes that are not
    there, as in traces of which parts were cut out. Errors are UserErrors that name the file and
    the node.
    """
    trace = {rank: read_nodes(file, rank) for rank, file in files_of(path).items()}
    if len(trace) > request.hosts:
        raise UserError(
            f"{path}: it is for {len(trace)} ranks; the network has {request.hosts} hosts"
        )
    lenient = request.choice("missing", ("refuse", "ignore")) == "ignore"
    whole = _Trace(len(trace))
    for own in trace.values():
        for node in own:
            whole.add(node)
    whole.match()
    whole.expand()
    for own in trace.values():
        for node in own:
            whole.depend(node, lenient=lenient)
    flows = whole.rows.flows()
    if not flows.size_bytes.any():
        raise UserError(f"{path}: no rank sends anything")
    return flows


class _Trace:
    """The rows of all nodes: where each begins and is done, by rank and id."""

    def __init__(self, ranks: int) -> None:
        self.rows = _Rows()
        self._ranks = ranks
        self._begun: dict[tuple[int, int], int] = {}
        self._done: dict[tuple[int, int], int] = {}
        self._sends: dict[tuple[int, int, int], list[int]] = {}
        self._receives: list[tuple[tuple[int, int, int], int]] = []
        self._collectives: dict[tuple[str, int], _Collective] = {}
        self._count: dict[tuple[str, int], int] = {}  # of a group's collectives, by rank

    def add(self, node: Node) -> None:
        """Add the row of a node, or those where a rank enters and leaves a collective."""
        key, rows = (node.rank, node.id), self.rows
        tag = node.whole("comm_tag", LARGEST_TAG, 0)
        match node.kind:
            case nodes.SEND:
                there = _peer(node, "comm_dst", self._ranks)
                size = max(1, node.whole("comm_size", LARGEST_MESSAGE))
                begun = done = rows.add(_row(node.rank, there, size, 0), node)
                self._sends.setdefault((node.rank, there, tag), []).append(done)
            case nodes.RECEIVE:
                there = _peer(node, "comm_src", self._ranks)
                begun = done = rows.compute(node)
                self._receives.append(((there, node.rank, tag), done))
            case nodes.COLLECTIVE if node.communicates:
                begun, done = rows.compute(node), rows.compute(node)
                rows.pairs.append((done, begun))
                self._next_of_group(node).join(node, begun, done)
            case _:
                begun = done = rows.compute(node, _duration(node))
        self._begun[key], self._done[key] = begun, done

    def match(self) -> None:
        """Let each receive wait for its send; a send that nobody receives is sent all the same."""
        taken: dict[tuple[int, int, int], int] = {}
        for key, receive in self._receives:
            place = taken.get(key, 0)
            if place >= len(self._sends.get(key, ())):
                raise self.rows.nodes[receive].wrong(
                    f"no send of rank {key[0]} matches this receive"
                )
            self.rows.pairs.append((receive, self._sends[key][place]))
            taken[key] = place + 1

    def expand(self) -> None:
        """Add the messages of all collectives."""
        groups: dict[str, set[int]] = {}
        for group, rank in self._count:
            groups.setdefault(group, set()).add(rank)
        for (group, _), collective in self._collectives.items():
            _expand(self.rows, collective, groups[group])

    def depend(self, node: Node, *, lenient: bool) -> None:
        """Let a node wait for those that it depends on, as far as they are there."""
        for other in node.before:
            if (node.rank, other) not in self._done:
                if lenient:
                    continue
                raise node.wrong(
                    f"it depends on node {other}, which its rank does not have; option "
                    "missing=ignore reads it all the same"
                )
            self.rows.pairs.append((self._begun[node.rank, node.id], self._done[node.rank, other]))

    def _next_of_group(self, node: Node) -> _Collective:
        group = str(node.values.get("pg_name") or "")
        number = self._count.get((group, node.rank), 0)
        self._count[group, node.rank] = number + 1
        return self._collectives.setdefault((group, number), _Collective())


def _row(source: int, destination: int, size: int, delay_ps: int) -> Flows:
    one = (np.array([value], dtype=np.int64) for value in (source, destination, size))
    return Flows.of(*one, delay_ps=delay_ps)


def _duration(node: Node) -> int:
    if node.kind <= nodes.METADATA:
        return 0
    if node.duration_us > LONGEST_US:
        raise node.wrong(f"it lasts {node.duration_us} us; at most {LONGEST_US:,} are taken")
    return node.duration_us


def _peer(node: Node, name: str, ranks: int) -> int:
    peer = node.whole(name, LARGEST_RANK)
    if peer >= ranks or peer == node.rank:
        raise node.wrong(f"{name} is {peer}, which is no other of {ranks} ranks")
    return peer


def _expand(rows: _Rows, collective: _Collective, group: set[int]) -> None:
    """Add the messages of a collective, between where each rank enters and leaves it."""
    first = collective.nodes[0]
    kind = first.whole("comm_type", LAST_COLLECTIVE, 0)
    size = first.whole("comm_size", LARGEST_MESSAGE, 0)
    for node in collective.nodes[1:]:
        own = (
            node.whole("comm_type", LAST_COLLECTIVE, 0),
            node.whole("comm_size", LARGEST_MESSAGE, 0),
        )
        if (NAMES[own[0]], own[1]) != (NAMES[kind], size):
            raise node.wrong(
                f"it is a {NAMES[own[0]]} of {own[1]} B, rank {first.rank} has a {NAMES[kind]} of "
                f"{size} B there"
            )
    if absent := sorted(group - set(collective.enters)):
        raise first.wrong(f"rank {absent[0]} of its group takes no part in it")
    ranks = np.array(sorted(group), dtype=np.int64)
    if len(ranks) == 1:
        return
    root = first.whole("root", LARGEST_RANK, int(ranks[0]))
    if root not in group:
        raise first.wrong(f"root is {root}, which is not in its group")
    flows = messages_of(NAMES[kind], ranks, size, int(np.searchsorted(ranks, root)))
    begin = rows.add(flows, first)
    within = flows.after
    rows.pairs += zip((begin + within.row).tolist(), (begin + within.flow).tolist(), strict=True)
    source, destination = flows.source.tolist(), flows.destination.tolist()
    passed = set(zip(within.flow.tolist(), flows.source[within.row].tolist(), strict=True))
    goes_on = set(within.row[flows.source[within.flow] == flows.source[within.row]].tolist())
    rows.pairs += [
        (begin + row, collective.enters[here])
        for row, here in enumerate(source)
        if row not in goes_on
    ]
    rows.pairs += [
        (collective.leaves[end], begin + row)
        for row, ends in enumerate(zip(source, destination, strict=True))
        for end in ends
        if (row, end) not in passed
    ]
