"""How much memory a network needs in virtual time, asked before it is built."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from testbed.messages import port_counts
from testbed.scenario import ScenarioError

if TYPE_CHECKING:
    from testbed.plan import Plan

FRAME_BYTES = 128
PORT_BYTES = 1400  # its state and the chunks of its link
SWITCH_BYTES = 40_000  # its program's state: tables of its own, registers
NODE_BYTES = 2500  # what Python keeps of a node and its links in the plan
FLOW_BYTES = 400
BASE_BYTES = 150 << 20
QUEUED_SHARE = 0.5  # frames in queues over frames on links, for schemes that balance badly


class MemoryNeededError(ScenarioError):
    """The network would not fit in this machine's memory; the message says how much it needs."""


def memory_needed(plan: Plan) -> int:
    """Estimate the bytes that running a plan takes, from what was measured at k = 4 to 64."""
    scenario, topology = plan.scenario, plan.topology
    hops = 2 * topology.levels
    frame_ps = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes)
    flight_ps = hops * (scenario.delay_ns * 1000 + frame_ps)
    in_flight = topology.hosts * (flight_ps / frame_ps) * (1 + scenario.acks) * (1 + QUEUED_SHARE)
    sizes = plan.flows.size_bytes
    frames = float((sizes // scenario.payload_bytes + 1).sum()) * (1 + scenario.acks)
    return int(
        BASE_BYTES
        + FRAME_BYTES * min(in_flight, frames)
        + PORT_BYTES * int(port_counts(topology).sum())
        + SWITCH_BYTES * len(topology.switches)
        + NODE_BYTES * len(topology.nodes)
        + FLOW_BYTES * len(plan.flows)
    )


def check_memory(plan: Plan) -> None:
    """Raise MemoryNeededError if the machine has less memory left than a plan needs."""
    needed, there = memory_needed(plan), _available()
    if there is not None and needed > there:
        raise MemoryNeededError(
            f"k = {plan.topology.k} with {plan.topology.hosts} hosts needs about "
            f"{needed / 1e9:.1f} GB of memory; {there / 1e9:.1f} GB are free"
        )


def _available() -> int | None:
    """Return the machine's free memory in bytes, None where it does not say."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    for line in info.read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None
