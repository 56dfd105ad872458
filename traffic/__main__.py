"""Send and watch frames by hand: `python -m traffic send`, `sniff` and `workloads`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from environment import Parser
from errors import INTERRUPTED, UserError, telling
from traffic import readers
from traffic import sniff as sniffing
from traffic.frames import Ends
from traffic.readers import READERS
from traffic.request import Request
from traffic.send import entropies, prebuilt, send
from traffic.sockets import address_of, first_interface
from traffic.workloads import WORKLOADS

MOST_HOSTS = 1 << 20
EXAMPLES = """
examples, inside two hosts of a running network (mininet> h0 python -m traffic ...):
  python -m traffic sniff --answer --seconds 5     print what arrives, and acknowledge data
  python -m traffic send --to 10.3.1.2             one data frame of 4,096 B
  python -m traffic send --to 10.3.1.2 --count 1000 --rate 500 --payload 1024 --entropies 16
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 after an error told in one line."""
    options = _parser().parse_args(arguments)
    code = telling("traffic", lambda: int(options.run(options)))
    return 0 if code == INTERRUPTED else code


def _parser() -> Parser:
    parser = Parser(
        prog="python -m traffic",
        description="Send and watch the testbed's RoCEv2 frames by hand.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_send(commands)
    _add_sniff(commands)
    listing = commands.add_parser("workloads", help="list the collectives and their options")
    listing.set_defaults(run=_list_workloads)
    _add_convert(commands)
    return parser


def _add_send(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "send",
        help="send data frames to a host at a steady rate",
        description="Send data frames at absolute deadlines: a late frame delays no other.",
    )
    parser.add_argument("--to", required=True, metavar="ADDRESS", help="IPv4 address of the host")
    parser.add_argument(
        "--from", dest="sender", metavar="ADDRESS", help="sender's address (the interface's)"
    )
    parser.add_argument("--interface", help="where to send (the first, loopback aside)")
    parser.add_argument("--count", type=_natural, default=1, help="frames to send (1)")
    parser.add_argument(
        "--rate", type=_rate, default=100.0, help="frames a second; 0: no pacing (100)"
    )
    parser.add_argument(
        "--payload", type=_natural, default=4096, metavar="BYTES", help="a frame's (4096)"
    )
    parser.add_argument(
        "--flow", type=_natural, default=1, help="flow id, the destination QP less 2 (1)"
    )
    parser.add_argument("--entropy", type=_natural, default=49_152, help="UDP source port (49152)")
    parser.add_argument(
        "--entropies", type=_natural, default=1, metavar="N", help="spray over N source ports (1)"
    )
    parser.set_defaults(run=_send)


def _add_sniff(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "sniff",
        help="print the RoCEv2 frames that arrive",
        description="Print one line a frame: time, class, hosts, flow, PSN, entropy, size, mark.",
    )
    parser.add_argument("--interface", help="where to look (the first, loopback aside)")
    parser.add_argument("--count", type=_natural, default=0, help="stop after so many (never)")
    parser.add_argument("--seconds", type=_rate, default=0.0, help="stop after so long (never)")
    parser.add_argument("--answer", action="store_true", help="acknowledge each data frame")
    parser.set_defaults(run=_sniff)


def _add_convert(commands: argparse._SubParsersAction[Parser]) -> None:
    parser = commands.add_parser(
        "convert",
        help="turn a traffic file of one format into another",
        description="Read a file of any format of `workloads` and write a .cm or .goal file.",
    )
    parser.add_argument("source", type=Path, metavar="FILE", help="what is read")
    parser.add_argument("target", type=Path, metavar="FILE", help="what is written")
    parser.add_argument("--hosts", type=_natural, default=MOST_HOSTS, help="of the network (any)")
    parser.add_argument(
        "--message", type=_natural, default=1 << 20, help="of connections without size (1048576)"
    )
    parser.set_defaults(run=_convert)


def _convert(options: argparse.Namespace) -> int:
    source, target = readers.find(options.source.name), readers.find(options.target.name)
    for path, able in ((options.source, source), (options.target, target and target.write)):
        if not able:
            raise UserError(f"{path}: not a format that this can be converted from or to")
    assert source and target and target.write  # noqa: PT018 - looked at just before
    hosts = options.hosts
    import numpy as np  # noqa: PLC0415 - the project's environment is entered before

    request = Request(hosts, hosts, hosts, options.message, np.random.default_rng(1))
    flows = source.read(options.source, request)
    target.write(options.target, flows)
    print(f"{options.target}: {len(flows):,} messages and computations")
    return 0


def _send(options: argparse.Namespace) -> int:
    interface = options.interface or first_interface()
    ends = Ends(options.sender or address_of(interface), options.to)
    frames = prebuilt(
        ends,
        flow=options.flow,
        entropies=list(entropies(options.entropy, max(1, options.entropies))),
        payload_bytes=options.payload,
        count=options.count,
    )
    print(
        f"{interface}: {ends.source} > {ends.destination}: {send(interface, frames, options.rate)}"
    )
    return 0


def _sniff(options: argparse.Namespace) -> int:
    interface = options.interface or first_interface()
    frames = sniffing.sniff(interface, seconds=options.seconds, answer=options.answer)
    for number, (seconds, frame) in enumerate(frames, 1):
        print(sniffing.line(seconds, frame), flush=True)
        if number == options.count:
            break
    return 0


def _list_workloads(_: argparse.Namespace) -> int:
    for workload in WORKLOADS:
        options = f"  ({workload.options_text})" if workload.options else ""
        print(f"{workload.name:12} {workload.summary}{options}")
    for reader in READERS:
        files = ", ".join(f"FILE{ending}" for ending in reader.suffixes)
        print(f"{files:12} {reader.summary}")
    return 0


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise ValueError
    return value


def _rate(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError
    return value


_natural.__name__, _rate.__name__ = "whole number", "number"


if __name__ == "__main__":
    sys.exit(main())
