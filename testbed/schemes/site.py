"""A switch whose state is to be set up, and that state: what schemes need besides routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from errors import UserError
from testbed.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from testbed.scenario import Scenario
    from testbed.topology import Node, Tier, Topology

BALANCE = "Fabric.balance"
Defaults = dict[str, tuple[str, tuple[int, ...]]]


def program_ports(topology: Topology, tier: Tier) -> tuple[int, int]:
    """Return how many ports up and down the program of a tier's switches knows.

    A core, which has no uplinks, takes the program of the tier below if that knows ports enough.
    """
    if tier != "core":
        return topology.uplinks(tier), topology.downlinks(tier)
    below = program_ports(topology, "aggregation" if topology.levels == 3 else "edge")
    return below if sum(below) >= topology.shape.core_ports else (1, topology.shape.core_ports)


@dataclass(frozen=True, slots=True)
class Site:
    """A switch whose state is to be set up, and all that its state may depend on.

    `number` is the switch's place in topology.nodes, `parameters` the scheme's own with their
    defaults filled in, `uplinks` the mask of uplinks that are up, `tick_ps` the unit of the
    programs' timestamps.
    """

    topology: Topology
    number: int
    uplinks: int
    scenario: Scenario
    parameters: Mapping[str, float]
    tick_ps: int

    @property
    def node(self) -> Node:
        """The switch itself."""
        return self.topology.nodes[self.number]

    @property
    def width(self) -> int:
        """Uplinks that this switch's program tells apart."""
        return program_ports(self.topology, self.node.tier)[0]

    @property
    def picoseconds_per_byte(self) -> float:
        """Time a byte takes on this switch's uplinks; on its links down at a core.

        Raises UserError if they are not alike: the program that asks knows one rate only.
        """
        speeds = self.scenario.speeds
        if not speeds.links:
            tiers = {"edge": "edge", "aggregation": "core"}
            tier = tiers.get(self.node.tier, "core" if self.topology.levels == 3 else "edge")
            return speeds.tiers[tier].picoseconds_per_byte
        rates = {
            speeds.between(
                self.topology.nodes[link.lower].name, self.topology.nodes[link.upper].name
            )
            for link in self.topology.links
            if self.number == (link.upper if self.node.tier == "core" else link.lower)
        }
        found = {speed.rate_gbps for speed in rates}
        if len(found) > 1 and self.node.tier != "core":
            told = " and ".join(f"{rate:g}" for rate in sorted(found))
            raise UserError(
                f"{self.scenario.scheme}: its program knows one rate for all uplinks of a switch; "
                f"{self.node.name} has {told} Gb/s"
            )
        return 8000 / max(found)

    @property
    def destinations(self) -> int:
        """Destinations that this switch tells apart: edges, pods, or none at a core."""
        shape = self.topology.shape
        sizes = {"edge": shape.edges_per_plane, "aggregation": shape.pods_per_plane}
        return sizes.get(self.node.tier, 0)

    def random(self, name: str) -> np.random.Generator:
        """Return this switch's own stream of a name."""
        return stream(self.scenario.seed, name, self.number)


@dataclass(frozen=True, slots=True)
class State:
    """Default actions and register values of one switch, by P4 name."""

    defaults: Defaults = field(default_factory=dict)
    registers: dict[str, Sequence[int]] = field(default_factory=dict)
