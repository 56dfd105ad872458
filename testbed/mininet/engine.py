"""The engine process: all switches of the fabric, each port on a socket of its own."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import numpy as np

from testbed.dataplane import Dataplane, settings_of
from testbed.messages import port_counts, set_speeds
from testbed.mininet.share import Share
from testbed.mininet.worker import serve
from testbed.switches import make_switches, rewrite
from testbed.topology import adjacency, interface, stage, stages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4.engine import Entry, Switch
    from testbed.plan import Plan
    from testbed.planning import SwitchChange

MADE_BY_COMPILER = "tbl_"


class Engine(Share):
    """Runs a plan's switches."""

    def __init__(self) -> None:
        """Start without a network."""
        super().__init__()
        self._switches: dict[str, Switch] = {}
        self.commands |= {
            "setup": self.setup,
            "registers": self.registers,
            "tables": self.tables,
            "rewrite": self.rewrite,
        }

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
        sockets = [self.open_socket() for _ in where]
        way = stages(topology)
        ranks = [
            way.index(
                stage(topology.nodes[cables.beyond(node, port)].tier, topology.nodes[node].tier)
            )
            for node, port in where
        ]
        sender = self.open_socket()
        set_speeds(self.dataplane, plan, topology.switches)
        self.dataplane.attach(nodes, numbers, indices, sockets, sender, rank=ranks)
        self.follow_links(plan, topology.switches, self._switches)

    def registers(self, name: str) -> dict[str, list[int]]:
        """Return all registers of a switch by P4 name."""
        switch = self._switches[name]
        names = [register.name for register in switch.program.symbols.registers]
        return {register: switch.register_read(register) for register in names}

    def tables(self, name: str) -> list[str]:
        """Describe all tables of a switch, a line an entry, in P4 names."""
        switch = self._switches[name]
        lines = []
        for table in switch.program.symbols.tables:
            if table.name.startswith(MADE_BY_COMPILER):
                continue
            lines.append(f"{table.name}: {switch.table_count(table.name)} entries")
            lines += [f"  {described(entry)}" for entry in switch.table_entries(table.name)]
            default = switch.table_default(table.name)
            lines += [f"  default {described(default)}"] if default else []
        return lines

    def rewrite(self, changes: Mapping[str, SwitchChange]) -> None:
        """Change entries and defaults of switches by name."""
        for name, change in changes.items():
            rewrite(self._switches[name], change)


def described(entry: Entry) -> str:
    """Return a table entry in one line."""
    match = ", ".join(map(str, entry.match))
    parameters = ", ".join(map(str, entry.parameters))
    return f"{match}{' -> ' if match else ''}{entry.action}({parameters})"


if __name__ == "__main__":
    serve(Engine)
