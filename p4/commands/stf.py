"""`python -m p4 stf`: run STF scripts on a P4 program."""

import argparse
import sys
from pathlib import Path

from errors import UserError
from p4.commands.compile import add_compile_arguments
from p4.commands.load import load_program
from p4.stf import StfMismatchError, read_stf, run_stf


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stf`."""
    add_compile_arguments(parser)
    parser.add_argument("scripts", type=Path, nargs="+", help="STF scripts")


def run(arguments: argparse.Namespace) -> int:
    """Run the scripts, each on a new switch; returns 1 if one fails, 2 for wrong input."""
    try:
        program = load_program(arguments)
        scripts = [(path, read_stf(path)) for path in arguments.scripts]
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    failed = 0
    for path, steps in scripts:
        try:
            run_stf(program, steps)
        except StfMismatchError as error:
            failed += 1
            sys.stdout.write(f"{path}: {error}\n")
        else:
            sys.stdout.write(f"{path}: passed\n")
    return 1 if failed else 0
