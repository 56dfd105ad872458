"""The `mininet` world: runs plans on one emulated fabric after the other, and writes results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from testbed.dataplane import NEVER
from testbed.mininet import calibration
from testbed.mininet.emulation import Emulation, Measured
from testbed.mininet.network import mtu_for
from testbed.mininet.worker import WorkerError
from testbed.results import Records, ResultFolder, first_packet_ps
from testbed.scenario.files import MININET

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from testbed.mininet.calibration import Costs
    from testbed.plan import Plan


class MininetWorld:
    """Runs plans; the fabric and its processes stay up between plans that they fit."""

    def __init__(self) -> None:
        """Start without a fabric."""
        self._emulation: Emulation | None = None
        self._costs: dict[int, Costs] = {}

    def close(self) -> None:
        """Take the fabric down."""
        if self._emulation is not None:
            self._emulation.close()
            self._emulation = None

    def emulation_for(self, plan: Plan, _dilation: float = 1.0) -> Emulation:
        """Return a fabric with the plan loaded, the present one if it fits."""
        if self._emulation is None or not self._emulation.fits(plan):
            self.close()
            self._emulation = Emulation(plan.topology, mtu_for(plan.scenario))
        self._emulation.load(plan)
        return self._emulation

    def costs(self, plan: Plan) -> Costs:
        """Return this machine's costs a frame, measured on the plan's network if not known yet."""
        payload = plan.scenario.payload_bytes
        costs = self._costs.get(payload) or calibration.cached(payload)
        if costs is None:
            busy = calibration.plan_to_measure(plan.scenario)
            costs = calibration.measure(self.emulation_for(busy), busy)
        self._costs[payload] = costs
        return costs

    def dilation_for(self, plan: Plan) -> float:
        """Return the dilation that this machine needs for a plan."""
        return calibration.dilation_for(plan.scenario, plan.topology, self.costs(plan))

    def run(self, plan: Plan, out: Path, dilation: float) -> None:
        """Run a plan and write its results into `out`.

        Raises WorkerError if a process dies; the next run starts from a new fabric.
        """
        costs = self.costs(plan)
        folder = ResultFolder(out, plan)
        try:
            measured = self.emulation_for(plan).run(dilation)
        except WorkerError:
            self.close()
            raise
        hosts, switches = measured.hosts, measured.switches
        folder.add_samples(switches.samples, first_packet_ps(hosts.flows))
        folder.finish(
            Records(
                hosts.flows,
                np.concatenate((hosts.ports, switches.ports)),
                joined_totals(hosts.totals, switches.totals),
                hosts.arrivals,
            ),
            manifest(plan, measured, dilation, costs)
            | {"dilation_needed": self.dilation_for(plan)},
        )
        measured.pass_on()


def manifest(plan: Plan, measured: Measured, dilation: float, costs: Costs) -> dict[str, Any]:
    """Return what the manifest says of a run besides scenario and verdict."""
    hosts, switches = measured.hosts.totals, measured.switches.totals
    seconds = measured.wall_seconds
    return {
        "world": MININET,
        "ended": measured.ended,
        "dilation": dilation,
        "wall_seconds": round(seconds, 3),
        "message": measured.message,
        "started_ns": measured.start_ns,
        "processor_share": {
            "engine": round(switches["hops"] * costs.switch_ns / 1e9 / seconds, 4),
            "traffic": round(hosts["hops"] * costs.host_ns / 1e9 / seconds, 4),
        },
        "pacing": _pacing(plan, measured),
        "start_skew_ns": _start_skew_ns(plan, measured),
    }


def joined_totals(hosts: Mapping[str, int], switches: Mapping[str, int]) -> dict[str, int]:
    """Count frames from host to host; what switches hand to each other is in no one's count."""
    summed = {name: hosts[name] + switches[name] for name in hosts}
    return {**summed, "sent": hosts["sent"], "delivered": hosts["delivered"]}


def _pacing(plan: Plan, measured: Measured) -> dict[str, dict[str, float]]:
    return {
        plan.topology.nodes[host].name: {
            "late_p99_ns": int(record["late_p99_ps"]) / 1000,
            "offered": round(float(record["offered"]), 6),
            "achieved": round(float(record["achieved"]), 6),
        }
        for host, record in enumerate(measured.hosts.pacing)
        if record["frames"]
    }


def _start_skew_ns(plan: Plan, measured: Measured) -> float:
    """Return how far apart hosts' first frames left, in paper time."""
    first = np.full(plan.topology.hosts, NEVER, dtype=np.uint64)
    messages = ~plan.flows.computes
    np.minimum.at(first, plan.flows.source[messages], measured.hosts.flows["start_ps"][messages])
    started = first[first != NEVER]
    return int(started.max() - started.min()) / 1000 if len(started) else 0.0
