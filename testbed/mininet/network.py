"""A Mininet network for a topology: nodes and shells from Mininet, interfaces in one batch."""

from __future__ import annotations

import resource
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from testbed.addressing import ipv4_text, mac_text
from testbed.mininet import interfaces
from testbed.mininet.interfaces import HostAddress, Pair
from testbed.mininet.nodes import (
    FabricHost,
    FabricInterface,
    FabricLink,
    FabricSwitch,
    Mininet,
    Topo,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.scenario import Scenario
    from testbed.topology import Topology

ETHERNET_BYTES = 14 + 4  # header and FCS, which an MTU leaves out
LEAST_MTU, LARGEST_MTU = 1500, 65_535
OPEN_FILES = 65_536


@dataclass(frozen=True, slots=True)
class Fabric:
    """A started network: Mininet's object for it, and the veth pair of every link by its number."""

    net: Any
    topology: Topology
    pairs: tuple[Pair, ...]

    def host_process(self, host: int) -> int:
        """Return the id of the process that holds a host's namespaces."""
        return int(self.net[self.topology.nodes[host].name].pid)

    def stop(self) -> None:
        """Remove all links and end the nodes' shells."""
        interfaces.remove(self.pairs)
        self.net.stop()


def start(topology: Topology, mtu: int, switch: Any = FabricSwitch) -> Fabric:
    """Start a network in this sandbox: nodes, links up, addresses set, silent.

    `switch` is Mininet's class for switches, whose start must be a matter of our own processes.
    Raises UserError where the kernel refuses a link.
    """
    _check_shells()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, OPEN_FILES)), hard))
    addresses = [
        HostAddress(mac_text(node, topology), ipv4_text(node, topology))
        for node in topology.nodes[: topology.hosts]
    ]
    Mininet.inited = True  # its own preparation changes limits of the whole machine
    net = Mininet(
        topo=mininet_topology(topology, addresses),
        host=FabricHost,
        switch=switch,
        link=FabricLink,
        intf=FabricInterface,
        controller=None,
    )
    pairs = tuple(_pair(net, topology, number) for number in range(len(topology.links)))
    interfaces.make(pairs, mtu)
    for pair, link in zip(pairs, topology.links, strict=True):
        if not pair.process:
            continue
        own = addresses[link.lower]
        interfaces.bring_up_host(pair, own, [other for other in addresses if other != own])
        _tell_mininet(net[topology.nodes[link.lower].name].defaultIntf(), own)
    interfaces.wait_until_running(pairs)
    for link, pair in zip(topology.links, pairs, strict=True):
        if not link.up:
            interfaces.set_link(pair, up=False)
    net.start()
    return Fabric(net, topology, pairs)


def _check_shells() -> None:
    """Raise UserError where Mininet's shells would not start, for which it waits forever."""
    tried = subprocess.run(["mnexec", "-cdn", "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        raise UserError(f"mnexec: {' '.join(tried.stderr.split())}")


def mtu_for(scenario: Scenario) -> int:
    """Return the MTU that a full data frame of the scenario needs, in bytes.

    Raises UserError for frames that no veth pair carries.
    """
    needed = scenario.data_frame_bytes - ETHERNET_BYTES
    if needed > LARGEST_MTU:
        raise UserError(
            f"payload is {scenario.payload_bytes}; Mininet's links carry at most "
            f"{LARGEST_MTU + ETHERNET_BYTES - scenario.header_bytes} B of it"
        )
    return max(LEAST_MTU, needed)


def mininet_topology(topology: Topology, addresses: Sequence[HostAddress]) -> Any:
    """Return Mininet's Topo of a topology, with our names, ports and datapath ids."""
    topo = Topo()
    for number, node in enumerate(topology.nodes):
        if node.tier == "host":
            topo.addHost(node.name, ip=addresses[number].ip, mac=addresses[number].mac)
        else:
            topo.addSwitch(node.name, dpid=f"{number + 1:016x}")
    for link in topology.links:
        topo.addLink(
            topology.nodes[link.lower].name,
            topology.nodes[link.upper].name,
            port1=link.lower_port,
            port2=link.upper_port,
        )
    return topo


def _pair(net: Any, topology: Topology, number: int) -> Pair:
    link = topology.links[number]
    lower, upper = topology.nodes[link.lower], topology.nodes[link.upper]
    return Pair(
        f"{lower.name}-eth{link.lower_port}",
        f"{upper.name}-eth{link.upper_port}",
        int(net[lower.name].pid) if lower.tier == "host" else 0,
    )


def _tell_mininet(interface: Any, address: HostAddress) -> None:
    interface.mac, interface.ip = address.mac, address.ip
    interface.prefixLen = interfaces.NETWORK_PREFIX
