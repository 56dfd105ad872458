"""What the prompt's own commands do: answers about a running fabric, in words and paper units."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from testbed.dataplane import NEVER
from testbed.planning import link_changes, make_plan
from testbed.topology import adjacency, stage
from traffic.flows import Flows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from testbed.mininet.emulation import Emulation
    from testbed.plan import Plan
    from testbed.topology import Node

DEFAULT_MESSAGE = "1MB"
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
SIZE = re.compile(r"(\d+)\s*([km]?)b?", re.IGNORECASE)


class Look:
    """Looks into a fabric whose switches run, and moves things in it."""

    def __init__(self, emulation: Emulation, plan: Plan, dilation: float) -> None:
        """Start the switches of the loaded plan; they run until the fabric is taken down."""
        self._emulation = emulation
        self._plan = plan
        self.dilation = dilation
        self._numbers = {node.name: i for i, node in enumerate(plan.topology.nodes)}
        self._cables = adjacency(plan.topology)
        self.hosts_per_plane = plan.topology.shape.hosts_per_plane
        emulation.engine.ask("start", emulation.clock(dilation))

    def queues(self, node: str | None = None) -> str:
        """List the queues that hold frames now, or all of one node's."""
        ports = self._ports()
        if node is None:
            ports = ports[ports["queue_packets"] > 0]
            if not len(ports):
                return "all queues are empty"
        else:
            ports = ports[ports["node"] == self._number(node)]
        return _table(
            ("port", "towards", "packets", "bytes", "most packets", "most bytes"),
            [
                (*self._ends(port), port["queue_packets"], port["queue_bytes"],
                 port["max_queue_packets"], port["max_queue_bytes"])
                for port in ports
            ],
        )  # fmt: skip

    def ports(self, node: str) -> str:
        """List what each port of a node has sent since the start.

        Overruns are frames that came to it faster than the engine could take them.
        """
        ports = self._ports()
        return _table(
            ("port", "towards", "data packets", "ACKs", "bytes", "drops", "marks", "overruns"),
            [
                (*self._ends(port), port["data_packets"], port["ack_packets"], port["bytes"],
                 port["drops"], port["marks"], port["overruns"])
                for port in ports[ports["node"] == self._number(node)]
            ],
        )  # fmt: skip

    def registers(self, switch: str) -> str:
        """List a switch's registers by P4 name, pointers among them."""
        found: dict[str, list[int]] = self._emulation.engine.ask("registers", self._switch(switch))
        return "\n".join(f"{name} = {_row(values)}" for name, values in found.items()) or "none"

    def tables(self, switch: str) -> str:
        """List a switch's tables: entries, then the default action."""
        lines: list[str] = self._emulation.engine.ask("tables", self._switch(switch))
        return "\n".join(lines) or "none"

    def send(self, source: str, destination: str, size: str = DEFAULT_MESSAGE) -> str:
        """Send a message and say how long it took in the paper's time."""
        message_bytes = _bytes(size)
        flows = self._send(source, destination, message_bytes)
        start, delivered, finish = (
            int(flows[name][0]) for name in ("start_ps", "delivered_ps", "finish_ps")
        )
        if finish == NEVER:
            arrived, needed, known = (
                int(flows[name][0]) for name in ("received", "packets", "acknowledged")
            )
            return f"{arrived} of {needed} packets arrived, {known} were acknowledged"
        rate = message_bytes * 8000 / (delivered - start)
        return (
            f"{int(flows['packets'][0])} packets in the paper's time: delivered after "
            f"{(delivered - start) / 1e6:.3f} us ({rate:.0f} Gb/s), acknowledged after "
            f"{(finish - start) / 1e6:.3f} us"
        )

    def path(self, source: str, destination: str) -> str:
        """Send one packet and say which way it and its ACK went."""
        before = self._emulation.engine.ask("ports")
        self._send(source, destination, 1)
        after = self._emulation.engine.ask("ports")
        ways = []
        for name, kind, start, end in (
            ("data", "data_packets", source, destination),
            ("ACK", "ack_packets", destination, source),
        ):
            way = self._follow(start, after[after[kind] > before[kind]])
            ways.append(f"{name}: {' > '.join(way)}{'' if way[-1] == end else ' (lost there)'}")
            if way[-1] != end:
                break
        return "\n".join(ways)

    def down(self, one: str, other: str) -> str:
        """Take a link down and let the control plane react."""
        return self._set_link(one, other, up=False)

    def up(self, one: str, other: str) -> str:
        """Take a link up again and let the control plane react."""
        return self._set_link(one, other, up=True)

    def _send(self, source: str, destination: str, message_bytes: int) -> NDArray[np.void]:
        ends = [np.array([self._host(name)], dtype=np.int64) for name in (source, destination)]
        if ends[0] == ends[1]:
            raise UserError(f"{source} cannot send to itself")
        if ends[0] // self.hosts_per_plane != ends[1] // self.hosts_per_plane:
            raise UserError(f"{source} and {destination} are in different planes")
        flows = Flows.of(ends[0], ends[1], np.array([message_bytes], dtype=np.int64))
        planned = make_plan(self._plan.scenario, flows)
        self._emulation.load_traffic(dataclasses.replace(planned, topology=self._plan.topology))
        self._emulation.run_traffic(self._emulation.clock(self.dilation))
        sent: NDArray[np.void] = self._emulation.traffic.ask("flows")
        return sent

    def _follow(self, start: str, moved: NDArray[np.void]) -> list[str]:
        """Name the nodes on the way of a frame that left a host and moved these switch ports."""
        ports = {int(port["node"]): int(port["port"]) for port in moved}
        node = self._cables.beyond(self._number(start), 0)
        way = [start, self._plan.topology.nodes[node].name]
        while node in ports:
            node = self._cables.beyond(node, ports.pop(node))
            way.append(self._plan.topology.nodes[node].name)
        return way

    def _set_link(self, one: str, other: str, *, up: bool) -> str:
        nodes = self._plan.topology.nodes
        ends = {self._number(one), self._number(other)}
        links = list(self._plan.topology.links)
        found = [i for i, link in enumerate(links) if {link.lower, link.upper} == ends]
        if not found:
            raise UserError(f"there is no link between {one} and {other}")
        link = links[found[0]] = dataclasses.replace(links[found[0]], up=up)
        for number, port in ((link.lower, link.lower_port), (link.upper, link.upper_port)):
            worker = (
                self._emulation.traffic if nodes[number].tier == "host" else self._emulation.engine
            )
            worker.ask("set_port", number, port, up=up)
        topology = dataclasses.replace(self._plan.topology, links=tuple(links))
        changes = link_changes(self._plan, topology)
        self._emulation.engine.ask("rewrite", changes)
        self._plan = dataclasses.replace(self._plan, topology=topology)
        told = ", ".join(changes) or "no switch"
        return f"{one} - {other} is {'up' if up else 'down'}; the control plane rewrote {told}"

    def _ports(self) -> NDArray[np.void]:
        hosts = self._emulation.traffic.ask("ports")
        switches = self._emulation.engine.ask("ports")
        rows = np.concatenate((hosts, switches))
        cabled = self._cables.peer[self._cables.first[rows["node"]] + rows["port"]] >= 0
        joined: NDArray[np.void] = rows[cabled]
        return joined

    def _ends(self, port: np.void) -> tuple[str, str]:
        nodes = self._plan.topology.nodes
        node, number = nodes[int(port["node"])], int(port["port"])
        peer = nodes[self._cables.beyond(int(port["node"]), number)]
        return f"{node.name}-eth{number}", f"{peer.name} ({stage(node.tier, peer.tier)})"

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            raise UserError(f"there is no node {name}")
        return self._numbers[name]

    def _node(self, name: str) -> Node:
        return self._plan.topology.nodes[self._number(name)]

    def _host(self, name: str) -> int:
        if self._node(name).tier != "host":
            raise UserError(f"{name} is a switch; messages go from host to host")
        return self._number(name)

    def _switch(self, name: str) -> str:
        if self._node(name).tier == "host":
            raise UserError(f"{name} is a host; switches have tables and registers")
        return name


def _bytes(text: str) -> int:
    match = SIZE.fullmatch(text)
    if not match or int(match[1]) == 0:
        raise UserError(f"{text} is no size; write 4096, 256KB or 1MB")
    return int(match[1]) * UNITS[match[2].lower()]


def _row(values: list[int]) -> str:
    return str(values[0]) if len(values) == 1 else " ".join(map(str, values))


def _table(header: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    cells = [header, *(tuple(map(str, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    )
