"""The shape of a network: how many nodes each tier has, and how fast the links between them are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError, near

if TYPE_CHECKING:
    from collections.abc import Mapping

COUNTS = {
    "fat-tree": ("pods", "edges", "hosts", "aggregations", "cores"),
    "leaf-spine": ("edges", "hosts", "spines"),
}
"""What a network of the user's own is given by, of each plane; see docs/networks.md."""
PLANES = "planes"
LARGEST = {
    "planes": 64,
    "pods": 256,
    "edges": 254,
    "hosts": 254,
    "aggregations": 255,
    "cores": 65_025,
    "spines": 255,
}
LARGEST_LEAVES = 510
LARGEST_LEAVES_IN_PLANES = 256


@dataclass(frozen=True, slots=True)
class Shape:
    """A fat tree (3 levels of switches) or leaf-spine (2), whose tiers may be of any size.

    An edge switch has `hosts_per_edge` ports down and `edge_uplinks` up, one to each aggregation
    switch of its pod, or to each spine. An aggregation has `edges_per_pod` down and
    `aggregation_uplinks` up, to as many cores of its own. `k` is 0 but in k-ary networks.

    Several `planes` are as many such networks beside each other, alike and without a link between
    them; `pods` and all else that is of the network counts those of all planes. A leaf-spine is
    one pod. A host with a NIC in each plane counts as that many hosts: machine m's NIC in plane p
    is host m + p · hosts_per_plane.
    """

    levels: int
    pods: int
    edges_per_pod: int
    hosts_per_edge: int
    edge_uplinks: int
    aggregation_uplinks: int = 0
    k: int = 0
    planes: int = 1

    @property
    def pods_per_plane(self) -> int:
        """Pods of a plane."""
        return self.pods // self.planes

    @property
    def edges_per_plane(self) -> int:
        """Edge switches of a plane."""
        return self.edges // self.planes

    @property
    def hosts_per_plane(self) -> int:
        """Hosts of a plane: the machines, where each has a NIC in every plane."""
        return self.hosts // self.planes

    @property
    def edges(self) -> int:
        """Edge switches of the network."""
        return self.pods * self.edges_per_pod

    @property
    def hosts_per_pod(self) -> int:
        """Hosts of a pod."""
        return self.edges_per_pod * self.hosts_per_edge

    @property
    def hosts(self) -> int:
        """Hosts of the network."""
        return self.edges * self.hosts_per_edge

    @property
    def aggregations(self) -> int:
        """Aggregation switches of the network."""
        return self.pods * self.edge_uplinks if self.levels == 3 else 0

    @property
    def cores(self) -> int:
        """Cores of the network; spines where there are two levels."""
        return self.planes * self.paths

    @property
    def core_ports(self) -> int:
        """Ports of a core: one for each pod of its plane, or of a spine: one for each edge."""
        return self.pods_per_plane if self.levels == 3 else self.edges_per_plane

    @property
    def switches(self) -> int:
        """Switches of the network."""
        return self.edges + self.aggregations + self.cores

    @property
    def switch_ports(self) -> int:
        """Ports of all switches together."""
        return (
            self.edges * (self.hosts_per_edge + self.edge_uplinks)
            + self.aggregations * (self.edges_per_pod + self.aggregation_uplinks)
            + self.cores * self.core_ports
        )

    @property
    def paths(self) -> int:
        """Shortest paths between hosts that are farthest from each other."""
        return self.edge_uplinks * (self.aggregation_uplinks if self.levels == 3 else 1)

    @property
    def text(self) -> str:
        """The shape in words: `k = 4`, or what each tier has."""
        if self.k:
            return f"k = {self.k}"
        planes = f"{self.planes} planes of " if self.planes > 1 else ""
        edges = f"{self.edges_per_pod} edges x {self.hosts_per_edge} hosts"
        if self.levels == 2:
            return f"{planes}{edges}, {self.paths} spines"
        pods = f"{planes}{self.pods_per_plane} pods x {edges}"
        return f"{pods}, {self.edge_uplinks} aggregations, {self.paths} cores"

    @property
    def hosts_text(self) -> str:
        """How many hosts there are, in words."""
        hosts = f"{self.hosts_per_plane:,} hosts"
        return hosts if self.planes == 1 else f"{hosts} with {self.planes} NICs each"


def k_ary(topology: str, k: int) -> Shape:
    """Return the shape of the k-ary fat tree, or of the leaf-spine of k leaves."""
    w = k // 2
    if topology == "leaf-spine":
        return Shape(2, 1, k, w, w, k=k)
    return Shape(3, k, w, w, w, w, k=k)


def given(topology: str, network: Mapping[str, float]) -> Shape:
    """Return the shape that a table of counts describes: see COUNTS.

    Raises UserError naming a count that is missing, unknown or wrong.
    """
    planes = _count(topology, PLANES, network) if PLANES in network else 1
    counts = {name: _count(topology, name, network) for name in COUNTS[topology]}
    if topology == "leaf-spine":
        if planes > 1 and counts["edges"] > LARGEST_LEAVES_IN_PLANES:
            raise UserError(f"edges = {counts['edges']}: a plane of several has at most 256")
        return Shape(2, planes, counts["edges"], counts["hosts"], counts["spines"], planes=planes)
    if planes * counts["pods"] > LARGEST["pods"]:
        raise UserError(
            f"pods = {counts['pods']}: {planes} planes of so many are {planes * counts['pods']} "
            f"pods; there are addresses for {LARGEST['pods']}"
        )
    uplinks, rest = divmod(counts["cores"], counts["aggregations"])
    if rest or uplinks > LARGEST["aggregations"]:
        raise UserError(
            f"cores = {counts['cores']}: every aggregation switch has as many cores of its own, at "
            f"most 255; it must be a multiple of aggregations ({counts['aggregations']})"
        )
    return Shape(
        3,
        planes * counts["pods"],
        counts["edges"],
        counts["hosts"],
        counts["aggregations"],
        uplinks,
        planes=planes,
    )


def _count(topology: str, name: str, network: Mapping[str, float]) -> int:
    if name not in network:
        hint = near(name, [other for other in network if other not in (*COUNTS[topology], PLANES)])
        raise UserError(f"{name} is missing: how many there are{hint}")
    value = network[name]
    least = 2 if name == "pods" or (name == "edges" and topology == "leaf-spine") else 1
    most = LARGEST_LEAVES if least == 2 and name == "edges" else LARGEST[name]
    if value != int(value) or not least <= value <= most:
        raise UserError(
            f"{name} = {value:g}: it must be a whole number of at least {least} and at most {most}"
        )
    return int(value)
