"""Networks as pure data: nodes, links and stages of fat trees and leaf-spines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

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
    k: int
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]

    @property
    def width(self) -> int:
        """Uplinks of an edge or aggregation switch, and hosts of an edge switch: w = k/2."""
        return self.k // 2

    @property
    def levels(self) -> int:
        """Tiers of switches: 3 in a fat tree, 2 in a leaf-spine."""
        return 3 if self.name == "fat-tree" else 2

    @property
    def pods(self) -> int:
        """Pods; the leaves of a leaf-spine count as one."""
        return self.k if self.levels == 3 else 1

    @property
    def edges_per_pod(self) -> int:
        """Edge switches of one pod."""
        return self.width if self.levels == 3 else self.k

    @property
    def edges(self) -> int:
        """Edge switches of the network."""
        return self.pods * self.edges_per_pod

    @property
    def hosts(self) -> int:
        """Hosts of the network."""
        return self.edges * self.width

    @property
    def switches(self) -> range:
        """Numbers of the switches in `nodes`: edges, then aggregations, then cores."""
        return range(self.hosts, len(self.nodes))

    def edge_number(self, node: Node) -> int:
        """Count edge switches over all pods: the number of `node`, or of a host's own edge."""
        within = node.index // self.width if node.tier == "host" else node.index
        return node.pod * self.edges_per_pod + within


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

    Aggregation switch j of every pod reaches the cores l·w + j, l = 0..w-1, through its uplinks
    w + 1 + l. Raises UserError if k is odd or out of range.
    """
    _check_size("fat-tree", k, LARGEST_FAT_TREE)
    w = k // 2
    nodes = (
        *_hosts(pods=k, hosts_per_pod=w * w),
        *(Node(f"e{pod}_{i}", "edge", pod, i, k) for pod in range(k) for i in range(w)),
        *(Node(f"a{pod}_{i}", "aggregation", pod, i, k) for pod in range(k) for i in range(w)),
        *(Node(f"c{i}", "core", -1, i, k) for i in range(w * w)),
    )
    hosts, pod_switches = k * w * w, k * w
    links = (
        *_host_links(hosts, w),
        *(
            Link(hosts + pod * w + edge, w + 1 + j, hosts + pod_switches + pod * w + j, edge + 1)
            for pod in range(k)
            for edge in range(w)
            for j in range(w)
        ),
        *(
            Link(
                hosts + pod_switches + pod * w + j,
                w + 1 + layer,
                hosts + 2 * pod_switches + layer * w + j,
                pod + 1,
            )
            for pod in range(k)
            for j in range(w)
            for layer in range(w)
        ),
    )
    return Topology("fat-tree", k, nodes, links)


def leaf_spine(k: int) -> Topology:
    """Build the two-level network of k leaves with k/2 hosts each, and k/2 spines.

    Leaves are the edge switches of one pod, spines are cores. Raises UserError if k is odd or
    out of range.
    """
    _check_size("leaf-spine", k, LARGEST_LEAF_SPINE)
    w = k // 2
    nodes = (
        *_hosts(pods=1, hosts_per_pod=k * w),
        *(Node(f"e0_{i}", "edge", 0, i, k) for i in range(k)),
        *(Node(f"c{i}", "core", -1, i, k) for i in range(w)),
    )
    links = (
        *_host_links(k * w, w),
        *(
            Link(k * w + leaf, w + 1 + spine, k * w + k + spine, leaf + 1)
            for leaf in range(k)
            for spine in range(w)
        ),
    )
    return Topology("leaf-spine", k, nodes, links)


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


def _hosts(pods: int, hosts_per_pod: int) -> Iterator[Node]:
    for pod in range(pods):
        for index in range(hosts_per_pod):
            yield Node(f"h{pod * hosts_per_pod + index}", "host", pod, index, 1)


def _host_links(hosts: int, width: int) -> Iterator[Link]:
    for host in range(hosts):
        yield Link(host, 0, hosts + host // width, host % width + 1)
