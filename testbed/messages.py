"""What hosts need of a plan: their addresses, and its flows as rows of struct dp_flow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from testbed.addressing import ipv4, mac
from testbed.control import Routes
from testbed.dataplane.records import dtype_of
from testbed.failures import valid_paths
from testbed.streams import stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from testbed.plan import Plan
    from testbed.topology import Topology

PATH_POLICIES = ("drb", "ethereal")


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


def flow_rows(plan: Plan) -> tuple[NDArray[np.void], NDArray[np.uint16]]:
    """Return a plan's flows as rows of struct dp_flow, and the path ids that they point to.

    Flows that wait for nobody start at a phase drawn evenly from one packet time (paper App. C).
    Path ids are listed for the policies that choose paths; Ethereal's flows are split as well.
    """
    flows = plan.flows
    rows = np.zeros(len(flows), dtype=dtype_of("dp_flow"))
    rows["source"] = flows.source
    rows["destination"] = flows.destination
    rows["bytes"] = flows.size_bytes
    rows["after"] = flows.after
    rows["start_ps"] = np.where(flows.after < 0, _phases(plan), 0)
    rows["subflows"] = 1
    pairs = flows.source * plan.topology.hosts + flows.destination
    rows["pair"] = np.unique(pairs, return_inverse=True)[1]
    if plan.hosts.entropy not in PATH_POLICIES:
        return rows, np.zeros(0, dtype=np.uint16)
    groups, lists = _path_lists(plan)
    if plan.hosts.entropy == "ethereal":
        return rows, _split(plan, rows, groups, lists)
    lengths = np.array([len(paths) for paths in lists])
    rows["path_first"] = (np.cumsum(lengths) - lengths)[groups]
    rows["path_count"] = lengths[groups]
    return rows, np.concatenate(lists).astype(np.uint16)


def _phases(plan: Plan) -> NDArray[np.int64]:
    scenario = plan.scenario
    packet_time = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes)
    return stream(scenario.seed, "phases").integers(0, packet_time, size=len(plan.flows))


def _path_lists(plan: Plan) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return which list of paths each flow has, and the lists: one per kind of pair of edges."""
    topology, flows = plan.topology, plan.flows
    width, edges_per_pod = topology.width, topology.edges_per_pod
    first, last = flows.source // width, flows.destination // width
    if all(link.up for link in topology.links):
        same_pod = first // edges_per_pod == last // edges_per_pod
        kinds = np.where(first == last, 0, np.where(same_pod, 1, 2))
    else:
        kinds = first * topology.edges + last
    _, examples, groups = np.unique(kinds, return_index=True, return_inverse=True)
    routes = Routes(topology)
    lists = [
        valid_paths(routes, int(flows.source[flow]), int(flows.destination[flow]))
        for flow in examples
    ]
    return groups, lists


def _split(
    plan: Plan,
    rows: NDArray[np.void],
    groups: NDArray[np.int64],
    lists: list[NDArray[np.int64]],
) -> NDArray[np.uint16]:
    """Split flows as Ethereal does (paper §3.4, App. E), and return their path ids.

    Of a host's q flows with the same s paths, as many as can be spread evenly stay whole, one path
    each; each of the r = q mod s others becomes s / gcd(r, s) subflows of equal size. The paths are
    taken in an order drawn for each host, in which its NIC serves its queue pairs too.
    """
    random = stream(plan.scenario.seed, "subflows")
    orders: list[NDArray[np.int64]] = []
    begin = 0
    for members in _by_host_and_list(plan, groups):
        paths = random.permutation(lists[int(groups[members[0]])])
        place, count = _shares(len(members), len(paths))
        rows["path_first"][members] = begin + place
        rows["path_count"][members] = count
        rows["subflows"][members] = np.minimum(count, rows["bytes"][members])
        orders.append(paths)
        begin += len(paths)
    return np.concatenate(orders).astype(np.uint16)


def _shares(flows: int, paths: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where in a list of paths each of some flows begins, and into how many it is split."""
    left = flows % paths
    pieces = paths // math.gcd(left, paths) if left else 1
    number = np.arange(flows)
    whole = number < flows - left
    place = np.where(whole, number, (number - (flows - left)) * pieces) % paths
    return place, np.where(whole, 1, pieces)


def _by_host_and_list(plan: Plan, groups: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Go through the flows that share their source and their list of paths."""
    keys = plan.flows.source * (int(groups.max(initial=0)) + 1) + groups
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    yield from (members for members in np.split(order, cuts) if len(members))
