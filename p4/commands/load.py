"""Load the program that a command line names: P4 source or BMv2 JSON, to a compiled program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.commands.compile import compile_program
from p4.engine import Program

if TYPE_CHECKING:
    import argparse


def load_program(arguments: argparse.Namespace) -> Program:
    """Return the program of the arguments that `add_compile_arguments` adds.

    Raises CompileError, ProgramError or UserError.
    """
    if arguments.program.suffix == ".json":
        return Program.load(arguments.program)
    return Program.from_document(compile_program(arguments), arguments.program.stem)
