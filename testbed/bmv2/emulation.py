"""The emulated fabric with simple_switch for its switches: hosts and network are Mininet's world's.

simple_switch sends a frame when its service begins and knows no propagation delay. So a path's
delay, and what its switches would take to send a frame, are added where a frame leaves its host:
the longest path's, on every path.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from testbed.bmv2.nodes import switch_class
from testbed.bmv2.switches import ReferenceSwitches
from testbed.mininet import network
from testbed.mininet.emulation import Emulation

if TYPE_CHECKING:
    from testbed.mininet.emulation import Served
    from testbed.plan import Plan
    from testbed.topology import Topology

PICOSECONDS = 1000  # per nanosecond


class Bmv2Emulation(Emulation):
    """A fabric whose switches are simple_switch processes."""

    switches: ReferenceSwitches

    def start_network(self, topology: Topology, mtu: int) -> network.Fabric:
        """Start hosts, links, and nodes for the switches."""
        return network.start(topology, mtu, switch_class())

    def start_engine(self, _core: int) -> Served:
        """Make the switches' keeper; the switches themselves start with a plan."""
        self.switches = ReferenceSwitches(self.fabric.net)
        return self.switches

    def copied_less_dropped(self) -> int:
        """Return 0: simple_switch counts neither."""
        return 0

    def load_traffic(self, plan: Plan, sample_ps: int = 0) -> None:
        """Set the hosts up with the plan's flows, and the whole delay of a path at each host."""
        scenario = dataclasses.replace(plan.scenario, delay_ns=path_delay_ns(plan))
        super().load_traffic(dataclasses.replace(plan, scenario=scenario), sample_ps)


def path_delay_ns(plan: Plan) -> float:
    """Return what the longest path delays a frame beyond the time its host takes to send it.

    That is the propagation delay of all links, and the time in which the switches would send a
    frame: half of what a data frame and its ACK need together, so that their sum is right.
    """
    scenario = plan.scenario
    links = 2 * plan.topology.levels
    sent = scenario.data_frame_bytes + (scenario.ack_bytes if scenario.acks else 0)
    halves = 2 if scenario.acks else 1
    service_ns = scenario.serialisation_ps(sent) / PICOSECONDS / halves
    return links * scenario.delay_ns + (links - 1) * service_ns
