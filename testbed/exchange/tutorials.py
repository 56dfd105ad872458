"""The network file of the p4lang tutorials, topology.json: hosts, switches and links."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from testbed.exchange import forms
from testbed.exchange.forms import LARGEST_PORT, place, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SWITCH_END = re.compile(r"(?P<name>[^-]+)-p(?P<port>\d+)", re.ASCII)
_LATENCY = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>us|ms|s)?", re.ASCII)
_MICROSECONDS = {"us": 1, "ms": 1000, "s": 1_000_000, None: 1000}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
LONGEST_INTERFACE = 15
LONGEST_DELAY_US = 60_000_000
LEAST_MBPS, MOST_MBPS = 0.001, 1_000_000


@dataclass(frozen=True, slots=True)
class Host:
    """A host; `ip` has its prefix length, `commands` run in the host's shell after the start."""

    name: str
    ip: ipaddress.IPv4Interface
    mac: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch, and the files that it names: its own program and its entries, if any.

    What its program sends to `cpu_port` is for a controller, and there is none.
    """

    name: str
    program: Path | None
    runtime: Path | None
    cpu_port: int | None = None


@dataclass(frozen=True, slots=True)
class End:
    """One end of a cable; a host's port is 0."""

    node: str
    port: int


@dataclass(frozen=True, slots=True)
class Cable:
    """A link: its delay in microseconds and its rate in Mb/s (None: as fast as it goes)."""

    lower: End
    upper: End
    delay_us: float
    rate_mbps: float | None


@dataclass(frozen=True, slots=True)
class Network:
    """A network as the file describes it; a cable's lower end is a host where it has one."""

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...]

    def ports(self, switch: str) -> tuple[int, ...]:
        """Return the cabled ports of a switch, in order."""
        ends = [end for cable in self.cables for end in (cable.lower, cable.upper)]
        return tuple(sorted(end.port for end in ends if end.node == switch))


def interface(end: End) -> str:
    """Name the interface of a switch's port."""
    return f"{end.node}-eth{end.port}"


def read_topology(path: Path) -> Network:
    """Read a topology.json; files named in it are relative to its exercise.

    Raises UserError naming the file, the member, its value and what was wanted.
    """
    form = forms.read(path, forms.Topology)
    for kind, names in (("hosts", form.hosts), ("switches", form.switches)):
        for name in names:
            _check_name(f"{path}: {place(kind, name)}", name)
    if both := sorted(set(form.hosts) & set(form.switches)):
        raise UserError(f"{path}: {both[0]} is a host and a switch; names are unique")
    network = Network(
        tuple(_host(name, host) for name, host in form.hosts.items()),
        tuple(_switch(path, name, switch) for name, switch in form.switches.items()),
        tuple(
            _cable(f"{path}: {place('links', number)}", raw, form)
            for number, raw in enumerate(form.links)
        ),
    )
    _check_links(str(path), network)
    _check_addresses(str(path), network.hosts)
    return network


def _host(name: str, form: forms.Host) -> Host:
    return Host(name, ipaddress.IPv4Interface(form.ip), form.mac.lower(), tuple(form.commands))


def _switch(path: Path, name: str, form: forms.Switch) -> Switch:
    port = None if form.cpu_port is None else int(form.cpu_port)
    return Switch(name, _beside(path, form.program), _beside(path, form.runtime_json), port)


def _beside(topology: Path, name: str | None) -> Path | None:
    """Find a file as the exercises name theirs: from the topology's folder or the one above."""
    if name is None:
        return None
    own, above = topology.parent / name, topology.parent.parent / name
    return own if own.exists() or not above.exists() else above


def _cable(where: str, raw: list[Any], form: forms.Topology) -> Cable:
    if not 2 <= len(raw) <= 4:
        raise UserError(f"{where} is {shown(raw)}; it should be [node, node, delay, Mb/s]")
    lower, upper = sorted((_end(where, raw[i], form) for i in (0, 1)), key=_host_first)
    delay = _delay_us(where, raw[2] if len(raw) > 2 else 0)
    return Cable(lower, upper, delay, _rate_mbps(where, raw[3] if len(raw) > 3 else None))


def _host_first(end: End) -> int:
    return min(end.port, 1)


def _end(where: str, raw: Any, form: forms.Topology) -> End:
    if isinstance(raw, str) and raw in form.hosts:
        return End(raw, 0)
    parts = _SWITCH_END.fullmatch(str(raw))
    if parts is None or parts["name"] not in form.switches:
        raise UserError(
            f"{where}: {shown(raw)} is neither a host nor a switch's port such as s1-p2"
        )
    if len(parts["port"]) > 3 or not 1 <= int(parts["port"]) <= LARGEST_PORT:
        raise UserError(f"{where}: {shown(raw)}: ports are numbered 1 to {LARGEST_PORT}")
    end = End(parts["name"], int(parts["port"]))
    if len(interface(end)) > LONGEST_INTERFACE:
        raise UserError(
            f"{where}: {interface(end)} is longer than the {LONGEST_INTERFACE} letters that an "
            f"interface's name may have; use a shorter name"
        )
    return end


def _rate_mbps(where: str, raw: Any) -> float | None:
    if raw is None:
        return None
    number = isinstance(raw, int | float) and not isinstance(raw, bool)
    if not number or not LEAST_MBPS <= raw <= MOST_MBPS:
        wanted = f"it should be a number of Mb/s from {LEAST_MBPS} to {MOST_MBPS}"
        raise UserError(f"{where}: the rate is {shown(raw)}; {wanted}")
    return float(raw)


def _delay_us(where: str, raw: Any) -> float:
    """Read a delay; the tutorials count in milliseconds where no unit is given."""
    text = str(raw) if not isinstance(raw, bool) else ""
    parts = _LATENCY.fullmatch(text)
    delay = float(parts["number"]) * _MICROSECONDS[parts["unit"]] if parts else -1
    if not 0 <= delay <= LONGEST_DELAY_US:
        wanted = "it should be milliseconds, or such as 50us, 5ms, 0.5s, and at most a minute"
        raise UserError(f"{where}: the delay is {shown(raw)}; {wanted}")
    return delay


def _check_name(where: str, name: str) -> None:
    longest = LONGEST_INTERFACE - len("-eth0")
    if not _NAME.fullmatch(name) or len(name) > longest:
        raise UserError(f"{where}: a name has 1 to {longest} letters and digits")


def _check_links(where: str, network: Network) -> None:
    seen: set[End] = set()
    for number, cable in enumerate(network.cables):
        for end in (cable.lower, cable.upper):
            if end in seen:
                raise UserError(
                    f"{where}: {place('links', number)}: two links at port {end.port} of {end.node}"
                )
            seen.add(end)
        if cable.upper.port == 0:
            raise UserError(
                f"{where}: {place('links', number)}: {cable.lower.node} is linked to another host"
            )
    for host in network.hosts:
        if End(host.name, 0) not in seen:
            raise UserError(f"{where}: host {host.name} has no link")


def _check_addresses(where: str, hosts: tuple[Host, ...]) -> None:
    owners: Mapping[str, dict[str, str]] = {"ip": {}, "mac": {}}
    for host in hosts:
        for kind, address in (("ip", str(host.ip.ip)), ("mac", host.mac)):
            other = owners[kind].setdefault(address, host.name)
            if other != host.name:
                raise UserError(
                    f"{where}: {place('hosts', host.name, kind)} is {address}, which {other} has"
                )
