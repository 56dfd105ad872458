"""`python -m testbed run topology.json`: a network of the p4lang tutorials on our engine."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from typing import TYPE_CHECKING

from errors import UserError, in_words
from p4.engine import Program
from p4.wire.front import Front, Limits
from testbed.exchange import forms
from testbed.exchange import network as networks
from testbed.exchange.filling import fill, rehearsed
from testbed.exchange.talk import Talk
from testbed.exchange.tutorials import interface, read_topology

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from pathlib import Path

    from testbed.exchange.runtime import Runtime
    from testbed.exchange.tutorials import Network
    from testbed.exchange.tutorials import Switch as Described

START_SECONDS = 30.0
QUEUE_PACKETS = 1000
BYTES_A_MEGABIT = 125_000

Loaded = dict[str, tuple[Program, "Runtime | None"]]


def run(topology: Path, program: Path | None, commands: Sequence[str]) -> int:
    """Run a network inside this sandbox: `commands` of Mininet's prompt, or the prompt itself.

    Raises UserError for what is wrong in the files, before anything is started.
    """
    network = read_topology(topology)
    loaded = load(topology, network, program)
    for switch in network.switches:
        if switch.cpu_port is not None:
            sys.stderr.write(f"{switch.name}: no controller listens at port {switch.cpu_port}\n")
    net = networks.start(network)
    try:
        switches = _start_switches(topology, network, loaded)
        try:
            return Talk(net, switches).talk(commands)
        finally:
            switches.terminate()
            switches.join()
    finally:
        net.stop()


def load(topology: Path, network: Network, program: Path | None) -> Loaded:
    """Compile each switch's program, and try its entries on a switch that has no ports.

    Raises UserError or CompileError.
    """
    programs: dict[Path, Program] = {}
    loaded: Loaded = {}
    for switch in network.switches:
        path = program or program_of(topology, switch)
        if path not in programs:
            programs[path] = Program.load(path)
        runtime = None
        if switch.runtime is not None:
            runtime = rehearsed(switch.runtime, programs[path])
        loaded[switch.name] = programs[path], runtime
    return loaded


def _start_switches(
    topology: Path, network: Network, loaded: Loaded
) -> multiprocessing.process.BaseProcess:
    """Start the process of all switches; UserError at once if it does not come up."""
    told, telling = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_serve, args=(network, loaded, telling), daemon=True)
    process.start()
    telling.close()
    try:
        said = told.recv() if told.poll(START_SECONDS) else "they do not answer"
    except EOFError:
        said = "their process died"
    if said:
        process.kill()
        raise UserError(f"{topology}: the switches did not start: {said}")
    return process


def program_of(topology: Path, switch: Described) -> Path:
    """Find a switch's program: the JSON that it names if it was built, else the P4 of that name.

    Raises UserError if no file names a program, or there is none of that name.
    """
    named = switch.program
    if named is None and switch.runtime is not None:
        text = forms.read(switch.runtime, forms.Runtime).bmv2_json
        named = None if text is None else switch.runtime.parent / text
    if named is None:
        raise UserError(f"{topology}: switch {switch.name} names no program; use --program")
    folders = (topology.parent, topology.parent.parent)
    places = [named, *(folder / f"{named.stem}.p4" for folder in folders)]
    for place in places:
        if place.is_file():
            return place
    raise UserError(f"{topology}: switch {switch.name}: there is no {named.stem}.p4")


def _serve(network: Network, loaded: Loaded, telling: Connection) -> None:
    """Be the process of all switches, until it is ended; tell how the start went, "" for well."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        front = Front()
        for name, (program, runtime) in loaded.items():
            number, switch = front.add_switch(program)
            _add_ports(front, number, network, name)
            if runtime is not None:
                fill(switch, runtime)
    except (UserError, OSError) as error:
        telling.send(in_words(error))
        return
    telling.send("")
    telling.close()
    front.run()


def _add_ports(front: Front, number: int, network: Network, switch: str) -> None:
    hosts = {host.name for host in network.hosts}
    for cable in network.cables:
        for end, other in ((cable.lower, cable.upper), (cable.upper, cable.lower)):
            if end.node == switch:
                front.add_port(
                    number,
                    end.port,
                    interface(end),
                    Limits(
                        depth=QUEUE_PACKETS,
                        bytes_a_second=(cable.rate_mbps or 0) * BYTES_A_MEGABIT,
                        delay_us=cable.delay_us,
                    ),
                    inner=other.node not in hosts,
                )
