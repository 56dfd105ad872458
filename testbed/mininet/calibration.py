"""How slow the emulation has to be on this machine: costs a frame, and what they ask for."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4.codegen.build import cache_folder
from testbed.dataplane.library import build
from testbed.planning import plan_for
from testbed.results import machine

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.mininet.emulation import Emulation
    from testbed.plan import Plan
    from testbed.scenario import Scenario
    from testbed.topology import Topology

SHARE = 0.5
"""Part of a processor that the work at full load may take; bursts and rivals need the rest."""

DILATION_PER_HOST = 125.0
"""Slow enough that nothing is lost, and so fast that the processes are busy all the time."""

MESSAGE_BYTES = 1 << 20
REPETITIONS = 3
LEAST_DILATION = 1_000.0


@dataclass(frozen=True, slots=True)
class Costs:
    """Processor time of one frame at a switch and at a host, all of the kernel's work included."""

    switch_ns: float
    host_ns: float


def cached(payload_bytes: int) -> Costs | None:
    """Return the costs of such packets, if they were measured with this event core earlier."""
    try:
        return Costs(**json.loads(_cache_file(payload_bytes).read_text(encoding="utf-8")))
    except (OSError, TypeError, ValueError):
        return None


def plan_to_measure(scenario: Scenario) -> Plan:
    """Return a plan on a scenario's network that keeps all of it busy for a moment."""
    busy = dataclasses.replace(
        scenario,
        workload="permutation",
        workload_options={},
        message_bytes=MESSAGE_BYTES,
        load=1.0,
        failures=0.0,
    )
    return plan_for(busy)


def measure(emulation: Emulation, plan: Plan) -> Costs:
    """Measure the costs with a plan that keeps its network busy, and remember them.

    Processes sleep instead of spinning meanwhile, so that processor time is work. What other
    programs do to the caches only adds to it, so the cheapest of several runs is taken. Raises
    KeyboardInterrupt if a run was interrupted; nothing is remembered then.
    """
    tried = []
    for _ in range(REPETITIONS):
        emulation.load(plan)
        tried.append(_measure_once(emulation))
    costs = Costs(min(each.switch_ns for each in tried), min(each.host_ns for each in tried))
    text = json.dumps(dataclasses.asdict(costs))
    _cache_file(plan.scenario.payload_bytes).write_text(text, encoding="utf-8")
    return costs


def _measure_once(emulation: Emulation) -> Costs:
    workers = (emulation.engine, emulation.traffic)
    before = [worker.ask("processor_ns") for worker in workers]
    measured = emulation.run(DILATION_PER_HOST * emulation.topology.hosts, spin_ns=0)
    measured.pass_on()
    spent = [
        worker.ask("processor_ns") - start for worker, start in zip(workers, before, strict=True)
    ]
    hops = (measured.switches.totals["hops"], measured.hosts.totals["hops"])
    return Costs(*(spent[i] / max(hops[i], 1) for i in range(2)))


def dilation_for(scenario: Scenario, topology: Topology, costs: Costs) -> float:
    """Return the dilation at which both processes keep up with hosts that all send at full load.

    Every data frame and every ACK crosses at most 2 * levels - 1 switches.
    """
    slot_ns = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes) / 1000
    frames = topology.hosts * scenario.load * (2 if scenario.acks else 1)
    hops = 2 * topology.levels - 1
    work_ns = frames * max(costs.switch_ns * hops, costs.host_ns)
    return rounded_up(max(LEAST_DILATION, work_ns / (SHARE * slot_ns)))


def rounded_up(value: float) -> float:
    """Round up to two digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit - 1e-9) * unit


def _cache_file(payload_bytes: int) -> Path:
    key = f"{machine()} {build().name} {payload_bytes}"
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return cache_folder() / f"calibration-{digest}.json"
