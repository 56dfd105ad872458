"""The `bmv2` world: plans run on simple_switch, with the hosts and results of Mininet's world."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from errors import UserError
from p4.codegen.build import cache_folder
from testbed.bmv2.client import p4utils_module
from testbed.bmv2.emulation import Bmv2Emulation, path_delay_ns
from testbed.bmv2.nodes import NODE_MODULE
from testbed.bmv2.process import version
from testbed.bmv2.switches import frame_rates, slot_ps
from testbed.mininet import calibration
from testbed.mininet.calibration import Costs
from testbed.mininet.network import mtu_for
from testbed.mininet.worker import WorkerError
from testbed.mininet.world import joined_totals, manifest
from testbed.planning import make_plan, refuse
from testbed.results import Records, ResultFolder, first_packet_ps, machine
from testbed.scenario.files import BMV2
from testbed.scenario.speeds import tier_of

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.mininet.emulation import Measured
    from testbed.plan import Plan
    from testbed.scenario import Scenario
    from testbed.scenario.speeds import Speed

NOT_HERE = ("link_events", "trim", "ack_priority", "shared_bytes")
PICOSECONDS_PER_TICK = 1_000_000  # simple_switch counts microseconds
MEASURING_DILATION_PER_HOST = 25_000.0
SEARCHED = 1.15
WORST_RATE_ERROR = 0.05


class Bmv2World:
    """Runs plans; the fabric stays up between plans that it fits, the switches start afresh."""

    def __init__(self) -> None:
        """Start without a fabric; raises Bmv2Error if simple_switch is not installed."""
        self._version = version()
        self._emulation: Bmv2Emulation | None = None
        self._costs: Costs | None = None

    def close(self) -> None:
        """Take the fabric down."""
        if self._emulation is not None:
            self._emulation.close()
            self._emulation = None

    def dilation_for(self, plan: Plan) -> float:
        """Return the dilation at which this machine's simple_switch keeps up with a plan."""
        costs = self.costs(plan)
        shared = Costs(costs.switch_ns / processors(), costs.host_ns)
        wanted = calibration.dilation_for(plan.scenario, plan.topology, shared)
        return nearest_dilation(plan, wanted)

    def costs(self, plan: Plan) -> Costs:
        """Return the costs of a frame on this machine, measured if they are not known yet."""
        self._costs = self._costs or _cached_costs(self._version)
        if self._costs is None:
            busy = calibration.plan_to_measure(plan.scenario)
            dilation = nearest_dilation(busy, MEASURING_DILATION_PER_HOST * busy.topology.hosts)
            emulation = self._loaded(_at_dilation(busy, dilation), dilation)
            before = emulation.switches.ask("processor_ns"), emulation.traffic.ask("processor_ns")
            measured = emulation.run(dilation, spin_ns=0)
            after = emulation.switches.ask("processor_ns"), emulation.traffic.ask("processor_ns")
            hops = measured.switches.totals["hops"], measured.hosts.totals["hops"]
            self._costs = Costs(*((after[i] - before[i]) / max(hops[i], 1) for i in (0, 1)))
            text = json.dumps(dataclasses.asdict(self._costs))
            _costs_file(self._version).write_text(text, encoding="utf-8")
        return self._costs

    def run(self, plan: Plan, out: Path, dilation: float) -> None:
        """Run a plan and write its results into `out`.

        The dilation is moved to the next one at which a microsecond is a whole number of
        picoseconds of paper time. Raises UserError for what BMv2 cannot do, Bmv2Error if a switch
        dies, WorkerError if the hosts do; the next run starts from a new fabric.
        """
        dilation = nearest_dilation(plan, dilation)
        check(plan, dilation)
        plan = _at_dilation(plan, dilation)
        folder = ResultFolder(out, plan)
        try:
            emulation = self._loaded(plan, dilation)
            before = emulation.switches.ask("processor_ns")
            measured = emulation.run(dilation)
            used = emulation.switches.ask("processor_ns") - before
        except WorkerError:
            self.close()
            raise
        hosts, switches = measured.hosts, measured.switches
        folder.add_samples(switches.samples, first_packet_ps(hosts.flows))
        totals = joined_totals(hosts.totals, switches.totals)
        totals["dropped_queue"] += vanished(totals)
        ports = np.concatenate((hosts.ports, switches.ports))
        described = self._manifest(plan, measured, dilation, used)
        folder.finish(Records(hosts.flows, ports, totals, hosts.arrivals), described)
        measured.pass_on()

    def emulation_for(self, plan: Plan, dilation: float | None = None) -> Bmv2Emulation:
        """Return a fabric with the plan loaded for a dilation, by default this machine's."""
        dilation = nearest_dilation(plan, dilation) if dilation else self.dilation_for(plan)
        check(plan, dilation)
        return self._loaded(_at_dilation(plan, dilation), dilation)

    def _loaded(self, plan: Plan, dilation: float) -> Bmv2Emulation:
        if self._emulation is None or not self._emulation.fits(plan):
            self.close()
            self._emulation = Bmv2Emulation(plan.topology, mtu_for(plan.scenario))
        self._emulation.switches.dilation = dilation
        self._emulation.load(plan)
        return self._emulation

    def _manifest(
        self, plan: Plan, measured: Measured, dilation: float, used_ns: int
    ) -> dict[str, Any]:
        """Return what the manifest says; what simple_switch cannot do is named in it."""
        costs = self._costs or Costs(0.0, 0.0)
        scenario, host = plan.scenario, plan.scenario.speeds.tiers["host"]
        data, acks = frame_rates(scenario, host, dilation)
        described = manifest(plan, measured, dilation, costs)
        described["processor_share"]["engine"] = round(
            used_ns / 1e9 / measured.wall_seconds / processors(), 4
        )
        return described | {
            "world": BMV2,
            "dilation_needed": self.dilation_for(plan),
            "simple_switch": self._version,
            "p4_utils": p4utils_module(NODE_MODULE) is not None,
            "port_rates_per_second": {"data_frames": data, "acks": acks},
            "host_delay_ns": round(path_delay_ns(scenario, host), 3),
            "repeatable": False,
        }


def processors() -> int:
    """Return how many processors the switches share."""
    return len(os.sched_getaffinity(0))


def nearest_dilation(plan: Plan, wanted: float) -> float:
    """Return a dilation that suits simple_switch: `wanted` or the next above it, at most a million.

    Its clock counts whole microseconds, which have to be whole picoseconds of paper time for
    programs that count time. Its ports send whole numbers of frames a second; of the possible
    dilations up to SEARCHED times `wanted`, the one whose frame rate needs the least rounding wins.
    """
    most = max(math.floor(PICOSECONDS_PER_TICK / wanted + 1e-9), 1)
    least = min(math.ceil(PICOSECONDS_PER_TICK / (wanted * SEARCHED)), most)
    return min(
        (PICOSECONDS_PER_TICK / tick for tick in range(least, most + 1)),
        key=lambda dilation: rate_error(plan, dilation),
    )


def rate_error(plan: Plan, dilation: float) -> float:
    """Return by which share whole data frames a second miss a link's rate, of any link the most."""
    return max(_rate_error(plan.scenario, speed, dilation) for speed in _kinds(plan.scenario))


def _rate_error(scenario: Scenario, speed: Speed, dilation: float) -> float:
    exact = 1e12 / (slot_ps(scenario.data_frame_bytes, scenario, speed) * dilation)
    return abs(frame_rates(scenario, speed, dilation)[0] / exact - 1)


def _kinds(scenario: Scenario) -> set[Speed]:
    return {*scenario.speeds.tiers.values(), *scenario.speeds.links.values()}


def check(plan: Plan, dilation: float) -> None:
    """Raise UserError for what simple_switch, or a fabric of it, cannot do at a dilation."""
    refuse(plan.scenario, NOT_HERE, "BMv2")
    _check_delays(plan.scenario)
    _check_rates(plan, dilation)


def _check_delays(scenario: Scenario) -> None:
    """Raise UserError for delays that hosts cannot make: of some paths and not of others."""
    speeds = scenario.speeds
    for ends, speed in speeds.links.items():
        if speed.delay_ns != speeds.tiers[tier_of(*ends)].delay_ns:
            raise UserError(
                f"{'-'.join(ends)} = {speed.delay_ns:g}: BMv2 has no delay of a single link; "
                "give it to the tier, or use --on virtual or mininet"
            )


def _check_rates(plan: Plan, dilation: float) -> None:
    """Raise UserError for unequal links of which one sends too few frames a second to be told."""
    if plan.scenario.speeds.uniform:
        return
    for speed in _kinds(plan.scenario):
        error = _rate_error(plan.scenario, speed, dilation)
        if error > WORST_RATE_ERROR:
            raise UserError(
                f"links of {speed.rate_gbps:g} Gb/s: simple_switch sends whole frames a second, "
                f"and misses their rate by {error:.0%} at dilation {dilation:,.0f}; a lower "
                "--dilation or a smaller --payload helps"
            )


def vanished(totals: dict[str, int]) -> int:
    """Return the frames that nobody accounts for: simple_switch drops without counting."""
    drops = sum(number for name, number in totals.items() if name.startswith("dropped_"))
    known = totals["delivered"] + drops + totals["socket_drops"] + totals["left"]
    return max(totals["sent"] + totals["copied"] - known, 0)


def _at_dilation(plan: Plan, dilation: float) -> Plan:
    """Plan again with the programs' timestamps in microseconds of real time."""
    tick_ps = round(PICOSECONDS_PER_TICK / dilation)
    return make_plan(plan.scenario, plan.flows, tick_ps)


def _cached_costs(switch_version: str) -> Costs | None:
    try:
        return Costs(**json.loads(_costs_file(switch_version).read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return None


def _costs_file(switch_version: str) -> Path:
    digest = hashlib.sha256(f"{machine()} {switch_version}".encode()).hexdigest()[:16]
    return cache_folder() / f"calibration-bmv2-{digest}.json"
