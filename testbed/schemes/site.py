"""A switch whose state is to be set up, and that state: what schemes need besides routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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
    def destinations(self) -> int:
        """Destinations that this switch tells apart: edges, pods, or none at a core."""
        sizes = {"edge": self.topology.edges, "aggregation": self.topology.pods}
        return sizes.get(self.node.tier, 0)

    def random(self, name: str) -> np.random.Generator:
        """Return this switch's own stream of a name."""
        return stream(self.scenario.seed, name, self.number)


@dataclass(frozen=True, slots=True)
class State:
    """Default actions and register values of one switch, by P4 name."""

    defaults: Defaults = field(default_factory=dict)
    registers: dict[str, Sequence[int]] = field(default_factory=dict)
