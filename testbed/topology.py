"""Networks as pure data: nodes, links and stages of fat trees and leaf-spines of any shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from errors import UserError
from testbed.scenario.shape import k_ary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from testbed.scenario import Shape

Tier = Literal["host", "edge", "aggregation", "core"]
LARGEST_FAT_TREE = 254
LARGEST_LEAF_SPINE = 510
_LETTER = {"host": "H", "edge": "E", "aggregation": "A", "core": "C"}


@dataclass(frozen=True, slots=True)
class Node:
    """A host or switch. `pod` is -1 for cores; `index` counts within the pod, or the tier."""

    name: str
    tier: Tier
    pod: int
    index: int
    ports: int


@dataclass(frozen=True, slots=True)
class Link:
    """A cable: (lower node, its port) to (upper node, its port), numbers into Topology.nodes."""

    lower: int
    lower_port: int
    upper: int
    upper_port: int
    up: bool = True


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes and links; hosts come first, so that a host's number is its place in `nodes`."""

    name: str
    shape: Shape
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @property
    def levels(self) -> int:
        """Tiers of switches: 3 in a fat tree, 2 in a leaf-spine."""
        return self.shape.levels

    @property
    def pods(self) -> int:
        """Pods of all planes; the leaves of a leaf-spine count as one."""
        return self.shape.pods

    def plane(self, node: Node) -> int:
        """Return the plane that a node is in."""
        if node.tier == "core":
            return node.index // self.shape.paths
        return node.pod // self.shape.pods_per_plane

    @property
    def edges_per_pod(self) -> int:
        """Edge switches of one pod."""
        return self.shape.edges_per_pod

    @property
    def edges(self) -> int:
        """Edge switches of the network."""
        return self.shape.edges

    @property
    def hosts_per_edge(self) -> int:
        """Hosts of one edge switch."""
        return self.shape.hosts_per_edge

    @property
    def hosts(self) -> int:
        """Hosts of the network."""
        return self.shape.hosts

    @property
    def switches(self) -> range:
        """Numbers of the switches in `nodes`: edges, then aggregations, then cores."""
        return range(self.hosts, len(self.nodes))

    def edge_number(self, node: Node) -> int:
        """Count edge switches over all pods: the number of `node`, or of a host's own edge."""
        within = node.index // self.hosts_per_edge if node.tier == "host" else node.index
        return node.pod * self.edges_per_pod + within

    def uplinks(self, tier: Tier) -> int:
        """Count the ports up of a switch of a tier."""
        sizes = {
            "edge": self.shape.edge_uplinks,
            "aggregation": self.shape.aggregation_uplinks,
        }
        return sizes.get(tier, 0)

    def downlinks(self, tier: Tier) -> int:
        """Count the ports down of a switch of a tier."""
        sizes = {"edge": self.shape.hosts_per_edge, "aggregation": self.shape.edges_per_pod}
        return sizes.get(tier, self.shape.core_ports)


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Who is behind each port: row `first[node] + port` of `peer`, `peer_port` and `link`.

    A port without a cable (port 0 of a switch) has peer -1.
    """

    first: NDArray[np.int64]
    peer: NDArray[np.int64]
    peer_port: NDArray[np.int64]
    link: NDArray[np.int64]

    def beyond(self, node: int, port: int) -> int:
        """Return the node behind `port` of `node`, or -1."""
        return int(self.peer[self.first[node] + port])


def make_topology(name: str, k: int) -> Topology:
    """Build the network called `fat-tree` or `leaf-spine`; raises UserError for others."""
    match name:
        case "fat-tree":
            return fat_tree(k)
        case "leaf-spine":
            return leaf_spine(k)
        case _:
            raise UserError(f"topology {name}: there are fat-tree and leaf-spine")


def fat_tree(k: int) -> Topology:
    """Build the three-level k-ary fat tree: k pods, k³/4 hosts, k²/4 cores.

    Raises UserError if k is odd or out of range.
    """
    _check_size("fat-tree", k, LARGEST_FAT_TREE)
    return build(k_ary("fat-tree", k))


def leaf_spine(k: int) -> Topology:
    """Build the two-level network of k leaves with k/2 hosts each, and k/2 spines.

    Raises UserError if k is odd or out of range.
    """
    _check_size("leaf-spine", k, LARGEST_LEAF_SPINE)
    return build(k_ary("leaf-spine", k))


def build(shape: Shape) -> Topology:
    """Build the network of a shape: its links stand in the order of their lower ends and ports.

    Aggregation switch j of every pod reaches the cores l·A + j through its uplinks l = 0, 1, ...,
    where A is the number of aggregations of a pod. The leaves of a leaf-spine are the edge switches
    of its one pod, the spines are cores. Of several planes, those of the first come first in every
    tier.
    """
    edge_ports = shape.hosts_per_edge + shape.edge_uplinks
    aggregation_ports = shape.edges_per_pod + shape.aggregation_uplinks
    pods, per_pod, uplinks = range(shape.pods), shape.edges_per_pod, shape.edge_uplinks
    nodes = [
        Node(f"h{pod * shape.hosts_per_pod + i}", "host", pod, i, 1)
        for pod in pods
        for i in range(shape.hosts_per_pod)
    ]
    nodes += [
        Node(f"e{pod}_{i}", "edge", pod, i, edge_ports) for pod in pods for i in range(per_pod)
    ]
    if shape.levels == 3:
        nodes += [
            Node(f"a{pod}_{i}", "aggregation", pod, i, aggregation_ports)
            for pod in pods
            for i in range(uplinks)
        ]
    nodes += [Node(f"c{i}", "core", -1, i, shape.core_ports) for i in range(shape.cores)]
    name = "fat-tree" if shape.levels == 3 else "leaf-spine"
    return Topology(name, shape, tuple(nodes), tuple(_links(shape)))


def _links(shape: Shape) -> Iterator[Link]:
    """List the links of hosts, of edges and of aggregations, each in the order of their ports."""
    below, uplinks = shape.hosts_per_edge, shape.edge_uplinks
    edges, aggregations = shape.hosts, shape.hosts + shape.edges
    cores = aggregations + shape.aggregations
    for host in range(shape.hosts):
        yield Link(host, 0, edges + host // below, host % below + 1)
    for edge in range(shape.edges):
        pod, within = divmod(edge, shape.edges_per_pod)
        above = aggregations if shape.levels == 3 else cores
        for j in range(uplinks):
            yield Link(edges + edge, below + 1 + j, above + pod * uplinks + j, within + 1)
    for aggregation in range(shape.aggregations):
        pod, j = divmod(aggregation, uplinks)
        plane, port = divmod(pod, shape.pods_per_plane)
        for layer in range(shape.aggregation_uplinks):
            core = cores + plane * shape.paths + layer * uplinks + j
            yield Link(aggregations + aggregation, shape.edges_per_pod + 1 + layer, core, port + 1)


def adjacency(topology: Topology) -> Adjacency:
    """Index the links of a network by node and port, links that are down included."""
    ports = np.array([node.ports + (node.tier != "host") for node in topology.nodes])
    first = np.concatenate(([0], np.cumsum(ports)))
    peer, peer_port, link = (np.full(int(first[-1]), -1, dtype=np.int64) for _ in range(3))
    ends = np.array(
        [(ln.lower, ln.lower_port, ln.upper, ln.upper_port) for ln in topology.links],
        dtype=np.int64,
    )
    lower, lower_port, upper, upper_port = ends.T
    below, above = first[lower] + lower_port, first[upper] + upper_port
    peer[below], peer[above] = upper, lower
    peer_port[below], peer_port[above] = upper_port, lower_port
    link[below] = link[above] = np.arange(len(ends))
    return Adjacency(first, peer, peer_port, link)


def stage(sender: Tier, receiver: Tier) -> str:
    """Name a directed link by the tiers of its ends, such as `E-A`."""
    return f"{_LETTER[sender]}-{_LETTER[receiver]}"


def stages(topology: Topology) -> tuple[str, ...]:
    """List the stages of a network in the order in which a packet crosses it."""
    if topology.levels == 3:
        return ("H-E", "E-A", "A-C", "C-A", "A-E", "E-H")
    return ("H-E", "E-C", "C-E", "E-H")


def interface(node: Node, port: int) -> str:
    """Name the network interface of a node's port."""
    return f"{node.name}-eth{port}"


def _check_size(name: str, k: int, largest: int) -> None:
    if k < 4 or k % 2 or k > largest:
        raise UserError(f"{name} with k = {k}: k must be even, from 4 to {largest}")
