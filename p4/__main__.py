"""`python -m p4`: the tools around P4 programs, as subcommands."""

import importlib
import sys
from collections.abc import Sequence

from environment import Parser
from p4.commands import COMMANDS


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand; returns its exit code."""
    words = sys.argv[1:] if argv is None else list(argv)
    parser = Parser(prog="python -m p4", description=__doc__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name in words:
            importlib.import_module(f"p4.commands.{name}").add_arguments(subparser)
    arguments = parser.parse_args(words)
    try:
        return int(importlib.import_module(f"p4.commands.{arguments.command}").run(arguments))
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
