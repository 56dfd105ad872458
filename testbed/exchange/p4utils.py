"""Our fabric for p4-utils: a folder with p4app.json, the programs and a commands file a switch.

Its users start it with `p4run` in that folder. Programs that differ in their preprocessor
definitions become small files that set these and include the program.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from testbed import addressing
from testbed.exchange.commands import queue_commands, setup_commands

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from p4.codegen.program import Program
    from testbed.plan import Plan, ProgramSource
    from testbed.topology import Node, Topology

DEPTH_PACKETS = 1_000_000  # as good as unlimited, which BMv2's queues cannot be


def export(
    plan: Plan,
    programs: Mapping[ProgramSource, Program],
    folder: Path,
    packets_per_second: int | None = None,
) -> Path:
    """Write a plan's network, programs and entries into `folder`; returns its p4app.json.

    `programs` holds each source of the plan compiled. With `packets_per_second`, every switch port
    is shaped to that many frames a second. Raises UserError if a set-up does not fit its
    program, OSError if the folder cannot be written.
    """
    (folder / "commands").mkdir(parents=True, exist_ok=True)
    sources = _write_sources(set(plan.programs.values()), folder / "p4src")
    for switch, source in plan.programs.items():
        lines = list(setup_commands(programs[source], plan.whole_setup(switch)))
        if packets_per_second is not None:
            node = next(n for n in plan.topology.nodes if n.name == switch)
            rates = dict.fromkeys(range(1, node.ports + 1), packets_per_second)
            lines += queue_commands(rates, DEPTH_PACKETS)
        (folder / _commands(switch)).write_text("\n".join([*lines, ""]), encoding="utf-8")
    application = {
        "p4_src": f"p4src/{next(iter(sources.values()))}",
        "cli": True,
        "pcap_dump": False,
        "enable_log": False,
        "topology": {
            "default": {"auto_arp_tables": True, "auto_gw_arp": False},
            "links": _links(plan.topology),
            "hosts": {node.name: {} for node in plan.topology.nodes if node.tier == "host"},
            "switches": {
                switch: {
                    "cli_input": f"commands/{switch}.txt",
                    "p4_src": f"p4src/{sources[source]}",
                }
                for switch, source in plan.programs.items()
            },
        },
    }
    result = folder / "p4app.json"
    result.write_text(json.dumps(application, indent=2) + "\n", encoding="utf-8")
    return result


def _commands(switch: str) -> str:
    return f"commands/{switch}.txt"


def _switch(name: str, source: str) -> dict[str, str]:
    return {"cli_input": _commands(name), "p4_src": f"p4src/{source}"}


def _write_sources(sources: set[ProgramSource], folder: Path) -> dict[ProgramSource, str]:
    """Copy the programs' folders and write one file for each program and its definitions."""
    names: dict[ProgramSource, str] = {}
    for number, source in enumerate(sorted(sources, key=str)):
        shutil.copytree(
            source.path.parent,
            folder / source.path.parent.name,
            ignore=lambda _folder, found: [name for name in found if name.startswith(("_", "."))],
            dirs_exist_ok=True,
        )
        names[source] = f"{source.path.stem}_{number}.p4"
        lines = [f"#define {name} {value}" for name, value in source.defines]
        lines.append(f'#include "{source.path.parent.name}/{source.path.name}"')
        (folder / names[source]).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return names


def _links(topology: Topology) -> list[list[Any]]:
    return [
        [
            topology.nodes[link.lower].name,
            topology.nodes[link.upper].name,
            {
                "port1": link.lower_port,
                "port2": link.upper_port,
                **_addresses(topology.nodes[link.lower], topology),
            },
        ]
        for link in topology.links
        if link.up
    ]


def _addresses(node: Node, topology: Topology) -> dict[str, Any]:
    if node.tier != "host":
        return {}
    network = f"{addressing.ipv4_text(node, topology)}/{addressing.NETWORK_BITS}"
    return {"addr1": addressing.mac_text(node, topology), "params1": {"ip": network}}
