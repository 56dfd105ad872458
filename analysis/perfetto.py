"""`python -m analysis trace RUN`: a run as a trace that Perfetto and chrome://tracing open.

The format is Chrome's trace events in JSON: ports are counters of their queue, flows are slices in
a track of their source, phases of the collective are slices of their own.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from analysis.trace import Trace

COLLECTIVE, HOSTS, PORTS = 1, 2, 3
NAMES = {COLLECTIVE: "collective", HOSTS: "hosts", PORTS: "ports"}
BINS = 500  # moments in which a port's longest queue is told
PICOSECONDS_PER_MICROSECOND = 1e6


def write(trace: Trace, file: Path) -> int:
    """Write a run's events, compressed if the file's name ends in .gz; return how many."""
    events = list(_events(trace))
    text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))
    data = text.encode()
    file.write_bytes(gzip.compress(data, 6, mtime=0) if file.suffix == ".gz" else data)
    return len(events)


def longest_queues(trace: Trace, place: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a port's longest queue in bytes between each two of `edges`, in picoseconds."""
    rows = trace.rows(place)
    hops = slice(rows.start, rows.stop)
    size = trace.hops["bytes"][hops].astype(np.int64)
    times = np.concatenate((trace.departure[hops], trace.arrived[hops]))
    changes = np.concatenate((-size, size))
    order = np.lexsort((changes, times))  # what leaves makes room for what comes at that time
    times, levels = times[order], np.cumsum(changes[order])
    before = np.searchsorted(times, edges, side="right") - 1
    longest = np.where(before >= 0, levels[before], 0)[:-1]
    within = np.searchsorted(edges, times, side="right") - 1
    valid = (within >= 0) & (within < len(longest))
    np.maximum.at(longest, within[valid], levels[valid])
    return longest


def _events(trace: Trace) -> Iterator[dict[str, Any]]:
    for process, name in NAMES.items():
        yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": name}}
    yield from _flows(trace)
    yield from _phases(trace)
    yield from _queues(trace)


def _since(trace: Trace, time: int) -> float:
    return (time - trace.first_ps) / PICOSECONDS_PER_MICROSECOND


def _flows(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield a slice a flow, from its first packet to its end; those of a host may overlap."""
    for host in np.unique(trace.source).tolist():
        thread = {"name": str(trace.nodes[host])}
        yield {"ph": "M", "pid": HOSTS, "tid": host + 1, "name": "thread_name", "args": thread}
    for flow, end in enumerate(trace.ends.tolist()):
        begin = int(trace.flow_start[flow])
        if begin < 0 or end < 0:
            continue
        host = int(trace.source[flow])
        to = trace.nodes[trace.destination[flow]]
        what = f"{trace.nodes[host]} → {to}" if trace.size_bytes[flow] else "computes"
        name = f"{flow}: {what}"
        common = {"cat": "flow", "id": flow, "pid": HOSTS, "tid": host + 1, "name": name}
        said = {"bytes": int(trace.size_bytes[flow]), "phase": str(trace.phase[flow])}
        yield {**common, "ph": "b", "ts": _since(trace, begin), "args": said}
        yield {**common, "ph": "e", "ts": _since(trace, end)}


def _phases(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield a slice a phase, from the first start of its flows to the last end."""
    for number, phase in enumerate(np.unique(trace.phase).tolist(), 1):
        own = (trace.phase == phase) & (trace.flow_start >= 0)
        if not own.any() or (trace.ends[own] < 0).any():
            continue
        begin, end = int(trace.flow_start[own].min()), int(trace.ends[own].max())
        name = phase or "all flows"
        track = {"pid": COLLECTIVE, "tid": number}
        yield {"ph": "M", **track, "name": "thread_name", "args": {"name": name}}
        length = (end - begin) / PICOSECONDS_PER_MICROSECOND
        yield {"ph": "X", **track, "name": name, "ts": _since(trace, begin), "dur": length}


def _queues(trace: Trace) -> Iterator[dict[str, Any]]:
    """Yield each port's longest queue wherever it changes from one bin to the next."""
    if not len(trace.hops):
        return
    begin, end = int(trace.arrived.min()), int(trace.departure.max())
    edges = np.linspace(begin, end + 1, BINS + 1).astype(np.int64)
    for place in np.unique(trace.hops["place"]).tolist():
        longest = longest_queues(trace, place, edges)
        changed = np.flatnonzero(np.diff(longest, prepend=-1))
        for at in changed.tolist():
            yield {
                "ph": "C",
                "pid": PORTS,
                "name": f"queue {trace.link(place)}",
                "ts": _since(trace, int(edges[at])),
                "args": {"bytes": int(longest[at])},
            }
        yield {
            "ph": "C",
            "pid": PORTS,
            "name": f"queue {trace.link(place)}",
            "ts": _since(trace, end),
            "args": {"bytes": 0},
        }
