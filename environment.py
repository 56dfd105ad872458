"""The entrance of every command: continue in the project's own Python, and complain in one line.

Importing this first makes `python -m p4` and its like run in the project's environment, whatever
Python began them. It needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
USAGE_ERROR = 2


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message after the program's name and exit with 2."""
        sys.stderr.write(f"{self.prog}: {message}\n")
        sys.exit(USAGE_ERROR)


def enter(name: str, command: Sequence[str]) -> None:
    """Become the project's Python running a command, unless this is it.

    Exits with 2 and a line that begins with `name` where there is no environment.
    """
    leave_nothing_of_roots()
    # Without a home it keeps its lists of fonts for now only, and has much to say about that.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        sys.stderr.write(f"{name}: there is no {ENVIRONMENT}; `make setup` makes it\n")
        sys.exit(USAGE_ERROR)
    os.execv(python, [str(python), *command])  # noqa: S606


def leave_nothing_of_roots() -> None:
    """Write no bytecode into the checkout of a user who called sudo."""
    if "SUDO_UID" in os.environ:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True


def _enter_if_run_as_module() -> None:
    """Enter the environment if this process was begun as `python -m` one of the project's."""
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None and file is not None and Path(file).resolve().is_relative_to(ROOT):
        name = spec.name.removesuffix(".__main__")
        if Path(file).resolve() == ROOT.joinpath(*spec.name.split(".")).with_suffix(".py"):
            enter(name, ["-m", name, *sys.argv[1:]])


_enter_if_run_as_module()
