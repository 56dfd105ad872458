"""Who has which processor in a benchmark: what is measured the first one, generators the others."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from testbed.mininet.worker import REAL_TIME_PRIORITY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEFORE_THE_ENGINE = REAL_TIME_PRIORITY + 10
BEFORE_OTHERS = -20


def stand_aside() -> int:
    """Keep this process and its children off the first processor, and before other programs.

    Returns the processor's number.
    """
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or {first})
    os.nice(BEFORE_OTHERS)
    return first


@contextmanager
def core_share(tool: Path, core: int, share: float) -> Iterator[None]:
    """Leave a share of a processor to what is measured there; `tool` is the program of veth.c."""
    if share == 1:
        yield
        return
    first_in_line = ["taskset", "--cpu-list", str(core), "chrt", "--fifo", str(BEFORE_THE_ENGINE)]
    with subprocess.Popen([*first_in_line, str(tool), "burn", str(1 - share)]) as process:
        try:
            yield
        finally:
            process.terminate()
