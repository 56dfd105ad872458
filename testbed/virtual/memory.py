"""How much memory a network needs in virtual time, asked before it is built."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError
from testbed.messages import port_counts
from testbed.workload import volume_of
from traffic.request import Volume

if TYPE_CHECKING:
    from testbed.plan import Plan
    from testbed.scenario import Scenario, Shape

FRAME_BYTES = 128
PORT_BYTES = 1400  # its state and the chunks of its link
SWITCH_BYTES = 40_000  # its program's state: tables of its own, registers
NODE_BYTES = 2500  # what Python keeps of a node and its links in the plan
FLOW_BYTES = 1150  # 350 while it runs, the rest when its files are written, read and judged
PLAN_FLOW_BYTES = 64  # its columns, and two flows that it waits for
BASE_BYTES = 150 << 20
QUEUED_SHARE = 0.5  # frames in queues over frames on links, for schemes that balance badly


@dataclass(frozen=True, slots=True)
class Work:
    """What decides how much memory a run takes: parts of its network, messages, data packets."""

    hosts: int
    switches: int
    ports: int
    hops: int
    messages: int
    packets: float

    @property
    def all_hops(self) -> float:
        """Frames at ports, ACKs as well, none of them sent again: a little more than there are."""
        return 2 * self.packets * self.hops


def work_of(plan: Plan) -> Work:
    """Return a plan's size."""
    topology, sizes = plan.topology, plan.flows.size_bytes
    return Work(
        hosts=topology.hosts,
        switches=len(topology.switches),
        ports=int(port_counts(topology).sum()),
        hops=2 * topology.levels,
        messages=len(sizes),
        packets=float((sizes // plan.scenario.payload_bytes + 1).sum()),
    )


def memory_needed(plan: Plan) -> int:
    """Estimate the bytes that running a plan takes, from what was measured at k = 4 to 64."""
    return _bytes_for(plan.scenario, work_of(plan))


def expected_work(scenario: Scenario) -> Work:
    """Work out a scenario's size from its numbers alone, before anything of it is made.

    Hosts are taken to send one message each where the workload is a file. Raises UserError for
    a workload that cannot be made.
    """
    shape, hosts = scenario.shape, scenario.hosts
    volume = volume_of(scenario) or Volume(hosts, hosts * scenario.message_bytes)
    packets = volume.messages * math.ceil(
        volume.total_bytes / volume.messages / scenario.payload_bytes
    )
    ports = hosts + shape.switches + shape.switch_ports
    return Work(hosts, shape.switches, ports, scenario.hops, volume.messages, packets)


def memory_expected(scenario: Scenario, plans: int = 1) -> int:
    """Estimate the bytes that a run takes while so many plans of its size are kept."""
    work = expected_work(scenario)
    a_plan = NODE_BYTES * (work.hosts + work.switches) + PLAN_FLOW_BYTES * work.messages
    return _bytes_for(scenario, work) + (plans - 1) * a_plan


def check_memory(plan: Plan) -> None:
    """Raise UserError if the machine has less memory left than a plan needs."""
    _check(plan.topology.shape, memory_needed(plan))


def check_expected_memory(scenario: Scenario, plans: int = 1, jobs: int = 1) -> None:
    """Raise UserError if a scenario of which nothing is made yet would need too much.

    `plans` of its size are kept, and `jobs` of them run at a time.
    """
    needed = memory_expected(scenario, plans) + (jobs - 1) * memory_expected(scenario)
    _check(scenario.shape, needed)


def _check(shape: Shape, needed: int) -> None:
    there = available()
    if there is not None and needed > there:
        raise UserError(
            f"{shape.text} with {shape.hosts_text} needs about "
            f"{needed / 1e9:.1f} GB of memory; {there / 1e9:.1f} GB are free"
        )


def _bytes_for(scenario: Scenario, work: Work) -> int:
    frame_ps = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes)
    flight_ps = work.hops * (scenario.delay_ns * 1000 + frame_ps)
    in_flight = work.hosts * (flight_ps / frame_ps) * (1 + scenario.acks) * (1 + QUEUED_SHARE)
    frames = work.packets * (1 + scenario.acks)
    return int(
        BASE_BYTES
        + FRAME_BYTES * min(in_flight, frames)
        + PORT_BYTES * work.ports
        + SWITCH_BYTES * work.switches
        + NODE_BYTES * (work.hosts + work.switches)
        + FLOW_BYTES * work.messages
    )


def available() -> int | None:
    """Return the machine's free memory in bytes, None where it does not say."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    for line in info.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
