"""All switches of a fabric as simple_switch processes, answering what the engine process would."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from p4.codegen.reader import read_program
from p4.compiler import compile_file
from p4.compiler.reference import compile_with_p4c
from testbed.bmv2 import control, telemetry
from testbed.bmv2.client import connect
from testbed.bmv2.errors import Bmv2Error
from testbed.bmv2.process import processor_ns, start
from testbed.dataplane.records import dtype_of
from testbed.mininet import interfaces
from testbed.mininet.share import Records
from testbed.topology import interface

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from p4.codegen.program import Program
    from testbed.bmv2.client import Client
    from testbed.mininet.share import Clock
    from testbed.plan import Plan, ProgramSource
    from testbed.planning import SwitchChange
    from testbed.scenario import Scenario
    from testbed.scenario.speeds import Speed

UNLIMITED_PACKETS = 1_000_000
READ_SECONDS = 0.4  # well below the time in which the ring of slots comes round
PICOSECONDS_PER_SECOND = 1_000_000_000_000


class ReferenceSwitches:
    """The switches of one plan at a time; a thread reads their queues while they run."""

    def __init__(self, nodes: Any) -> None:
        """Start without switches; `nodes` are Mininet's, by their names."""
        self._nodes = nodes
        self.dilation = 1.0
        self._folder = tempfile.TemporaryDirectory(prefix="bmv2-")
        self._clients: dict[str, Client] = {}
        self._programs: dict[str, Program] = {}
        self._epochs: dict[str, float] = {}
        self._lock = threading.Lock()
        self._halted = threading.Event()
        self._series = telemetry.Series()
        self._start_us = 0.0
        self._commands: dict[str, Callable[..., Any]] = {
            "setup": self._setup,
            "start": self._start,
            "halt": self._halt,
            "records": self._records,
            "ports": lambda: self._ports(0.0),
            "registers": self._registers,
            "tables": self._tables,
            "rewrite": self._rewrite,
            "set_port": self._set_port,
            "processor_ns": self._processor_ns,
        }

    def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Do what the engine process does under this name; raises Bmv2Error."""
        with self._lock:
            return self._commands[command](*arguments, **options)

    def require_alive(self) -> None:
        """Raise Bmv2Error with the last lines of its log if a switch has died."""
        for client in self._clients.values():
            client.process.require_alive()

    def stop(self) -> None:
        """End all switches and forget their files."""
        self._halted.set()
        with self._lock:
            self._end_switches()
        self._folder.cleanup()

    def _setup(self, plan: Plan, _sample_ps: int) -> None:
        """Start the switches of a plan afresh, with their queues, tables and registers."""
        self._end_switches()
        self._plan = plan
        self._series = telemetry.Series()
        built = {source: self._build(source) for source in set(plan.programs.values())}
        processes = [
            start(name, built[source][0], self._interfaces(name), Path(self._folder.name),
                  priorities=2, command=getattr(self._nodes[name], "command_line", None))
            for name, source in plan.programs.items()
        ]  # fmt: skip
        for process in processes:
            name = process.name
            client = self._clients[name] = connect(process)
            self._programs[name] = built[plan.programs[name]][1]
            self._epochs[name] = _epoch_us(client)
            ports = self._interfaces(name)
            control.require_ports(client, ports)
            control.set_queues(client, self._rates(name, ports), self._depth())
            control.install(client, self._programs[name], plan.whole_setup(name))
            frames = [round(frame_us) for frame_us in self._frame_us(name)]
            control.write_register(client, telemetry.FRAME, frames)

    def _build(self, source: ProgramSource) -> tuple[Path, Program]:
        """Compile a program with its telemetry into a JSON file of its own."""
        extra = telemetry.defines(self._plan.scenario)
        definitions = dict((*source.defines, *extra))
        if source.compiler == "p4c":
            document = compile_with_p4c(
                source.path,
                defines=[f"{name}={value}" for name, value in definitions.items()],
                include_paths=source.includes,
            )
        else:
            document = compile_file(source.path, defines=definitions, include_paths=source.includes)
        path = Path(self._folder.name) / f"{source.path.stem}-{abs(hash(source))}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path, read_program(document, source.path.stem)

    def _interfaces(self, name: str) -> dict[int, str]:
        """Return the interfaces of a switch's ports whose links are up."""
        node = next(node for node in self._plan.topology.nodes if node.name == name)
        number = self._plan.topology.nodes.index(node)
        cabled = {
            link.lower_port if link.lower == number else link.upper_port
            for link in self._plan.topology.links
            if link.up and number in (link.lower, link.upper)
        }
        return {port: interface(node, port) for port in sorted(cabled)}

    def _speeds(self, name: str) -> list[Speed]:
        """Return the speeds of the links at a switch's ports, from port 0, which has none."""
        topology, speeds = self._plan.topology, self._plan.scenario.speeds
        number = self._numbers[name]
        found = [speeds.tiers["host"]] * (topology.nodes[number].ports + 1)
        for link in topology.links:
            if number in (link.lower, link.upper):
                port = link.lower_port if link.lower == number else link.upper_port
                ends = (topology.nodes[link.lower].name, topology.nodes[link.upper].name)
                found[port] = speeds.between(*ends)
        return found

    def _frame_us(self, name: str) -> list[float]:
        """Return the real time of a data frame and its gap on each port's link, in microseconds."""
        scenario = self._plan.scenario
        return [
            slot_ps(scenario.data_frame_bytes, scenario, speed)
            * self.dilation
            / telemetry.PICOSECONDS
            for speed in self._speeds(name)
        ]

    def _rates(self, name: str, ports: Iterable[int]) -> dict[int, tuple[int, int]]:
        """Return the rates of ports' links in data frames and in ACKs a second."""
        speeds = self._speeds(name)
        return {
            port: frame_rates(self._plan.scenario, speeds[port], self.dilation) for port in ports
        }

    def _depth(self) -> int:
        scenario = self._plan.scenario
        if scenario.buffer_bytes is None:
            return UNLIMITED_PACKETS
        return max(scenario.buffer_bytes // scenario.data_frame_bytes, 1)

    def _start(self, clock: Clock) -> None:
        """Note when paper time begins, and read the queues from now on."""
        self._start_us = clock.start_ns / 1000
        self._halted.clear()
        threading.Thread(target=self._read_queues, daemon=True).start()

    def _halt(self) -> None:
        self._halted.set()

    def _read_queues(self) -> None:
        """Read until halted; that a switch has died is for require_alive to say."""
        with contextlib.suppress(Bmv2Error):
            while not self._halted.wait(READ_SECONDS):
                with self._lock:
                    if self._halted.is_set():
                        return
                    self._read_slots()

    def _read_slots(self) -> None:
        for name, client in self._clients.items():
            self._series.add(self._numbers[name], _read(client, telemetry.RING))

    @property
    def _numbers(self) -> dict[str, int]:
        nodes = self._plan.topology.nodes
        return {nodes[number].name: number for number in self._plan.topology.switches}

    def _timing(self, name: str) -> telemetry.Timing:
        return telemetry.Timing(self._epochs[name], self._start_us, self.dilation)

    def _records(self, from_ps: int, to_ps: int) -> Records:
        """Return all that the switches noted; queue means are over the given paper times."""
        self._read_slots()
        window_us = (to_ps - from_ps) * self.dilation / telemetry.PICOSECONDS
        ports = self._ports(window_us)
        timings = {number: self._timing(name) for name, number in self._numbers.items()}
        totals = dict.fromkeys(dtype_of("dp_totals").names or (), 0)
        totals["hops"] = int(ports["packets"].sum())
        return Records(
            np.zeros(0, dtype=dtype_of("dp_flow_record")),
            ports,
            self._series.samples(timings, self._plan.scenario.data_frame_bytes),
            np.zeros(0, dtype=dtype_of("dp_pacing")),
            totals,
            np.zeros(0, dtype=dtype_of("dp_arrivals")),
        )

    def _ports(self, window_us: float) -> NDArray[np.void]:
        nodes = self._plan.topology.nodes
        names = (*telemetry.COUNTS, *telemetry.PER_PORT)
        return np.concatenate(
            [
                telemetry.port_records(
                    number,
                    nodes[number].ports,
                    _read(self._clients[name], names),
                    scenario=self._plan.scenario,
                    timing=self._timing(name),
                    frame_us=self._frame_us(name),
                    window_us=window_us,
                )
                for name, number in self._numbers.items()
            ]
        )

    def _registers(self, switch: str) -> dict[str, list[int]]:
        """Return a switch's registers by P4 name, those of its telemetry left out."""
        client = self._clients[switch]
        return {
            register.name: control.read_register(client, register.name)
            for register in self._programs[switch].registers
            if not register.name.startswith(telemetry.PREFIX)
        }

    def _tables(self, switch: str) -> list[str]:
        return control.table_lines(self._clients[switch], self._programs[switch])

    def _rewrite(self, changes: Mapping[str, SwitchChange]) -> None:
        for name, change in changes.items():
            client, program = self._clients[name], self._programs[name]
            control.remove_entries(client, program, change.remove)
            control.add_entries(client, program, change.add)
            for table, (action, arguments) in change.defaults.items():
                control.set_default(client, program, table, action, arguments)

    def _set_port(self, node: int, port: int, *, up: bool) -> None:
        """Detach a port, or attach it again; what is sent to a detached one is lost."""
        described = self._plan.topology.nodes[node]
        client, name = self._clients[described.name], interface(described, port)
        if up:
            interfaces.set_link(interfaces.Pair("", name), up=True)
        control.attach_port(client, port, name if up else None)

    def _processor_ns(self) -> int:
        return sum(processor_ns(client.process) for client in self._clients.values())

    def _end_switches(self) -> None:
        self._halted.set()
        for client in self._clients.values():
            client.close()
            client.process.popen.terminate()
        for client in self._clients.values():
            client.process.stop()
        self._clients.clear()


def frame_rates(scenario: Scenario, speed: Speed, dilation: float) -> tuple[int, int]:
    """Return a link's rate in data frames and in ACKs per second of real time, whole numbers."""
    slots = (
        slot_ps(size, scenario, speed) for size in (scenario.data_frame_bytes, scenario.ack_bytes)
    )
    data, acks = (max(round(PICOSECONDS_PER_SECOND / (slot * dilation)), 1) for slot in slots)
    return data, acks


def slot_ps(frame_bytes: int, scenario: Scenario, speed: Speed) -> int:
    """Return the time of a frame and the gap after it on a link, in picoseconds of paper time."""
    return round((frame_bytes + scenario.gap_bytes) * speed.picoseconds_per_byte)


def _read(client: Client, names: tuple[str, ...]) -> telemetry.Registers:
    return {name: control.read_register(client, telemetry.PREFIX + name) for name in names}


def _epoch_us(client: Client) -> float:
    """Return the monotonic clock's time at which the switch's clock showed 0."""
    before = time.monotonic_ns()
    elapsed: int = client.simple_switch.get_time_elapsed_us()
    return (before + time.monotonic_ns()) / 2000 - elapsed
