"""What hosts do in a network: the registry of entropies, the hosts' half of a scheme.

An entropy is how hosts choose the UDP source port of their frames; the event core has each under
the same name (testbed/dataplane/policy.c).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError
from testbed import paths
from testbed.parameters import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from testbed.plan import HostPaths
    from testbed.topology import Topology
    from traffic.flows import Flows


@dataclass(frozen=True, slots=True)
class Entropy:
    """How hosts choose the entropy of their frames.

    `paths` works out the paths that each flow's source may name, from the network, the flows and
    the seed, where hosts name paths; `needs_ecn` says that hosts read marks from ACKs.
    """

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    paths: Callable[[Topology, Flows, int], HostPaths] | None = None
    needs_ecn: bool = False


RECYCLING = (
    Parameter("values", 16_000, "entropy values to draw from", 1, 65_536, whole=True),
    Parameter("freezing", 1, "whether a timeout freezes the buffer", 0, 1, whole=True),
    Parameter("freeze_us", 10_000, "how long a flow stays frozen"),
    Parameter("timeout_floor_us", 2, "the shortest timeout of an entropy value"),
    Parameter("timeout_initial_us", 1_000, "the timeout before round trips are known"),
)

ENTROPIES = (
    Entropy("flow", "one value a flow"),
    Entropy("random", "a new value each packet"),
    Entropy("reps", "values recycled from ACKs without marks", RECYCLING, needs_ecn=True),
    Entropy("drb", "the paths to a host in rotation", paths=paths.rotation),
    Entropy("ethereal", "subflows pinned to paths", paths=paths.pinning),
)


def entropy(name: str) -> Entropy:
    """Return the entropy of a name; raises UserError listing those there are."""
    for each in ENTROPIES:
        if each.name == name:
            return each
    there_are = ", ".join(each.name for each in ENTROPIES)
    raise UserError(f"entropy {name} is unknown; there are {there_are}")
