"""`python -m testbed run topology.json`: a network of the p4lang tutorials on our engine."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from typing import TYPE_CHECKING, Any

from p4.engine import Program
from testbed.exchange import network as networks
from testbed.exchange.document import ExchangeError, read_json
from testbed.exchange.runtime import read_runtime
from testbed.exchange.softswitch import Events, Port, SoftSwitch, serve
from testbed.exchange.tutorials import read_topology
from testbed.mininet.nodes import CLI

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.synchronize import Event
    from pathlib import Path

    from testbed.exchange.runtime import Replica, Runtime
    from testbed.exchange.tutorials import Network
    from testbed.exchange.tutorials import Switch as Described

START_SECONDS = 30.0
FIRST_COPIES_GROUP = 1 << 14  # groups for clone sessions of several ports, above the program's own

Loaded = dict[str, tuple[Program, "Runtime | None"]]


def run(topology: Path, program: Path | None, commands: Sequence[str]) -> int:
    """Run a network inside this sandbox: `commands` of Mininet's prompt, or the prompt itself.

    Raises ExchangeError, CompileError or InterfaceError for what is wrong in the files.
    """
    network = read_topology(topology)
    loaded = load(topology, network, program)
    net = networks.start(network)
    ready = multiprocessing.Event()
    switches = multiprocessing.Process(target=_serve, args=(network, loaded, ready), daemon=True)
    switches.start()
    try:
        if not ready.wait(START_SECONDS):
            raise ExchangeError(f"{topology}: the switches did not start")
        _talk(net, commands)
    finally:
        switches.terminate()
        switches.join()
        net.stop()
    return 0


def load(topology: Path, network: Network, program: Path | None) -> Loaded:
    """Compile each switch's program and read its entries; raises ExchangeError or CompileError."""
    programs: dict[Path, Program] = {}
    loaded: Loaded = {}
    for switch in network.switches:
        path = program or program_of(topology, switch)
        if path not in programs:
            programs[path] = Program.load(path)
        model = programs[path].model
        runtime = read_runtime(switch.runtime, model) if switch.runtime else None
        loaded[switch.name] = programs[path], runtime
    return loaded


def program_of(topology: Path, switch: Described) -> Path:
    """Find a switch's program: the JSON that it names if it was built, else the P4 of that name.

    Raises ExchangeError if no file names a program, or there is none of that name.
    """
    named = switch.program
    if named is None and switch.runtime is not None:
        text = read_json(switch.runtime).get("bmv2_json")
        named = switch.runtime.parent / text if isinstance(text, str) else None
    if named is None:
        raise ExchangeError(f"{topology}: switch {switch.name} names no program; use --program")
    folders = (topology.parent, topology.parent.parent)
    places = [named, *(folder / f"{named.stem}.p4" for folder in folders)]
    for place in places:
        if place.exists():
            return place
    raise ExchangeError(f"{topology}: switch {switch.name}: there is no {named.stem}.p4")


def _talk(net: Any, commands: Sequence[str]) -> None:
    if not commands:
        CLI(net)
        return
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as script:
        script.write("\n".join([*commands, ""]))
        script.flush()
        CLI(net, script=script.name)


def _serve(network: Network, loaded: Loaded, ready: Event) -> None:
    """Be the process of all switches, until it is ended."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    events = Events()
    switches = []
    for name, (program, runtime) in loaded.items():
        switch = SoftSwitch(program, _ports(network, name), events)
        if runtime is not None:
            _write(switch, runtime)
        switches.append(switch)
    ready.set()
    serve(switches, events)


def _ports(network: Network, switch: str) -> dict[int, Port]:
    return {
        end.port: Port(networks.interface(end), cable.rate_mbps, cable.delay_us)
        for cable in network.cables
        for end in (cable.lower, cable.upper)
        if end.node == switch
    }


def _write(switch: SoftSwitch, runtime: Runtime) -> None:
    engine = switch.engine
    for table, (action, arguments) in runtime.setup.defaults.items():
        engine.table_set_default(table, action, arguments)
    for entry in runtime.setup.entries:
        engine.table_add(entry.table, entry.match, entry.action, entry.parameters, entry.priority)
    for group, copies in runtime.groups.items():
        engine.group_set(group, _pairs(copies))
    _write_sessions(switch, runtime.sessions)


def _write_sessions(switch: SoftSwitch, sessions: Mapping[int, Sequence[Replica]]) -> None:
    for session, copies in sessions.items():
        group = FIRST_COPIES_GROUP + session
        switch.engine.group_set(group, _pairs(copies))
        switch.engine.mirror_set(session, group=group)


def _pairs(copies: Sequence[Replica]) -> list[tuple[int, int]]:
    return [(copy.port, copy.instance) for copy in copies]
