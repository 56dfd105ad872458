"""`python -m testbed attach`: enter a running fabric from another terminal."""

from __future__ import annotations

import argparse
import subprocess
import sys

from testbed.mininet.attach import AttachError, command_line, find_fabric


def main() -> int:
    """Run the command line; returns 2 with one line on standard error for bad input."""
    parser = argparse.ArgumentParser(prog="python -m testbed", description=__doc__)
    commands = parser.add_subparsers(required=True)
    attach = commands.add_parser(
        "attach", help="enter a running fabric, as root if it runs as root"
    )
    attach.add_argument("--fabric", type=int, help="its process id (default: the newest one)")
    attach.add_argument("--node", help="enter this host, such as h0, instead of the switches' side")
    attach.add_argument("command", nargs="*", help="what to run there (default: a shell)")
    given = parser.parse_args()
    try:
        words = command_line(find_fabric(given.fabric), given.node, given.command)
    except AttachError as error:
        print(f"attach: {error}", file=sys.stderr)
        return 2
    return subprocess.call(words)


if __name__ == "__main__":
    sys.exit(main())
