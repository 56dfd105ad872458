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
    from numpy.typing import NDArray

    from testbed.dataplane import Dataplane
    from testbed.plan import Plan

HOP_BYTES = 48 * 2  # of a hop: kept by the event core, and copied in order


def record(folder: Path, file: Path) -> None:
    """Run a result folder's scenario again and write its trace.

    Raises UserError if the folder has no scenario, if the trace would not fit in memory, or if
    the run does not come out as it did: then the programs or the simulator have changed since.
    """
    plan = plan_for(from_toml(folder / SCENARIO))
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
        **_speeds(plan, around.link),
        "gap_bytes": scenario.gap_bytes,
        "load": plan.load,
        "acks": scenario.acks,
    }


def _speeds(plan: Plan, link: NDArray[np.int64]) -> dict[str, Any]:
    """Return what the link at each port is like, by the links' numbers; 0 where there is none."""
    nodes, speeds = plan.topology.nodes, plan.scenario.speeds
    of_links = [
        speeds.between(nodes[each.lower].name, nodes[each.upper].name)
        for each in plan.topology.links
    ]
    delay = np.array([speed.delay_ps for speed in of_links])
    per_byte = np.array([speed.picoseconds_per_byte for speed in of_links])
    return {
        "port_delay_ps": np.where(link >= 0, delay[link], 0),
        "port_picoseconds_per_byte": np.where(link >= 0, per_byte[link], 0),
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
