"""The emulated fabric with simple_switch for its switches: hosts and network are Mininet's world's.

simple_switch sends a frame when its service begins and knows no propagation delay. So a path's
delay, and what its switches would take to send a frame, are added where a frame leaves its host:
the longest path's, on every path. Where rates of hosts' links differ, that of the host that sends
counts at both ends.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from testbed.bmv2.nodes import switch_class
from testbed.bmv2.switches import ReferenceSwitches
from testbed.mininet import network
from testbed.mininet.emulation import Emulation
from testbed.scenario.speeds import DELAY, RATE, STAGES, TIERS, tier_of

if TYPE_CHECKING:
    from testbed.mininet.emulation import Served
    from testbed.plan import Plan
    from testbed.scenario import Scenario
    from testbed.scenario.speeds import Speed
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
        scenario = with_path_delays(plan.scenario)
        super().load_traffic(dataclasses.replace(plan, scenario=scenario), sample_ps)


def with_path_delays(scenario: Scenario) -> Scenario:
    """Return a scenario in which each host's link has the whole delay of a path."""
    speeds = scenario.speeds
    usual = path_delay_ns(scenario, speeds.tiers["host"])
    if speeds.uniform:
        return dataclasses.replace(scenario, delay_ns=usual)
    network = {name: value for name, value in scenario.network.items() if "." not in name}
    network |= {
        f"{RATE}.{tier}": speeds.tiers[tier].rate_gbps for tier in TIERS[1 : scenario.levels]
    }
    for ends, speed in speeds.links.items():
        name = "-".join(ends)
        network[f"{RATE}.{name}"] = speed.rate_gbps
        if tier_of(*ends) == "host":
            network[f"{DELAY}.{name}"] = path_delay_ns(scenario, speed)
    return dataclasses.replace(scenario, delay_ns=usual, network=network)


def path_delay_ns(scenario: Scenario, host: Speed) -> float:
    """Return what the longest path delays a frame beyond the time its host takes to send it.

    That is the propagation delay of all links, and the time in which the switches would send a
    frame: half of what a data frame and its ACK need together, so that their sum is right. Hosts'
    links are as `host`, others as most of their tier.
    """
    half = scenario.levels
    way = (*STAGES[:half], *STAGES[len(STAGES) - half :])
    links = [host if tier == "host" else scenario.speeds.tiers[tier] for tier in way]
    sent = scenario.data_frame_bytes + (scenario.ack_bytes if scenario.acks else 0)
    halves = 2 if scenario.acks else 1
    service_ps = sum(sent * link.picoseconds_per_byte for link in links[1:]) / halves
    return sum(link.delay_ns for link in links) + service_ps / PICOSECONDS
