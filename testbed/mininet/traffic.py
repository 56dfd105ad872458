"""The traffic process: all hosts of the fabric, each on a socket in its own namespace."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import numpy as np

from testbed.dataplane import Dataplane, settings_of
from testbed.messages import flow_rows, host_addresses, set_speeds
from testbed.mininet.namespaces import network_of
from testbed.mininet.share import Share
from testbed.mininet.worker import serve
from testbed.topology import interface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.plan import Plan


class Traffic(Share):
    """Sends a plan's flows from its hosts."""

    def __init__(self) -> None:
        """Start without a network."""
        super().__init__()
        self.commands["setup"] = self.setup

    def setup(self, plan: Plan, processes: Sequence[int], sample_ps: int) -> None:
        """Put every host on its interface, in the namespace of its process, with its flows."""
        topology = plan.topology
        hosts = topology.nodes[: topology.hosts]
        ports = [int(node.tier == "host") for node in topology.nodes]
        self.replace(Dataplane(settings_of(plan, sample_ps=sample_ps), ports, topology.hosts))
        sockets, indices = [], []
        for node, process in zip(hosts, processes, strict=True):
            with network_of(process):
                index = socket.if_nametoindex(interface(node, 0))
                sockets.append(self.open_socket())
                indices.append(index)
        set_speeds(self.dataplane, plan, range(topology.hosts))
        self.dataplane.attach(np.arange(topology.hosts), 0, indices, sockets, sockets)
        self.dataplane.set_addresses(*host_addresses(topology))
        self.dataplane.add_flows(*flow_rows(plan))
        self.follow_links(plan, range(topology.hosts), {})


if __name__ == "__main__":
    serve(Traffic)
