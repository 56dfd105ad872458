"""Link failures: which links fail, which paths are left, and what load they carry at most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from testbed.control import Routes
from testbed.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from testbed.topology import Topology
    from traffic.flows import Flows
    from traffic.readers.connection_matrix import Failure

_PAIRS_AT_ONCE = 4096


def fail_links(topology: Topology, probability: float, seed: int) -> Topology:
    """Take each link between switches down with a probability (paper §6.2)."""
    drawn = stream(seed, "failures").random(len(topology.links)) < probability
    links = tuple(
        replace(link, up=False) if failed and link.lower >= topology.hosts else link
        for link, failed in zip(topology.links, drawn, strict=True)
    )
    return replace(topology, links=links)


def take_down(topology: Topology, failures: Sequence[Failure]) -> Topology:
    """Take links down that a file names: by tier, switch and uplink (a core's link), from 0.

    Raises UserError if there is no such link.
    """
    if not failures:
        return topology
    links = list(topology.links)
    for failure in failures:
        number = _number_of_link(topology, failure)
        links[number] = replace(links[number], up=False)
    return replace(topology, links=tuple(links))


def _number_of_link(topology: Topology, failure: Failure) -> int:
    tier = [number for number in topology.switches if topology.nodes[number].tier == failure.tier]
    if failure.switch < len(tier):
        ends = [
            (link.upper, link.upper_port, number)
            if failure.tier == "core"
            else (link.lower, link.lower_port, number)
            for number, link in enumerate(topology.links)
        ]
        own = sorted((port, number) for end, port, number in ends if end == tier[failure.switch])
        if failure.link < len(own):
            return own[failure.link][1]
    raise UserError(
        f"failure {failure.tier} {failure.switch} {failure.link}: there is no such link"
    )


def set_link(topology: Topology, one: str, other: str, *, up: bool) -> Topology:
    """Take the link between two nodes down or up; raises UserError if there is none."""
    names = {one, other}
    links = list(topology.links)
    for place, link in enumerate(links):
        if {topology.nodes[link.lower].name, topology.nodes[link.upper].name} == names:
            links[place] = replace(link, up=up)
            return replace(topology, links=tuple(links))
    raise UserError(f"there is no link between {one} and {other}")


def valid_paths(routes: Routes, source: int, destination: int) -> NDArray[np.int64]:
    """List the numbers of the shortest paths between two hosts that have no failed link.

    A path is numbered by its turning point as in p4/programs/path_id.p4: a core, an aggregation of
    the pod, or a spine. Hosts of one edge switch have the one path 0.
    """
    topology, state = routes.topology, routes.state
    first, last = topology.nodes[source], topology.nodes[destination]
    if topology.edge_number(first) == topology.edge_number(last):
        return np.zeros(1, dtype=np.int64)
    below = topology.hosts_per_edge
    up = state.edge[first.pod, first.index // below] & state.edge[last.pod, last.index // below]
    if first.pod == last.pod:
        return np.flatnonzero(up)
    cores = state.aggregation[first.pod] & state.aggregation[last.pod] & up[:, None]
    return np.flatnonzero(cores.T)


def highest_load(topology: Topology, flows: Flows) -> float:
    """Return rho_max: the load at which the busiest link is full (paper §2.2).

    Every flow is spread evenly over its valid shortest paths, and a host's flows share its rate in
    proportion to their sizes. Without failed links it is 1, and in a network of the user's own it
    is what failures leave of what the whole network carries. Raises UserError if a flow has no
    path left.
    """
    if all(link.up for link in topology.links):
        return 1.0
    carried = 1.0
    if not topology.shape.k:
        links = tuple(replace(link, up=True) for link in topology.links)
        carried = max(carried, _busiest(replace(topology, links=links), flows))
    return carried / max(carried, _busiest(topology, flows))


def _busiest(topology: Topology, flows: Flows) -> float:
    """Return the load of the busiest link when hosts send at their full rate."""
    edge_pairs, rates = _rates_between_edges(topology, flows)
    loads = _LinkLoads(topology)
    for start in range(0, len(rates), _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        loads.add(edge_pairs[:, part], rates[part])
    return loads.highest()


class _LinkLoads:
    """Loads of all links between switches, as shares of their rate, while flows are added."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.state = Routes(topology).state
        edges, above = topology.edges, topology.uplinks("edge")
        self.edge = np.zeros((2, edges, above))
        self.aggregation = np.zeros((2, topology.pods, above, topology.uplinks("aggregation")))

    def add(self, pairs: NDArray[np.int64], rates: NDArray[np.float64]) -> None:
        """Add flows between pairs of different edge switches: [2, pair]."""
        pods = pairs // self.topology.edges_per_pod
        local = pods[0] == pods[1]
        self._add_local(pairs[:, local], rates[local])
        if not local.all():
            self._add_remote(pairs[:, ~local], pods[:, ~local], rates[~local])

    def highest(self) -> float:
        """Return the load of the busiest link."""
        return float(max(self.edge.max(), self.aggregation.max(initial=0)))

    def _add_local(self, pairs: NDArray[np.int64], rates: NDArray[np.float64]) -> None:
        up = self.state.edge.reshape(self.topology.edges, -1)
        paths = up[pairs[0]] & up[pairs[1]]
        share = self._share(paths, paths.sum(axis=1), pairs, rates)
        for direction in (0, 1):
            np.add.at(self.edge[direction], pairs[direction], share)

    def _add_remote(
        self, pairs: NDArray[np.int64], pods: NDArray[np.int64], rates: NDArray[np.float64]
    ) -> None:
        up = self.state.edge.reshape(self.topology.edges, -1)
        both = self.state.aggregation[pods[0]] & self.state.aggregation[pods[1]]
        paths = both & (up[pairs[0]] & up[pairs[1]])[:, :, None]
        share = self._share(paths, paths.sum(axis=(1, 2)), pairs, rates)
        for direction in (0, 1):
            np.add.at(self.edge[direction], pairs[direction], share.sum(axis=2))
            np.add.at(self.aggregation[direction], pods[direction], share)

    def _share(
        self,
        paths: NDArray[np.bool_],
        count: NDArray[np.int64],
        pairs: NDArray[np.int64],
        rates: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        if not count.all():
            cut = int(np.argmin(count))
            names = [self.topology.nodes[self.topology.hosts + end].name for end in pairs[:, cut]]
            raise UserError(
                f"failures leave no path from {names[0]} to {names[1]}; take another seed or "
                "a lower probability"
            )
        shape = (-1,) + (1,) * (paths.ndim - 1)
        return paths * (rates / count).reshape(shape)


def _rates_between_edges(
    topology: Topology, flows: Flows
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sum the rates of flows by their pair of different edge switches."""
    totals = np.bincount(flows.source, weights=flows.size_bytes, minlength=topology.hosts)
    rates = flows.size_bytes / np.maximum(totals[flows.source], 1)
    ends = np.stack((flows.source, flows.destination)) // topology.hosts_per_edge
    leaves = ends[0] != ends[1]
    keys = ends[0, leaves] * topology.edges + ends[1, leaves]
    distinct, inverse = np.unique(keys, return_inverse=True)
    pairs = np.stack((distinct // topology.edges, distinct % topology.edges))
    return pairs, np.asarray(np.bincount(inverse, weights=rates[leaves]), dtype=np.float64)
