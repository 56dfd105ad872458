"""Paths that hosts choose themselves: DRB rotates over them, Ethereal pins subflows to them.

Hosts of these schemes know which links are up (paper §3.4). A path is numbered by its turning
point, see p4/programs/path_id.p4. Cores count with the aggregation fastest, so that consecutive
packets of a rotation leave an edge switch through different uplinks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from testbed.control import Routes
from testbed.failures import valid_paths
from testbed.plan import HostPaths
from testbed.streams import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from testbed.topology import Topology
    from traffic.flows import Flows


def rotation(topology: Topology, flows: Flows, _seed: int) -> HostPaths:
    """Give every flow all its valid paths, in the order in which DRB rotates over them."""
    numbers, lists = _path_lists(topology, flows)
    counts = np.array([len(paths) for paths in lists], dtype=np.int64)
    first = np.cumsum(counts) - counts
    whole = np.ones(len(flows), dtype=np.int64)
    return HostPaths(first[numbers], counts[numbers], _joined(lists), whole)


def pinning(topology: Topology, flows: Flows, seed: int) -> HostPaths:
    """Give every flow the paths of its subflows, one each, in random order (paper §3.4).

    Of a host's q flows that share the same s paths, Ethereal leaves floor(q/s)·s whole and deals
    them out evenly; each of the r that are left becomes s/gcd(r, s) equal subflows.
    """
    numbers, lists = _path_lists(topology, flows)
    random = stream(seed, "subflows")
    keys = flows.source * len(lists) + numbers
    order = np.argsort(keys, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else []
    counts = np.ones(len(flows), dtype=np.int64)
    dealt: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * len(flows)
    for group in groups:
        paths = random.permutation(lists[numbers[group[0]]])
        counts[group] = _pieces(len(group), len(paths))
        counts[group] = np.minimum(counts[group], np.maximum(flows.size_bytes[group], 1))
        after = np.cumsum(counts[group])
        for flow, last, count in zip(group, after, counts[group], strict=True):
            dealt[flow] = paths[np.arange(last - count, last) % len(paths)]
    return HostPaths(np.cumsum(counts) - counts, counts, _joined(dealt), counts)


def _pieces(flows: int, paths: int) -> NDArray[np.int64]:
    """Return into how many subflows each of a host's alike flows is split."""
    left = flows % paths
    pieces = np.ones(flows, dtype=np.int64)
    pieces[flows - left :] = paths // math.gcd(left, paths)
    return pieces


def _joined(lists: list[NDArray[np.int64]]) -> NDArray[np.uint16]:
    return np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.uint16)


def _path_lists(
    topology: Topology, flows: Flows
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return the different lists of paths, and each flow's number in them."""
    routes = Routes(topology)
    edges = np.stack((flows.source, flows.destination)) // topology.hosts_per_edge
    if all(link.up for link in topology.links):
        pods = edges // topology.edges_per_pod
        keys = np.where(edges[0] == edges[1], 0, np.where(pods[0] == pods[1], 1, 2))
    else:
        keys = edges[0] * topology.edges + edges[1]
    _, examples, numbers = np.unique(keys, return_index=True, return_inverse=True)
    lists = [
        valid_paths(routes, int(flows.source[flow]), int(flows.destination[flow]))
        for flow in examples
    ]
    return numbers, lists
