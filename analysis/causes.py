"""What made a flow late: from its last packet back along what that waited for, to the start.

Each step goes from an event to the one that it had to wait for, so that the parts cover the time
from the first packet to the flow's end without gap or overlap: their lengths add up exactly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from analysis.lookup import ACK, DATA
from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from analysis.trace import Trace

Name = TypeVar("Name", int, str)

SERIALISATION = "serialisation"
PROPAGATION = "propagation"
QUEUEING = "queueing"
DEPENDENCY = "dependency"
START = "start"
PACING = "pacing"
WINDOW = "window"
RETRANSMISSION = "retransmission"
KINDS = (
    SERIALISATION, PROPAGATION, QUEUEING, DEPENDENCY, START, PACING, WINDOW, RETRANSMISSION,
)  # fmt: skip
"""What a part may be. A window's is the round trip of the ACK that opened it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the critical path: from `begin` to `end`, in picoseconds of the run's clock.

    `behind` counts the packets by flow that a queue served first, `over` those by the link on which
    they had come.
    """

    what: str
    where: str
    begin: int
    end: int
    flow: int
    behind: Mapping[int, int] = field(default_factory=dict)
    over: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hop:
    """A port on a packet's way: when it came, how long it waited for whom, and when it left."""

    link: str
    arrived: int
    start: int
    departure: int
    behind: Mapping[int, int]


def causes(trace: Trace, flow: int) -> list[Part]:
    """Return the parts from the first packet of the run to the end of a flow, in order of time.

    Raises UserError for a flow that never ended.
    """
    end = int(trace.ends[flow])
    if end < 0:
        raise UserError(f"flow {flow} never came to its end")
    parts = list(_Walk(trace).back_from(flow, end))
    parts.reverse()
    return [part for part in _clipped(parts, trace.first_ps) if part.end > part.begin]


def last_packet(trace: Trace, flow: int) -> list[Hop]:
    """Return the way of the packet that ended a flow: there, and back as its ACK."""
    walk = _Walk(trace)
    row = walk.last_row(flow, int(trace.ends[flow]), ACK if trace.acks else DATA)
    rows = list(walk.upstream_rows(row))
    if trace.acks:
        data = walk.acknowledged_by(rows[-1])
        rows += [] if data is None else list(walk.upstream_rows(data))
    return [
        Hop(
            trace.link(int(trace.hops["place"][row])),
            int(trace.arrived[row]),
            trace.start(row),
            int(trace.departure[row]),
            walk.flows_ahead(row),
        )
        for row in reversed(rows)
    ]


def merged(parts: list[Part]) -> list[Part]:
    """Join neighbours that are the same thing at the same place."""
    joined: list[Part] = []
    for (what, where, flow), group in groupby(
        parts, lambda part: (part.what, part.where, part.flow)
    ):
        own = list(group)
        behind, over = added(part.behind for part in own), added(part.over for part in own)
        joined.append(Part(what, where, own[0].begin, own[-1].end, flow, behind, over))
    return joined


def added(counts: Iterable[Mapping[Name, int]]) -> dict[Name, int]:
    """Add up counts; names stay in the order in which they come."""
    total: Counter[Name] = Counter()
    for each in counts:
        total.update(each)
    return dict(total)


def _clipped(parts: list[Part], begin: int) -> Iterator[Part]:
    """Leave out what was before a time: computations may precede the first packet."""
    for part in parts:
        if part.end > begin:
            yield Part(
                part.what, part.where, max(part.begin, begin), part.end, part.flow,
                part.behind, part.over,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Event:
    """Where the walk stands: a frame's arrival behind a port, its sending, or a flow's start."""

    kind: str  # arrival, sent, started
    number: int  # row of the frame, or flow
    time: int


class _Walk:
    """The way back through a trace."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.parts: list[Part] = []
        self._begun: dict[int, tuple[int, _Event | None]] = {}

    def back_from(self, flow: int, end: int) -> Iterator[Part]:
        """Yield the parts before a flow's end, the last one first."""
        event: _Event | None = _Event("ended", flow, end)
        if self.trace.size_bytes[flow]:
            event = _Event(
                "arrival", self.last_row(flow, end, ACK if self.trace.acks else DATA), end
            )
        while event is not None:
            step = {
                "arrival": self._arrival,
                "sent": self._sent,
                "started": self._started,
                "ended": self._ended,
            }[event.kind]
            event = step(event)
            yield from self.parts
            self.parts.clear()

    # --- Frames on their way ---

    def last_row(self, flow: int, end: int, kind: int) -> int:
        """Return the row of a flow's frame that arrived at its host at a time."""
        host = self.trace.source[flow] if kind == ACK else self.trace.destination[flow]
        row = self._arrived_at(int(host), end, flow, kind)
        if row is None:
            raise UserError(f"flow {flow}: no frame of it arrives when it ends")
        return row

    def upstream_rows(self, row: int) -> Iterator[int]:
        """Yield a frame's row and those before it on its way, back to its host."""
        found: int | None = row
        while found is not None:
            yield found
            found = self._upstream(found)

    def _upstream(self, row: int) -> int | None:
        """Return the row at which a frame was before it came to a switch; None at its host."""
        trace = self.trace
        if trace.is_host(int(trace.port_node[trace.hops["place"][row]])):
            return None
        return int(self._before(np.array([row]))[0])

    def _before(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows at which frames of a switch were before they came to it."""
        found = self.trace.lookup.before(rows)
        if (found < 0).any():
            hop = self.trace.hops[rows[(found < 0).argmax()]]
            owner = self.trace.owner(int(hop["place"]))
            raise UserError(f"{owner} sends a frame of flow {hop['flow']} it never got")
        return found

    def _ahead(self, row: int, since: int) -> range:
        """Return the rows of a frame's port that had not left at a time, up to the frame."""
        first = int(self.trace.first_hop[self.trace.hops["place"][row]])
        left = np.searchsorted(self.trace.departure[first:row], since, side="right")
        return range(first + int(left), row)

    def flows_ahead(self, row: int, since: int | None = None) -> dict[int, int]:
        """Count by flow the packets that were ahead of a frame when it came, or at a time."""
        rows = self._ahead(row, int(self.trace.arrived[row]) if since is None else since)
        return dict(Counter(self.trace.hops["flow"][rows.start : rows.stop].tolist()))

    def links_ahead(self, row: int) -> dict[str, int]:
        """Count the packets that a frame found in its queue by the link they had come on."""
        trace = self.trace
        rows = self._ahead(row, int(trace.arrived[row]))
        if not rows or trace.is_host(int(trace.port_node[trace.hops["place"][row]])):
            return {}
        before = self._before(np.arange(rows.start, rows.stop))
        places = Counter(trace.hops["place"][before].tolist())
        return {trace.link(place): count for place, count in places.items()}

    def _add(self, what: str, where: str, begin: int, end: int, flow: int) -> None:
        if end > begin:
            self.parts.append(Part(what, where, begin, end, flow))

    def _arrival(self, event: _Event) -> _Event:
        """Go from a frame's arrival to its arrival at the port before: the link, and its queue."""
        trace, row = self.trace, event.number
        place, flow = int(trace.hops["place"][row]), int(trace.hops["flow"][row])
        link = trace.link(place)
        arrived, start, left = int(trace.arrived[row]), trace.start(row), int(trace.departure[row])
        self._add(PROPAGATION, link, left, event.time, flow)
        self._add(SERIALISATION, link, start, left, flow)
        if start > arrived:
            found = self.flows_ahead(row), self.links_ahead(row)
            self.parts.append(Part(QUEUEING, link, arrived, start, flow, *found))
        before = self._upstream(row)
        if before is None:
            return _Event("sent", row, arrived)
        return _Event("arrival", before, arrived)

    # --- Frames at the host that sends them ---

    def acknowledged_by(self, row: int) -> int | None:
        """Return the row at which the data came for which an ACK was sent."""
        hop = self.trace.hops[row]
        host = int(self.trace.port_node[hop["place"]])
        flow, time = int(hop["flow"]), int(self.trace.arrived[row])
        same = self._arrived_before(host, time, flow, DATA, psn=int(hop["psn"]))
        return same if same is not None else self._arrived_before(host, time, flow, DATA)

    def _sent(self, event: _Event) -> _Event:
        """Go from the sending of a frame to why it was not sent before."""
        if self.trace.hops["kind"][event.number] == ACK:
            return self._sent_ack(event)
        return self._sent_data(event)

    def _sent_ack(self, event: _Event) -> _Event:
        data = self.acknowledged_by(event.number)
        flow = int(self.trace.hops["flow"][event.number])
        if data is None:
            raise UserError(f"flow {flow}: an ACK is sent before any data came")
        came = self.trace.reached(data)
        link = self.trace.link(int(self.trace.hops["place"][event.number]))
        if event.time > came:
            behind = self.flows_ahead(event.number, came)
            self.parts.append(Part(QUEUEING, link, came, event.time, flow, behind))
        return _Event("arrival", data, came)

    def _sent_data(self, event: _Event) -> _Event:
        """Find what data waited for: the frame before, an ACK, a timer, or the flow's start."""
        trace, row, time = self.trace, event.number, event.time
        flow, link = int(trace.hops["flow"][row]), trace.link(int(trace.hops["place"][row]))
        again = self._sent_earlier(row)
        if again is not None:
            self._add(RETRANSMISSION, link, int(trace.arrived[again]), time, flow)
            return _Event("sent", again, int(trace.arrived[again]))
        begun = self._begin(flow)[0]
        previous = trace.lookup.previous(row, DATA)
        if previous is None or trace.arrived[previous] < begun:
            self._host_time(row, begun, flow)
            return _Event("started", flow, begun)
        since = int(trace.arrived[previous])
        if self._is_blocked(row, previous):
            opened = self._arrived_before(int(trace.source[flow]), time, flow, ACK)
            if opened is not None and (came := trace.reached(opened)) > since:
                self._host_time(row, came, flow)
                return self._window(opened, came)
        self._host_time(row, since, flow)
        return _Event("sent", previous, since)

    def _window(self, opened: int, came: int) -> _Event:
        """Go from the ACK that let a flow go on to the sending of what it acknowledges."""
        first_of_ack = list(self.upstream_rows(opened))[-1]
        data = self.acknowledged_by(first_of_ack)
        flow = int(self.trace.hops["flow"][opened])
        if data is None:
            raise UserError(f"flow {flow}: an ACK is sent before any data came")
        origin = list(self.upstream_rows(data))[-1]
        sent = int(self.trace.arrived[origin])
        link = self.trace.link(int(self.trace.hops["place"][origin]))
        self._add(WINDOW, link, sent, came, flow)
        return _Event("sent", origin, sent)

    def _is_blocked(self, row: int, previous: int) -> bool:
        """Tell whether a frame left later than its host's link and its pace ask for."""
        trace = self.trace
        time, since = int(trace.arrived[row]), int(trace.arrived[previous])
        service = trace.free(previous) - trace.start(previous)
        return time - since > service / trace.load + 1 and trace.free(row - 1) < time

    def _host_time(self, row: int, since: int, flow: int) -> None:
        """Divide a host's time up to a frame's sending: frames before it, and waiting for none."""
        trace, place = self.trace, int(self.trace.hops["place"][row])
        link, first = trace.link(place), int(trace.first_hop[place])
        end, each = int(trace.arrived[row]), row - 1
        while each >= first and end > since:
            done, begin = min(trace.free(each), end), max(trace.start(each), since)
            if done <= since:
                break
            self._add(PACING, link, done, end, flow)
            if trace.hops["kind"][each] == DATA:
                self._add(SERIALISATION, link, begin, done, flow)
            else:
                behind = {int(trace.hops["flow"][each]): 1}
                self.parts.append(Part(QUEUEING, link, begin, done, flow, behind))
            end, each = begin, each - 1
        self._add(PACING, link, since, end, flow)

    def _sent_earlier(self, row: int) -> int | None:
        """Return the row at which the same packet left its host the time before."""
        hop = self.trace.hops[row]
        same = self.trace.lookup.of_packet(
            int(hop["place"]), int(hop["flow"]), DATA, int(hop["psn"])
        )
        place = int(np.searchsorted(same, row))
        return int(same[place - 1]) if place else None

    def _place_to(self, host: int) -> int:
        """Return the port that sends to a host."""
        return int(self.trace.port_peer[self.trace.first_port[host]])

    def _arrived_at(self, host: int, time: int, flow: int, kind: int) -> int | None:
        """Return the row of a flow's frame that came to a host at a time."""
        trace = self.trace
        rows = trace.lookup.of_flow(self._place_to(host), flow, kind)
        row = self._last_until(rows, time)
        return row if row is not None and trace.reached(row) == time else None

    def _arrived_before(
        self, host: int, time: int, flow: int, kind: int, psn: int | None = None
    ) -> int | None:
        """Return the row of a flow's latest frame that came to a host up to a time."""
        place, lookup = self._place_to(host), self.trace.lookup
        if psn is None:
            return self._last_until(lookup.of_flow(place, flow, kind), time)
        return self._last_until(lookup.of_packet(place, flow, kind, psn), time)

    def _last_until(self, rows: NDArray[np.int64], time: int) -> int | None:
        """Return the last of some rows of a port that were at the link's other end by a time."""
        if not len(rows):
            return None
        trace = self.trace
        place = int(trace.hops["place"][rows[0]])
        own, left = trace.rows(place), time - trace.port_delay_ps[place]
        end = own.start + np.searchsorted(trace.departure[own.start : own.stop], left, side="right")
        count = int(np.searchsorted(rows, end))
        return int(rows[count - 1]) if count else None

    # --- Flows that wait ---

    def _begin(self, flow: int) -> tuple[int, _Event | None]:
        """Return when a flow had something to send, and what released it, if it waited."""
        if flow not in self._begun:
            self._begun[flow] = self._beginning(flow)
        return self._begun[flow]

    def _beginning(self, flow: int) -> tuple[int, _Event | None]:
        trace = self.trace
        released: _Event | None = None
        for place in range(int(trace.after_first[flow]), int(trace.after_first[flow + 1])):
            before, acknowledged = int(trace.after[place]), bool(trace.after_acknowledged[place])
            event = self._release(flow, before, acknowledged=acknowledged)
            if released is None or event.time > released.time:
                released = event
        since = released.time if released else 0
        return max(int(trace.not_before_ps[flow]), since + int(trace.wait_ps[flow])), released

    def _release(self, flow: int, before: int, *, acknowledged: bool) -> _Event:
        """Return the event of one flow that another waited for."""
        trace = self.trace
        sender = int(trace.source[before])
        if not trace.size_bytes[before]:
            return _Event("ended", before, int(trace.flow_finish[before]))
        if sender % trace.machines != int(trace.source[flow]) % trace.machines:
            time = int(trace.flow_delivered[before])
            return _Event("arrival", self.last_row(before, time, DATA), time)
        if acknowledged and trace.acks:
            time = int(trace.flow_finish[before])
            return _Event("arrival", self.last_row(before, time, ACK), time)
        place = int(trace.first_port[sender])
        row = int(trace.lookup.of_highest_packet(place, before, DATA)[0])
        return _Event("sent", row, int(trace.arrived[row]))

    def _started(self, event: _Event) -> _Event | None:
        """Go from a flow's start to what it waited for."""
        flow = event.number
        host = str(self.trace.nodes[self.trace.source[flow]])
        begun, released = self._begin(flow)
        since = released.time if released else 0
        computed = min(since + int(self.trace.wait_ps[flow]), begun)
        self._add(START, host, computed, begun, flow)
        self._add(DEPENDENCY, host, since, computed, flow)
        return released

    def _ended(self, event: _Event) -> _Event:
        """Go from a computation's end to its start."""
        return _Event("started", event.number, event.time)
