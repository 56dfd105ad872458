"""A Mininet network as a topology.json describes it, in a sandbox, with the hosts' own commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import UserError
from testbed.exchange.tutorials import interface
from testbed.mininet import interfaces
from testbed.mininet.interfaces import Pair
from testbed.mininet.namespaces import network_of
from testbed.mininet.nodes import (
    FabricHost,
    FabricInterface,
    FabricLink,
    FabricSwitch,
    Mininet,
    Topo,
)
from testbed.mininet.offloads import switch_off

if TYPE_CHECKING:
    from testbed.exchange.tutorials import Cable, Host, Network

MTU = 1500
HOST_INTERFACE = "eth0"  # as the tutorials' commands call it
NEIGHBOUR_SOLICITATIONS = 3


def start(network: Network) -> Any:
    """Start the hosts and links of a network; returns Mininet's object for it.

    A host's own command that fails is told on standard error. Raises UserError or
    UserError where the kernel refuses an interface or an address.
    """
    Mininet.inited = True  # its own preparation changes limits of the whole machine
    net = Mininet(
        topo=_topology(network),
        host=FabricHost,
        switch=FabricSwitch,
        link=FabricLink,
        intf=FabricInterface,
        controller=None,
    )
    pairs = [_pair(net, cable) for cable in network.cables]
    interfaces.make(pairs, MTU)
    for host in network.hosts:
        _bring_up(net[host.name], host)
    for host in network.hosts:
        _run_commands(net[host.name], host)
    net.start()
    return net


def _topology(network: Network) -> Any:
    topo = Topo()
    for host in network.hosts:
        topo.addHost(host.name, ip=str(host.ip), mac=host.mac)
    for number, switch in enumerate(network.switches, 1):
        topo.addSwitch(switch.name, dpid=f"{number:016x}")
    for cable in network.cables:
        topo.addLink(
            cable.lower.node, cable.upper.node, port1=cable.lower.port, port2=cable.upper.port
        )
    return topo


def _pair(net: Any, cable: Cable) -> Pair:
    process = 0 if cable.lower.port else int(net[cable.lower.node].pid)
    return Pair(interface(cable.lower), interface(cable.upper), process)


def _bring_up(node: Any, host: Host) -> None:
    """Configure a host's interface under the name that its commands use; let it ask by ARP."""
    own = f"{host.name}-eth0"
    with network_of(int(node.pid)):
        switch_off([own])
        lines = [
            "link set lo up",
            f"link set {own} name {HOST_INTERFACE}",
            f"link set {HOST_INTERFACE} address {host.mac}",
            f"link set {HOST_INTERFACE} up",
            f"addr add {host.ip} dev {HOST_INTERFACE}",
        ]
        done = subprocess.run(
            ["ip", "-batch", "-"],
            input="\n".join(lines),
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            raise UserError(f"host {host.name}: ip: {' '.join(done.stderr.split())}")
        _let_ask()
    known = node.defaultIntf()
    known.name, known.mac, known.ip = HOST_INTERFACE, host.mac, str(host.ip.ip)
    known.prefixLen = host.ip.network.prefixlen
    node.nameToIntf = {HOST_INTERFACE: known}


def _let_ask() -> None:
    """Undo for this namespace that hosts ask nobody for addresses: a fabric's hosts know them."""
    for setting, value in (
        ("neigh/default/mcast_solicit", NEIGHBOUR_SOLICITATIONS),
        (f"neigh/{HOST_INTERFACE}/mcast_solicit", NEIGHBOUR_SOLICITATIONS),
        ("conf/all/arp_ignore", 0),
    ):
        path = Path("/proc/sys/net/ipv4", setting)
        if path.exists():
            path.write_text(str(value), encoding="ascii")


def _run_commands(node: Any, host: Host) -> None:
    for command in host.commands:
        said, errors, code = node.pexec(["sh", "-c", _portable(command)])
        if code != 0:
            words = " ".join((errors or said).split())
            sys.stderr.write(f"host {host.name}: {command!r} failed: {words}\n")


def _portable(command: str) -> str:
    """Say a command of net-tools, which not every machine has, in those of iproute2."""
    match command.split():
        case ["route", "add", "default", "gw", gateway, "dev", device]:
            return f"ip route add default via {gateway} dev {device} onlink"
        case ["arp", "-i", device, "-s", address, mac]:
            return f"ip neigh replace {address} lladdr {mac} dev {device} nud permanent"
    return command
