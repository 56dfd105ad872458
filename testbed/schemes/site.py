"""A switch whose state is to be set up, and that state: what schemes need besides routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from testbed.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from testbed.scenario import Scenario
    from testbed.topology import Node, Topology

BALANCE = "Fabric.balance"
Defaults = dict[str, tuple[str, tuple[int, ...]]]


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
