"""`python -m p4 run`: a P4 program as a software switch on interfaces, with a prompt."""

import argparse
import sys
from pathlib import Path

from errors import UserError
from p4.commands.compile import add_compile_arguments
from p4.commands.load import load_program
from p4.console.commands import Console, ConsoleError
from p4.console.interfaces import SoftwareSwitch

LEAVE = frozenset(("exit", "quit", "EOF"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_compile_arguments(parser)
    parser.add_argument(
        "--port",
        dest="ports",
        metavar="NUMBER=INTERFACE",
        action="append",
        default=[],
        help="use an interface as a port; once for each",
    )
    parser.add_argument("--entries", type=Path, help="a file of commands to begin with")
    parser.add_argument("--seed", type=int, default=0, help="of the program's random numbers")


def run(arguments: argparse.Namespace) -> int:
    """Run the switch until the prompt ends; returns 2 for wrong input."""
    try:
        ports = parse_ports(arguments.ports)
        program = load_program(arguments)
        switch = SoftwareSwitch(program, ports, arguments.seed)
        console = make_console(switch)
        if arguments.entries is not None:
            run_file(console, arguments.entries)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    switch.start()
    try:
        prompt(console, switch)
    except KeyboardInterrupt:
        sys.stdout.write("\n")
    finally:
        switch.stop()
    return 0


def parse_ports(words: list[str]) -> dict[int, str]:
    """Return interfaces by port number; ConsoleError for a port that is wrong or given twice."""
    ports: dict[int, str] = {}
    for word in words:
        number, _, name = word.partition("=")
        if not number.isdigit() or not name or int(number) > 510:
            raise ConsoleError(f"--port {word}: want NUMBER=INTERFACE, with a number up to 510")
        if int(number) in ports:
            raise ConsoleError(f"--port {word}: port {number} is given twice")
        ports[int(number)] = name
    return ports


def make_console(switch: SoftwareSwitch) -> Console:
    """Return the prompt's commands, those on queues and ports included."""
    console = Console(switch.switch)
    for command in (
        switch.set_queue_rate,
        switch.set_queue_depth,
        switch.port_add,
        switch.port_remove,
        switch.show_ports,
        switch.get_time_elapsed,
        switch.get_time_since_epoch,
    ):
        console.add_command(command.__name__, command)
    return console


def run_file(console: Console, path: Path) -> None:
    """Carry out a file's commands; ConsoleError names the line of the first wrong one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ConsoleError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConsoleError(f"cannot read {path}: it is not UTF-8 text") from None
    for number, line in enumerate(lines, 1):
        try:
            console.execute(line)
        except ConsoleError as error:
            raise ConsoleError(f"{path}:{number}: {error}") from None


def prompt(console: Console, switch: SoftwareSwitch) -> None:
    """Read and carry out commands until they end."""
    interactive = sys.stdin.isatty()
    while True:
        if interactive:
            sys.stdout.write("p4> ")
            sys.stdout.flush()
        line = sys.stdin.readline()
        if not line or line.strip() in LEAVE:
            return
        try:
            with switch.paused():
                text = console.execute(line)
        except ConsoleError as error:
            text = f"error: {error}"
        if text:
            sys.stdout.write(f"{text}\n")
            sys.stdout.flush()
