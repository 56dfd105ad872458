"""What each kind of scheme needs written into a switch before a run, besides routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from testbed.orders import basis
from testbed.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


def nothing(_site: Site) -> State:
    """Set up a program that needs nothing."""
    return State()


def hash_salt(site: Site) -> State:
    """Give the switch an odd random multiplier for its hash."""
    multiplier = int(site.random("salts").integers(0, 1 << 31)) * 2 + 1
    return State({f"{BALANCE}.salt": (f"{BALANCE}.hash_flow", (multiplier,))})


def one_pointer(site: Site) -> State:
    """Start the switch's only pointer anywhere."""
    start = int(site.random("pointers").integers(site.topology.width))
    return State(registers={f"{BALANCE}.pointer": (start,)})


def rotation(site: Site) -> State:
    """Start a pointer anywhere per destination; ACKs start half a round after data.

    Paper §4.1. Pipes, where a scheme has them, have pointers of their own (paper §5.1).
    """
    width = site.topology.width
    pipes = -(-width // int(site.parameters.get("pipe_ports", width)))
    data = site.random("pointers").integers(width, size=(pipes, 1, site.destinations))
    both = np.concatenate((data, (data + width // 2) % width), axis=1).astype(np.uint8)
    registers: dict[str, Sequence[int]] = {f"{BALANCE}.rotation.order": bytes(basis(width))}
    if site.destinations:
        registers[f"{BALANCE}.rotation.pointers"] = both.tobytes()
    return State(registers=registers)
