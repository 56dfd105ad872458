"""Finding frames in a trace: by what they are at a port, and by when they came to a switch.

What is searched is sorted once, a port or a switch at a time and only where somebody looks, so that
all of it takes two numbers for each hop of these.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.trace import Trace

PSN_BITS = 24
DATA, ACK, CUT = 1, 2, 3
"""Kinds of frames, as the event core numbers them; CUT is data without its payload."""


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Rows of a trace ordered by a key; rows of the same key as they were."""

    keys: NDArray[np.int64]
    rows: NDArray[np.int64]

    def between(self, least: int, most: int) -> NDArray[np.int64]:
        """Return the rows whose keys are from `least` to `most`."""
        begin = np.searchsorted(self.keys, least)
        return self.rows[begin : np.searchsorted(self.keys, most, side="right")]


class Lookup:
    """Finds the frames of a trace. Rows of a flow or a packet come in the order of departures."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._of_kind = functools.cache(self._rows_of_kind)
        self._by_flow = functools.cache(self._sorted_by_flow)
        self._by_packet = functools.cache(self._sorted_by_packet)
        self._arrivals = functools.cache(self._sorted_arrivals)

    def of_flow(self, place: int, flow: int, kind: int) -> NDArray[np.int64]:
        """Return the rows of a flow's frames of a kind at a port."""
        key = flow << 2 | kind
        return self._by_flow(place).between(key, key)

    def of_packet(self, place: int, flow: int, kind: int, psn: int) -> NDArray[np.int64]:
        """Return the rows of a packet at a port; more than one if it was sent again."""
        key = (flow << 2 | kind) << PSN_BITS | psn
        return self._by_packet(place).between(key, key)

    def of_highest_packet(self, place: int, flow: int, kind: int) -> NDArray[np.int64]:
        """Return the rows of the packet with a flow's highest number that a port has served."""
        key = (flow << 2 | kind) << PSN_BITS
        highest = self._by_packet(place).between(key, key | (1 << PSN_BITS) - 1)[-1]
        return self.of_packet(place, flow, kind, int(self._trace.hops["psn"][highest]))

    def previous(self, row: int, kind: int) -> int | None:
        """Return the row of the last frame of a kind that a row's port served before, if any."""
        rows = self._of_kind(int(self._trace.hops["place"][row]), kind)
        place = int(np.searchsorted(rows, row))
        return int(rows[place - 1]) if place else None

    def before(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the frames of rows of one switch were before, -1 for those it never got.

        Each was served by the port at the other end of a link, and came when that link's delay was
        over; of several that came at that time it is the one of the same packet.
        """
        trace = self._trace
        arrivals = self._arrivals(int(trace.port_node[trace.hops["place"][rows[0]]]))
        arrived = trace.arrived[rows]
        candidate = np.searchsorted(arrivals.keys, arrived)
        last = np.searchsorted(arrivals.keys, arrived, side="right")
        found = np.full(len(rows), -1)
        open_ = np.flatnonzero(candidate < last)
        while len(open_):
            before = arrivals.rows[candidate[open_]]
            same = self._same_frame(before, rows[open_])
            found[open_[same]] = before[same]
            candidate[open_] += 1
            open_ = open_[~same & (candidate[open_] < last[open_])]
        return found

    def _same_frame(self, before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which frames are the same; the switch between may have cut one to its header."""
        flow, psn, kind = (self._trace.hops[name] for name in ("flow", "psn", "kind"))
        alike = (flow[before] == flow[after]) & (psn[before] == psn[after])
        cut = (kind[before] == DATA) & (kind[after] == CUT)
        same: NDArray[np.bool_] = alike & ((kind[before] == kind[after]) | cut)
        return same

    def _rows_of_kind(self, place: int, kind: int) -> NDArray[np.int64]:
        own = self._trace.rows(place)
        return own.start + np.flatnonzero(self._trace.hops["kind"][own.start : own.stop] == kind)

    def _sorted_by_flow(self, place: int) -> _Sorted:
        rows, keys = self._flows_at(place)
        return _sorted(keys, rows)

    def _sorted_by_packet(self, place: int) -> _Sorted:
        rows, keys = self._flows_at(place)
        return _sorted(keys << PSN_BITS | self._trace.hops["psn"][rows], rows)

    def _flows_at(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of a port, and their flows with their kinds as one number each."""
        own = self._trace.rows(place)
        hops = self._trace.hops[own.start : own.stop]
        return np.arange(own.start, own.stop), hops["flow"].astype(np.int64) << 2 | hops["kind"]

    def _sorted_arrivals(self, node: int) -> _Sorted:
        """Order what came to a node by time, and what came at the same time by the ports' order."""
        trace = self._trace
        peers = np.sort(trace.port_peer[trace.first_port[node] : trace.first_port[node + 1]])
        ports = [trace.rows(int(peer)) for peer in peers[peers >= 0]]
        rows = np.concatenate([np.arange(port.start, port.stop) for port in ports])
        times = [
            trace.departure[port.start : port.stop] + trace.port_delay_ps[peer]
            for port, peer in zip(ports, peers[peers >= 0], strict=True)
        ]
        return _sorted(np.concatenate(times), rows)


def _sorted(keys: NDArray[np.int64], rows: NDArray[np.int64]) -> _Sorted:
    order = np.argsort(keys, kind="stable")
    return _Sorted(keys[order], rows[order])
