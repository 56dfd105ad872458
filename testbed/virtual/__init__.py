"""The simulated world: a plan run in virtual time, bit for bit the same for a seed."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from testbed.capture import places_of
from testbed.capture import write as write_capture
from testbed.dataplane import Dataplane, Ended, settings_of
from testbed.linkage import Linkage
from testbed.messages import flow_rows, host_addresses, port_counts, set_speeds
from testbed.results import Records, ResultFolder, first_packet_ps, last_packet_ps
from testbed.scenario.files import CAPTURE, VIRTUAL
from testbed.switches import make_switches
from testbed.virtual.memory import check_memory, work_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from p4.engine import Switch
    from testbed.plan import Plan
    from testbed.topology import Topology

__all__ = ["Outcome", "build", "run"]

BUDGET_MS = 200  # how long the core runs before it looks at the terminal
HOSTS_FOR_THREADS = 4096  # from here on the threads' meetings cost less than they bring
SAMPLE_ROWS = 200_000  # about as many rows as a queue time series may have
LEAST_SAMPLE_PS = 100_000
LEAST_SAMPLES = 20
MOST_HOPS = 2_000_000  # up to which the packets' ways are kept


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, at what paper time, after how long, and what the core had to say."""

    ended: str
    now_ps: int
    wall_seconds: float
    message: str


def run(
    plan: Plan,
    out: Path,
    *,
    threads: int | None = None,
    sample_ps: int | None = None,
    progress: Callable[[float], None] | None = None,
    trace: Callable[[Dataplane], None] | None = None,
    watch: Sequence[int] = (),
    capture: Sequence[str] = (),
) -> Outcome:
    """Run a plan in virtual time and write its result folder.

    `threads` does not change the result; by default large networks use all processors. `sample_ps`
    is the interval of the queue time series, 0 for none; by default small networks have one.
    `progress` is called with the share of frames acknowledged so far. With `trace`, every frame at
    every port is kept, and `trace` called in the end to fetch them. `watch` names flows whose
    congestion control is written over time, `capture` links whose frames are. Raises UserError
    before it starts if the network is too large for this machine, UserError or EngineError for
    a plan that cannot be run. A KeyboardInterrupt leaves the results so far.
    """
    check_memory(plan)
    interval = suitable_sample_ps(plan) if sample_ps is None else sample_ps
    begin, started_ns = time.monotonic(), time.time_ns()
    folder = ResultFolder(out, plan)
    with Dataplane(
        settings_of(plan, sample_ps=interval), port_counts(plan.topology), plan.topology.hosts
    ) as dataplane:
        linkage = Linkage(plan, dataplane, build(dataplane, plan), range(len(plan.topology.nodes)))
        ways = interval > 0 and work_of(plan).all_hops <= MOST_HOPS
        dataplane.trace(on=trace is not None or ways)
        if watch:
            dataplane.watch(watch)
        places = places_of(folder.ports, capture)
        dataplane.capture(places)
        interrupted: KeyboardInterrupt | None = None
        try:
            ended = _run(dataplane, linkage, threads or suitable_threads(plan), progress)
        except KeyboardInterrupt as signal:
            ended, interrupted = "interrupted", signal
        outcome = Outcome(ended, dataplane.now_ps, time.monotonic() - begin, dataplane.message)
        if watch:
            folder.add_watched(dataplane.watched(), first_packet_ps(dataplane.flows()))
        if places:
            write_capture(out / CAPTURE, folder.ports, places, *dataplane.captured())
        _write(folder, dataplane, outcome, started_ns)
        if trace is not None:
            trace(dataplane)
        elif ways:
            folder.add_paths(dataplane.hops())
    if interrupted is not None:
        raise interrupted
    return outcome


def suitable_threads(plan: Plan) -> int:
    """Return 1 for small networks, and the processors that this process may use for large ones."""
    if plan.topology.hosts < HOSTS_FOR_THREADS:
        return 1
    return len(os.sched_getaffinity(0))


def suitable_sample_ps(plan: Plan) -> int:
    """Return an interval that gives a queue time series a sensible length, 0 if there is none."""
    scenario = plan.scenario
    per_host = np.bincount(plan.flows.source, weights=plan.flows.size_bytes)
    duration = float(per_host.max(initial=0)) * scenario.picoseconds_per_byte / plan.load
    duration += 12_000 * scenario.delay_ns
    wanted = int(port_counts(plan.topology).sum()) * duration / SAMPLE_ROWS
    interval = -(-round(wanted) // LEAST_SAMPLE_PS) * LEAST_SAMPLE_PS
    return max(interval, LEAST_SAMPLE_PS) if interval * LEAST_SAMPLES <= duration else 0


def build(dataplane: Dataplane, plan: Plan) -> dict[str, Switch]:
    """Put a plan's switches, links, addresses and flows into an empty network of its size.

    Returns the switches by name.
    """
    switches = make_switches(dataplane, plan)
    set_speeds(dataplane, plan, range(len(plan.topology.nodes)))
    dataplane.connect(*_cables(plan.topology))
    dataplane.set_addresses(*host_addresses(plan.topology))
    dataplane.add_flows(*flow_rows(plan))
    return switches


def _cables(topology: Topology) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    links = [
        (link.lower, link.lower_port, link.upper, link.upper_port)
        for link in topology.links
        if link.up
    ]
    return np.array(links, dtype=np.int64).reshape(-1, 4).T


def _run(
    dataplane: Dataplane,
    linkage: Linkage,
    threads: int,
    progress: Callable[[float], None] | None,
) -> str:
    while True:
        ended = dataplane.run_virtual(
            deadline_ps=linkage.next_ps, threads=threads, budget_ms=BUDGET_MS
        )
        if progress is not None:
            flows = dataplane.flows()
            progress(float(flows["acknowledged"].sum() / max(1, flows["packets"].sum())))
        if ended is Ended.DEADLINE:
            linkage.step()
        elif ended is not Ended.BUDGET:
            return ended.name.lower()


def _write(folder: ResultFolder, dataplane: Dataplane, outcome: Outcome, started_ns: int) -> None:
    flows = dataplane.flows()
    first, last = first_packet_ps(flows), last_packet_ps(flows)
    until = last if outcome.ended == "done" else dataplane.now_ps
    records = Records(
        flows, dataplane.ports(first, until), dataplane.totals(), dataplane.arrivals()
    )
    folder.add_samples(dataplane.samples(), first)
    folder.finish(
        records,
        {
            "world": VIRTUAL,
            "dilation": 1.0,
            "wall_seconds": round(outcome.wall_seconds, 3),
            "ended": outcome.ended,
            "message": outcome.message if outcome.ended == "stuck" else "",
            "started_ns": started_ns,
        },
    )
