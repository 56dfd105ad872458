"""A finished run in virtual time, run again with every frame at every port kept.

Runs are the same to the bit, so the trace is the run's own; flows.csv is compared to be sure. The
file is numpy's .npz, which `analysis.trace` reads.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from errors import UserError
from testbed.messages import flow_rows, host_addresses
from testbed.planning import plan_for
from testbed.results import first_packet_ps
from testbed.scenario import from_toml
from testbed.scenario.files import FLOWS, SCENARIO
from testbed.topology import adjacency
from testbed.virtual import run
from testbed.virtual.memory import available, work_of

if TYPE_CHECKING:
    from testbed.dataplane import Dataplane
    from testbed.plan import Plan

HOP_BYTES = 48 * 3  # of a hop: while it is kept, copied and put in order


def record(folder: Path, file: Path) -> None:
    """Run a result folder's scenario again and write its trace.

    Raises UserError if the folder has no scenario, if the trace would not fit in memory, or if
    the run does not come out as it did: then the programs or the simulator have changed since.
    """
    plan = plan_for(from_toml(folder / SCENARIO))
    refuse_different_links(plan)
    check_room(plan)
    written = folder / FLOWS
    before = written.read_bytes() if written.exists() else None
    with tempfile.TemporaryDirectory() as temporary:
        run(plan, Path(temporary), sample_ps=0, trace=lambda done: write(file, plan, done))
        after = (Path(temporary) / FLOWS).read_bytes()
    if before is not None and before != after:
        file.unlink()
        raise UserError(
            f"{folder}: run again it came out differently: sources have changed since; run it anew"
        )


def check_room(plan: Plan) -> None:
    """Raise UserError if a trace of all hops would not fit in memory."""
    work = work_of(plan)
    needed = int(work.all_hops * HOP_BYTES)
    there = available()
    if there is not None and needed > there:
        raise UserError(
            f"a trace of {work.packets:,.0f} packets takes about {needed / 1e9:.1f} GB of memory; "
            f"{there / 1e9:.1f} GB are free"
        )


def write(file: Path, plan: Plan, dataplane: Dataplane) -> None:
    """Write a trace: what passed each port, and what there is to know to read it."""
    flows = dataplane.flows()
    content: dict[str, Any] = {
        "hops": dataplane.hops(),
        "first_ps": first_packet_ps(flows),
        **{f"flow_{name}": flows[f"{name}_ps"] for name in ("start", "delivered", "finish")},
    }
    np.savez(file, **content, **_network(plan), **_messages(plan))


def refuse_different_links(plan: Plan) -> None:
    """Raise UserError for a network whose links are not alike: a trace knows one rate only."""
    if not plan.scenario.speeds.uniform:
        raise UserError("explaining a run needs links that are all alike; those of this run differ")


def _network(plan: Plan) -> dict[str, Any]:
    topology, scenario = plan.topology, plan.scenario
    around = adjacency(topology)
    node = np.repeat(np.arange(len(topology.nodes)), np.diff(around.first))
    there = around.peer >= 0
    peer = np.where(there, around.first[around.peer] + around.peer_port, -1)
    addresses, macs = host_addresses(topology)
    return {
        "nodes": np.array([each.name for each in topology.nodes]),
        "machines": topology.shape.hosts_per_plane,
        "port_node": node,
        "port_number": np.arange(len(node)) - around.first[node],
        "port_peer": peer,
        "ipv4": addresses,
        "mac": macs,
        "delay_ps": round(scenario.delay_ns * 1000),
        "gap_ps": scenario.serialisation_ps(scenario.gap_bytes),
        "picoseconds_per_byte": scenario.picoseconds_per_byte,
        "load": plan.load,
        "acks": scenario.acks,
    }


def _messages(plan: Plan) -> dict[str, Any]:
    rows, _, _ = flow_rows(plan)
    flows = plan.flows
    return {
        "source": flows.source,
        "destination": flows.destination,
        "size_bytes": flows.size_bytes,
        "not_before_ps": rows["start_ps"],
        "wait_ps": rows["delay_ps"],
        "after_first": flows.after.first,
        "after": flows.after.flow,
        "after_acknowledged": flows.after.acknowledged,
        "phase": np.array(flows.phases)[flows.phase],
    }
