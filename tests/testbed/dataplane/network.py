"""Small networks for tests of the event core: hosts and switches that forward by fixed tables."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cffi
import numpy as np

from p4.codegen.build import CODEGEN
from testbed.dataplane import Dataplane, Settings
from testbed.dataplane.records import dtype_of
from testbed.hosts import Chosen
from testbed.scenario import FIELDS, Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

HERE = Path(__file__).parent
MULTICAST, DROP = 600, 511
LOGGED, HEADERS = 1024, 72


class Program:
    """The test program, compiled and loaded."""

    def __init__(self, folder: Path, *defines: str) -> None:
        target = folder / f"static{''.join(defines)}.so"
        flags = ["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
        source = str(HERE / "static_program.c")
        subprocess.run(
            ["gcc", *flags, *defines, f"-I{CODEGEN}", "-o", str(target), source], check=True
        )
        text = (CODEGEN / "pipeline.h").read_text(encoding="utf-8")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        self.ffi: Any = cffi.FFI()
        self.ffi.cdef("\n".join([*lines, "extern struct pl_program pl_program;"]))
        self.library: Any = self.ffi.dlopen(str(target))

    @property
    def address(self) -> int:
        return int(self.ffi.cast("uintptr_t", self.ffi.addressof(self.library, "pl_program")))

    def route(self, switch: int, ports: Mapping[int, int]) -> None:
        table = np.full(256, DROP, dtype=">u2")
        for last_byte, port in ports.items():
            table[last_byte] = port
        values = self.ffi.from_buffer("uint8_t[]", table)
        assert self.library.pl_program.register_write(self._switch(switch), 0, 0, 256, values) == 0

    def frames(self, switch: int) -> NDArray[np.uint8]:
        """Headers of the first frames that a switch was given, one per row."""
        log = np.zeros((LOGGED, HEADERS), dtype=np.uint8)
        values = self.ffi.from_buffer("uint8_t[]", log)
        count = self.library.pl_program.register_read(
            self._switch(switch), 1, 0, LOGGED * HEADERS, values
        )
        return log[:count]

    def _switch(self, address: int) -> Any:
        return self.ffi.cast("struct pl_switch *", int(address))


@dataclass
class Network:
    """A network of hosts 0..hosts-1 (addresses 10.0.0.1 and on) and switches."""

    dataplane: Dataplane
    program: Program
    switches: list[int]

    def frames(self, switch: int = 0) -> NDArray[np.uint8]:
        return self.program.frames(self.switches[switch])


def settings_with(**values: Any) -> Settings:
    """Settings with some values of their own, those of the scenario by its fields' names.

    `entropy`, `congestion` and `recovery` are names, their parameters `entropy_parameters` etc.
    """
    chosen: dict[str, Any] = {
        kind: Chosen(values.pop(kind), values.pop(f"{kind}_parameters", {}))
        for kind in ("entropy", "congestion", "recovery")
        if kind in values
    }
    of_scenario = {field.name for field in FIELDS} - {"load"}
    given = {name: value for name, value in values.items() if name in of_scenario}
    own = {name: value for name, value in values.items() if name not in of_scenario}
    return Settings(scenario=Scenario(**given), **own, **chosen)


def star(program: Program, hosts: int, **settings: Any) -> Network:
    """One switch; host i is behind its port i + 1."""
    dataplane = Dataplane(settings_with(**settings), [1] * hosts + [hosts + 1], hosts)
    (switch,) = dataplane.add_switches(program.address, [hosts], [1])
    program.route(switch, {i + 1: i + 1 for i in range(hosts)})
    ports = np.arange(hosts)
    dataplane.connect(ports, 0, hosts, ports + 1)
    give_addresses(dataplane, hosts)
    return Network(dataplane, program, [switch])


def chain(program: Program, switches: int, **settings: Any) -> Network:
    """Host 0, some switches in a row, host 1: two ports each, 1 towards host 0."""
    dataplane = Dataplane(settings_with(**settings), [1, 1, *[3] * switches], 2)
    nodes = list(range(2, 2 + switches))
    made = dataplane.add_switches(program.address, nodes, [1] * switches)
    for switch in made:
        program.route(switch, {1: 1, 2: 2})
    dataplane.connect([0, *nodes], [0] + [2] * switches, [*nodes, 1], [1] * switches + [0])
    give_addresses(dataplane, 2)
    return Network(dataplane, program, list(made))


def give_addresses(dataplane: Dataplane, hosts: int) -> None:
    number = np.arange(1, hosts + 1)
    dataplane.set_addresses(0x0A000000 + number, 0x020000000000 + number)


def flows(rows: Sequence[tuple[int, int, int]], **columns: Any) -> NDArray[np.void]:
    """Rows of (source, destination, bytes) as struct dp_flow; columns override."""
    made = np.zeros(len(rows), dtype=dtype_of("dp_flow"))
    if len(rows):
        made["source"], made["destination"], made["bytes"] = np.array(rows).T
    made["subflows"] = 1
    made["pair"] = np.arange(len(rows))
    for name, column in columns.items():
        made[name] = column
    return made


def balance(totals: Mapping[str, int]) -> int:
    """Frames that came into being less those accounted for; 0 unless the core is wrong."""
    lost = sum(number for name, number in totals.items() if name.startswith("dropped_"))
    return totals["sent"] + totals["copied"] - totals["delivered"] - lost - totals["left"]
