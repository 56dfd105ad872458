"""`python -m testbed`: enter a running fabric, run others' networks, hand ours to others."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from environment import Parser
from errors import UserError, telling
from testbed import schemes
from testbed.mininet import sandbox
from testbed.mininet.attach import command_line, described, find_fabric
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 2 with one line on standard error for bad input."""
    parser = Parser(prog="python -m testbed", description=__doc__)
    commands = parser.add_subparsers(required=True)
    _add_attach(commands.add_parser("attach", help="enter a running fabric"))
    _add_run(commands.add_parser("run", help="run a network of the p4lang tutorials"))
    _add_export(commands.add_parser("export", help="write a fabric as an application of p4-utils"))
    _add_trace(commands.add_parser("trace", help="run again what a result folder has, traced"))
    _add_new_scheme(commands.add_parser("new-scheme", help="begin a scheme of your own"))
    given = parser.parse_args(arguments)
    work: Callable[[argparse.Namespace], int] = given.work
    return telling("testbed", lambda: work(given))


def _add_attach(parser: argparse.ArgumentParser) -> None:
    parser.description = "Enter a running fabric from another terminal, as root if it runs as root."
    parser.add_argument("--fabric", type=int, help="its process id (default: the newest one)")
    parser.add_argument("--node", help="enter this host, such as h0, instead of the switches' side")
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, help="what to run there (default: a shell)"
    )
    parser.set_defaults(work=_attach)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.description = "Run a topology.json with its sN-runtime.json on the engine, in Mininet."
    parser.add_argument("topology", type=Path, help="the exercise's topology.json")
    parser.add_argument("--program", type=Path, help="the .p4 or .json of all switches")
    parser.add_argument(
        "--command", action="append", default=[], help="run this at the prompt; may be repeated"
    )
    parser.set_defaults(work=_run)


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write network, programs and entries for `p4run`, as p4app.json."
    parser.add_argument("folder", type=Path, help="where to write them")
    parser.add_argument("--scheme", default="ofan", help=f"one of {', '.join(schemes.names())}")
    parser.add_argument("--k", type=int, default=4, help="ports of a switch (default: 4)")
    parser.add_argument("--seed", type=int, default=1, help="of initial pointers and salts")
    parser.add_argument("--topology", choices=("fat-tree", "leaf-spine"), default="fat-tree")
    parser.add_argument("--rate", type=int, help="frames a second of every port (default: any)")
    parser.set_defaults(work=_export)


def _add_trace(parser: argparse.ArgumentParser) -> None:
    parser.description = "Run a finished run of virtual time again and keep every frame's way."
    parser.add_argument("run", type=Path, help="the run's result folder")
    parser.add_argument("file", type=Path, help="where to write the trace (numpy's .npz)")
    parser.set_defaults(work=_trace)


def _add_new_scheme(parser: argparse.ArgumentParser) -> None:
    parser.description = "Write NAME.p4 and NAME.toml, a scheme that runs as it is."
    parser.add_argument("name", type=Path, help="what it is called, after its folder if not this")
    parser.set_defaults(work=_new_scheme)


def _attach(given: argparse.Namespace) -> int:
    command = given.command[1:] if given.command[:1] == ["--"] else given.command
    fabric = find_fabric(given.fabric)
    words = command_line(fabric, given.node, command)
    print(described(fabric, given.node), file=sys.stderr, flush=True)
    return subprocess.call(words)


def _run(given: argparse.Namespace) -> int:
    if reason := sandbox.why_not():
        raise UserError(reason)

    def work() -> int:
        from testbed.exchange.run import run  # noqa: PLC0415 - imports Mininet

        return run(given.topology, given.program, given.command)

    return sandbox.run_inside(lambda: telling("testbed", work))


def _export(given: argparse.Namespace) -> int:
    from testbed.exchange.p4utils import export  # noqa: PLC0415 - the others need no export
    from testbed.switches import load_program  # noqa: PLC0415

    scenario = Scenario(scheme=given.scheme, k=given.k, seed=given.seed, topology=given.topology)
    plan = plan_for(scenario, tick_ps=1_000_000)
    programs = {source: load_program(source).model for source in set(plan.programs.values())}
    print(export(plan, programs, given.folder, given.rate))
    return 0


def _trace(given: argparse.Namespace) -> int:
    from testbed.virtual.trace import record  # noqa: PLC0415 - builds the event core

    record(given.run, given.file)
    return 0


def _new_scheme(given: argparse.Namespace) -> int:
    from testbed.schemes import skeleton  # noqa: PLC0415 - the others need none

    files = skeleton.write(given.name.name, given.name.parent)
    print(f"{' and '.join(str(file) for file in files)}; run it with")
    print(f"  experiments/run.py --on virtual --scheme-file {files[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
