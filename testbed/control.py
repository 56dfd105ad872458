"""The control plane: routing entries from a network and the state of its links.

Every switch knows which links are up, as BGP would tell it. `down` has the switch's children, `up`
all other destinations with the uplinks that lead there beyond the switch, and `place` what is the
switch's own: the addresses below it and the uplinks that are up. See p4/programs/fabric/routing.p4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from testbed.addressing import NETWORK, edge_bytes
from testbed.plan import SwitchSetup, TableEntry

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from numpy.typing import NDArray

    from testbed.topology import Node, Topology

PLACE, DOWN, UP = "Fabric.routing.place", "Fabric.routing.down", "Fabric.routing.up"
LOCATE, DESCEND, ASCEND = (
    "Fabric.routing.locate",
    "Fabric.routing.descend",
    "Fabric.routing.ascend",
)


@dataclass(frozen=True, slots=True)
class LinkState:
    """Which links are up, by place.

    `host[edge number, host]`, `edge[pod, edge, uplink]` and `aggregation[pod, aggregation,
    uplink]`; in a leaf-spine the last is empty.
    """

    host: NDArray[np.bool_]
    edge: NDArray[np.bool_]
    aggregation: NDArray[np.bool_]


def link_state(topology: Topology) -> LinkState:
    """Arrange the state of a network's links, which stand in the order of their lower ends."""
    shape = topology.shape
    up = np.fromiter((link.up for link in topology.links), dtype=np.bool_)
    hosts, above = topology.hosts, shape.edge_uplinks
    uplinks = shape.edges * above
    pods = shape.pods if shape.levels == 3 else 0
    return LinkState(
        host=up[:hosts].reshape(shape.edges, shape.hosts_per_edge),
        edge=up[hosts : hosts + uplinks].reshape(shape.pods, shape.edges_per_pod, above),
        aggregation=up[hosts + uplinks :].reshape(pods, above, shape.aggregation_uplinks),
    )


def aggregations_between(topology: Topology, state: LinkState) -> NDArray[np.bool_]:
    """Tell over which aggregations two pods reach each other: [pod, other pod, aggregation]."""
    if topology.levels == 2:
        return np.ones((topology.pods, topology.pods, topology.uplinks("edge")), dtype=np.bool_)
    up = state.aggregation.transpose(1, 0, 2).astype(np.float32)
    between: NDArray[np.bool_] = (up @ up.transpose(0, 2, 1) > 0).transpose(1, 2, 0)
    between[np.arange(topology.pods), np.arange(topology.pods)] = True
    return between


class Routes:
    """Routing of one network in one state of its links; each plane is routed as if it were alone.

    Destinations are numbered within their plane.
    """

    def __init__(self, topology: Topology) -> None:
        """Work out what all switches have in common."""
        self.topology = topology
        self.state = link_state(topology)
        self.between = aggregations_between(topology, self.state)

    def place(self, node: Node) -> tuple[int, ...]:
        """Return the parameters of `locate` for a switch."""
        topology = self.topology
        match node.tier:
            case "edge":
                uplinks = mask(self.state.edge[node.pod, node.index])
                network = NETWORK + (edge_bytes(node, topology) << 8)
                return (network, 0xFFFFFF00, 0, 8, topology.shape.edges_per_plane, uplinks)
            case "aggregation":
                uplinks = mask(self.state.aggregation[node.pod, node.index])
                network, pods = NETWORK + (node.pod << 16), topology.shape.pods_per_plane
                return (network, 0xFFFF0000, 8, 16, pods, uplinks)
            case _:
                return (NETWORK, 0xFF000000, 16 if topology.levels == 3 else 8, 0, 0, 0)

    def children(self, node: Node) -> NDArray[np.bool_]:
        """Tell which of a switch's children its links reach, by down port."""
        topology, state = self.topology, self.state
        up: NDArray[np.bool_]
        match node.tier:
            case "edge":
                up = state.host[topology.edge_number(node)]
            case "aggregation":
                up = state.edge[node.pod, :, node.index]
            case _:
                layer, j = divmod(node.index % topology.shape.paths, topology.uplinks("edge"))
                if topology.levels == 3:
                    up = state.aggregation[self._pods(node), j, layer]
                else:
                    up = state.edge[topology.plane(node), :, j]
        return up

    def down(self, node: Node) -> list[TableEntry]:
        """Return the entries of `down`; addresses count hosts from 1, all else from 0."""
        first = 1 if node.tier == "edge" else 0
        if node.tier == "core":
            first = self._first_pod(node) << (0 if self.topology.levels == 3 else 8)
        return [
            TableEntry(DOWN, (first + int(child),), DESCEND, (int(child) + 1,))
            for child in np.flatnonzero(self.children(node))
        ]

    def leading(self, node: Node) -> NDArray[np.bool_]:
        """Tell which uplinks lead to each destination beyond the switch: [destination, uplink]."""
        match node.tier:
            case "edge":
                pods: NDArray[np.bool_] = self.between[node.pod][:, None, :] & self.state.edge
                return pods[self._pods(node)].reshape(self.topology.shape.edges_per_plane, -1)
            case "aggregation":
                return self.state.aggregation[self._pods(node), node.index]
            case _:
                return np.zeros((0, 0), dtype=np.bool_)

    def up(self, node: Node) -> list[TableEntry]:
        """Return the entries of `up`; destinations that cannot be reached have none."""
        return [
            TableEntry(UP, (self._group(node, destination),), ASCEND, (destination, uplinks))
            for destination, row in enumerate(self.leading(node))
            if (uplinks := mask(row))
        ]

    def setup(self, node: Node) -> SwitchSetup:
        """Return a switch's routing, nothing shared."""
        return SwitchSetup((*self.down(node), *self.up(node)), {PLACE: (LOCATE, self.place(node))})

    def _first_pod(self, node: Node) -> int:
        """Return the first pod of a switch's plane."""
        return self.topology.plane(node) * self.topology.shape.pods_per_plane

    def _pods(self, node: Node) -> slice:
        """Return the pods of a switch's plane."""
        first = self._first_pod(node)
        return slice(first, first + self.topology.shape.pods_per_plane)

    def _group(self, node: Node, destination: int) -> int:
        first = self._first_pod(node)
        if node.tier == "aggregation":
            return (NETWORK >> 16) + first + destination
        pod, edge = divmod(destination, self.topology.edges_per_pod)
        return (first + pod << 8) + edge


def routing(topology: Topology, programs: Mapping[str, Hashable]) -> dict[str, SwitchSetup]:
    """Return the routing of every switch by name; equal tables of one program are shared."""
    routes = Routes(topology)
    owners: dict[Hashable, str] = {}
    setups = {}
    for number in topology.switches:
        node = topology.nodes[number]
        entries: list[TableEntry] = []
        shared = {}
        for table, make, content in (
            (DOWN, routes.down, routes.children(node)),
            (UP, routes.up, routes.leading(node)),
        ):
            plane = topology.plane(node)
            key = (programs[node.name], table, node.tier, plane, content.tobytes())
            owner = owners.setdefault(key, node.name)
            if owner == node.name:
                entries += make(node)
            else:
                shared[table] = owner
        defaults = {PLACE: (LOCATE, routes.place(node))}
        setups[node.name] = SwitchSetup(tuple(entries), defaults, {}, shared)
    return setups


def mask(uplinks: NDArray[np.bool_]) -> int:
    """Pack uplinks into a number, uplink 0 in the lowest bit."""
    return int.from_bytes(np.packbits(uplinks, bitorder="little").tobytes(), "little")
