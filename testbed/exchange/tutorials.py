"""The network file of the p4lang tutorials, topology.json: hosts, switches and links."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from testbed.exchange.document import ExchangeError, member, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MAC = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
_SWITCH_END = re.compile(r"(?P<name>[^-]+)-p(?P<port>\d+)")
_LATENCY = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<unit>us|ms|s)?")
_MICROSECONDS = {"us": 1, "ms": 1000, "s": 1_000_000, None: 1000}
LONGEST_NODE_NAME = 9  # so that <name>-eth511 fits an interface's 15 characters
LARGEST_PORT = 510


@dataclass(frozen=True, slots=True)
class Host:
    """A host; `ip` has its prefix length, `commands` run in the host's shell after the start."""

    name: str
    ip: ipaddress.IPv4Interface
    mac: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch, and the files that it names: its own program and its entries, if any."""

    name: str
    program: Path | None
    runtime: Path | None


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


def read_topology(path: Path) -> Network:
    """Read a topology.json; files named in it are relative to its exercise.

    Raises ExchangeError naming the file and the node or link that is wrong.
    """
    document = read_json(path)
    place = str(path)
    hosts = member(document, "hosts", dict, place)
    switches = member(document, "switches", dict, place)
    links = member(document, "links", list, place)
    network = Network(
        tuple(_host(f"{path}: host {name}", name, raw) for name, raw in hosts.items()),
        tuple(_switch(path, name, raw) for name, raw in switches.items()),
        tuple(_cable(f"{path}: link {raw}", raw, hosts, switches) for raw in links),
    )
    _check(place, network)
    return network


def _host(place: str, name: str, raw: Any) -> Host:
    _check_name(place, name)
    if not isinstance(raw, dict):
        raise ExchangeError(f"{place} should be a JSON object")
    text, mac = member(raw, "ip", str, place), member(raw, "mac", str, place)
    if not _MAC.fullmatch(mac):
        raise ExchangeError(f"{place}: {mac} is no Ethernet address")
    try:
        address = ipaddress.IPv4Interface(text)
    except ValueError as error:
        raise ExchangeError(f"{place}: {error}") from None
    return Host(name, address, mac, tuple(map(str, raw.get("commands", ()))))


def _switch(path: Path, name: str, raw: Any) -> Switch:
    place = f"{path}: switch {name}"
    _check_name(place, name)
    if not isinstance(raw, dict):
        raise ExchangeError(f"{place} should be a JSON object")
    if "cli_input" in raw:
        raise ExchangeError(f"{place}: cli_input is not supported; use runtime_json")
    return Switch(name, _beside(path, raw.get("program")), _beside(path, raw.get("runtime_json")))


def _beside(topology: Path, name: str | None) -> Path | None:
    """Find a file as the exercises name theirs: from the topology's folder or the one above."""
    if name is None:
        return None
    own, above = topology.parent / name, topology.parent.parent / name
    return own if own.exists() or not above.exists() else above


def _cable(place: str, raw: Any, hosts: Mapping[str, Any], switches: Mapping[str, Any]) -> Cable:
    if not isinstance(raw, list) or not 2 <= len(raw) <= 4:
        raise ExchangeError(f"{place} should be [node, node, delay, Mb/s]")
    lower, upper = sorted((_end(place, raw[i], hosts, switches) for i in (0, 1)), key=_host_first)
    rate = raw[3] if len(raw) > 3 else None
    if rate is not None and (not isinstance(rate, int | float) or rate <= 0):
        raise ExchangeError(f"{place}: a rate of {rate!r} Mb/s")
    return Cable(lower, upper, _delay_us(place, raw[2] if len(raw) > 2 else 0), rate)


def _host_first(end: End) -> int:
    return min(end.port, 1)


def _end(place: str, raw: Any, hosts: Mapping[str, Any], switches: Mapping[str, Any]) -> End:
    if raw in hosts:
        return End(raw, 0)
    parts = _SWITCH_END.fullmatch(str(raw))
    if parts is None or parts["name"] not in switches:
        raise ExchangeError(f"{place}: {raw} is neither a host nor a switch's port such as s1-p2")
    if not 1 <= int(parts["port"]) <= LARGEST_PORT:
        raise ExchangeError(f"{place}: port {parts['port']} is not one of 1 to {LARGEST_PORT}")
    return End(parts["name"], int(parts["port"]))


def _delay_us(place: str, raw: Any) -> float:
    """Read a delay; the tutorials count in milliseconds where no unit is given."""
    parts = _LATENCY.fullmatch(str(raw))
    if parts is None:
        raise ExchangeError(f"{place}: a delay of {raw!r}")
    return float(parts["number"]) * _MICROSECONDS[parts["unit"]]


def _check_name(place: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or len(name) > LONGEST_NODE_NAME:
        raise ExchangeError(f"{place}: a name has 1 to {LONGEST_NODE_NAME} letters and digits")


def _check(place: str, network: Network) -> None:
    seen: set[End] = set()
    for cable in network.cables:
        for end in (cable.lower, cable.upper):
            if end in seen:
                raise ExchangeError(f"{place}: two links at port {end.port} of {end.node}")
            seen.add(end)
        if cable.upper.port == 0:
            raise ExchangeError(f"{place}: {cable.lower.node} is linked to another host")
    for host in network.hosts:
        if End(host.name, 0) not in seen:
            raise ExchangeError(f"{place}: host {host.name} has no link")
