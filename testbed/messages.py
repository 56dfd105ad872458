"""What hosts need of a plan: their addresses, and its flows as rows of struct dp_flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from testbed.addressing import ipv4, mac
from testbed.dataplane import ACKNOWLEDGED
from testbed.dataplane.records import dtype_of
from testbed.streams import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from testbed.dataplane import Dataplane
    from testbed.plan import Plan
    from testbed.topology import Topology


def port_counts(topology: Topology) -> NDArray[np.uint32]:
    """Return each node's number of ports as Dataplane wants it; a switch's port 0 leads nowhere."""
    return np.array(
        [node.ports + (node.tier != "host") for node in topology.nodes], dtype=np.uint32
    )


def host_addresses(topology: Topology) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    """Return the IPv4 and MAC addresses of all hosts, in host order."""
    hosts = topology.nodes[: topology.hosts]
    return (
        np.array([ipv4(node, topology) for node in hosts], dtype=np.uint32),
        np.array([mac(node, topology) for node in hosts], dtype=np.uint64),
    )


def set_speeds(dataplane: Dataplane, plan: Plan, nodes: range) -> None:
    """Tell a network, before its links are made, which ports of `nodes` have links of their own."""
    speeds, topology = plan.scenario.speeds, plan.topology
    if speeds.uniform:
        return
    rows = [
        (node, port, speed.picoseconds_per_byte, speed.delay_ps)
        for link in topology.links
        for speed in [
            speeds.between(topology.nodes[link.lower].name, topology.nodes[link.upper].name)
        ]
        for node, port in ((link.lower, link.lower_port), (link.upper, link.upper_port))
        if node in nodes
    ]
    dataplane.set_speeds(*zip(*rows, strict=True))


def flow_rows(plan: Plan) -> tuple[NDArray[np.void], NDArray[np.uint16], NDArray[np.uint32]]:
    """Return a plan's flows as rows of struct dp_flow, and the lists they point to: paths, waits.

    What waits for nobody starts at its host's phase, drawn evenly from one packet time (paper
    App. C), counted from its own start: a host begins its messages in the order of their rows.
    """
    flows = plan.flows
    rows = np.zeros(len(flows), dtype=dtype_of("dp_flow"))
    rows["source"] = flows.source
    rows["destination"] = flows.destination
    rows["bytes"] = flows.size_bytes
    waits = flows.after
    rows["after_first"], rows["after_count"] = waits.first[:-1], waits.count
    rows["start_ps"] = flows.start_ps + np.where(waits.count == 0, _phases(plan)[flows.source], 0)
    rows["delay_ps"] = flows.delay_ps
    rows["subflows"] = 1
    rows["routes"] = _routes(plan)
    pairs = flows.source * plan.topology.hosts + flows.destination
    rows["pair"] = np.unique(pairs, return_inverse=True)[1]
    after = (waits.flow + ACKNOWLEDGED * waits.acknowledged).astype(np.uint32)
    if plan.paths is None:
        return rows, np.zeros(0, dtype=np.uint16), after
    rows["path_first"] = plan.paths.first
    rows["path_count"] = plan.paths.count
    rows["subflows"] = plan.paths.subflows
    return rows, plan.paths.numbers, after


def _routes(plan: Plan) -> NDArray[np.int64]:
    """Return how many shortest paths each flow has in the network without failures."""
    topology = plan.topology
    edges = np.stack((plan.flows.source, plan.flows.destination)) // topology.hosts_per_edge
    pods = edges // topology.edges_per_pod
    within = np.where(edges[0] == edges[1], 1, topology.uplinks("edge"))
    return np.where(pods[0] == pods[1], within, topology.shape.paths)


def _phases(plan: Plan) -> NDArray[np.int64]:
    scenario = plan.scenario
    packet_time = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes)
    return stream(scenario.seed, "phases").integers(0, packet_time, size=plan.topology.hosts)
