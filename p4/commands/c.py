"""`python -m p4 c`: a P4 program, or its BMv2 JSON, to C."""

import argparse
import sys
from pathlib import Path

from errors import UserError
from p4.codegen.generate import generate_c
from p4.codegen.reader import read_file, read_program
from p4.commands.compile import add_compile_arguments, compile_program, write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `c`."""
    add_compile_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, help="where to write it (default: stdout)")


def run(arguments: argparse.Namespace) -> int:
    """Write the C; returns 2 if the program is wrong or the file unwritable."""
    try:
        if arguments.program.suffix == ".json":
            program = read_file(arguments.program)
        else:
            program = read_program(compile_program(arguments), arguments.program.stem)
        text = generate_c(program)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return write_result(text, arguments)
