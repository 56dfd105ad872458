"""The commands of run.py, and what becomes of a command line."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from errors import ending_on_sigterm, telling

if TYPE_CHECKING:
    from collections.abc import Sequence

MAIN_JOB, FIGURES = "run", "paper"
COMMANDS = {
    MAIN_JOB: "experiments.job",
    "cross": "experiments.cross",
    "sweep": "experiments.sweeping",
    "collectives": "experiments.collectives.command",
    "step": "experiments.step.command",
}
"""Modules of the commands by name; every other name is one of the paper's figures."""


def main(arguments: Sequence[str]) -> int:
    """Follow a command line; returns the exit code: 2 with one line for bad input.

    SIGTERM ends every command as Ctrl-C does, with 143.
    """
    with ending_on_sigterm():
        return _follow(arguments)


def _follow(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    # A command's module is imported when it is wanted: figures take their time to load.
    if not name:
        command = importlib.import_module(COMMANDS[MAIN_JOB])
        return telling("run.py", lambda: int(command.main(arguments)))
    if name in COMMANDS:
        command = importlib.import_module(COMMANDS[name])
        return telling("run.py", lambda: int(command.main(arguments[1:])))
    command = importlib.import_module("experiments.paper")
    return telling("run.py", lambda: int(command.main(arguments)))
