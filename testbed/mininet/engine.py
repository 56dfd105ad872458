"""The engine process: all switches of the fabric, their ports on one socket of its namespace."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import numpy as np

from testbed.dataplane import Dataplane, settings_of
from testbed.messages import port_counts
from testbed.mininet.share import Share
from testbed.mininet.worker import serve
from testbed.topology import adjacency, interface

if TYPE_CHECKING:
    from testbed.plan import Plan


class Engine(Share):
    """Runs a plan's switches."""

    def __init__(self) -> None:
        """Start without a network."""
        super().__init__()
        self._switches: dict[str, Any] = {}
        self.commands["setup"] = self.setup

    def setup(self, plan: Plan, sample_ps: int) -> None:
        """Make the switches with their tables, and put their ports on their interfaces."""
        topology = plan.topology
        ports = port_counts(topology)
        ports[: topology.hosts] = 0
        self.replace(Dataplane(settings_of(plan, sample_ps=sample_ps), ports, topology.hosts))
        self._switches = make_switches(self.dataplane, plan)
        cables = adjacency(topology)
        where = [
            (number, port)
            for number in topology.switches
            for port in range(1, topology.nodes[number].ports + 1)
            if cables.beyond(number, port) >= 0
        ]
        nodes, numbers = np.array(where).T
        indices = [
            socket.if_nametoindex(interface(topology.nodes[node], port)) for node, port in where
        ]
        shared = self.open_socket()
        self.dataplane.attach(nodes, numbers, [shared] * len(where), indices)


if __name__ == "__main__":
    serve(Engine)
