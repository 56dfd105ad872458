#!/usr/bin/env python3
"""Compare load-balancing schemes on an emulated or simulated fat tree: `run.py --help`.

Whatever Python starts this file, it continues in the project's own environment.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"


def leave_nothing_of_roots() -> None:
    """Write no bytecode into the checkout of a user who called sudo."""
    if "SUDO_UID" in os.environ:
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True


def enter_environment() -> None:
    """Become the project's Python, unless this is it; say how to make it where there is none."""
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        sys.stderr.write(f"run.py: there is no {ENVIRONMENT}; `make setup` makes it\n")
        sys.exit(2)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])  # noqa: S606


if __name__ == "__main__":
    leave_nothing_of_roots()
    enter_environment()
    sys.path[0] = str(ROOT)
    from experiments.main import main

    sys.exit(main(sys.argv[1:]))
