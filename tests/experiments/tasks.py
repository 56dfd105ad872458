"""Functions for worker processes of tests: they must be importable there."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def double(number: int) -> int:
    """Double a number, slowly enough for two workers to share the work."""
    time.sleep(0.02)
    return 2 * number


def fail_at_three(number: int) -> int:
    """Raise for 3, double anything else."""
    if number == 3:
        raise ValueError("three is not liked\nat all")
    return 2 * number


def die_at_three(number: int) -> int:
    """Kill the process for 3, double anything else."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def die_once(number: int, died: Path) -> int:
    """Kill the process for 3 the first time, which makes the file `died`; double anything else."""
    if number == 3 and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def sleep(folder: Path, seconds: float) -> None:
    """Sleep, leaving a file in a folder that is named by the seconds and the process."""
    (folder / f"{seconds:g} {os.getpid()}").touch()
    time.sleep(seconds)
