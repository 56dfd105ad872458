"""A worker for tests: answers, fails, and runs for a given number of steps."""

from __future__ import annotations

import os
import select
import time
from typing import TYPE_CHECKING, Any

from testbed.mininet.worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable


class Echo:
    """A role that has no network."""

    def __init__(self) -> None:
        self.running = False
        self.steps = 0
        self.commands: dict[str, Callable[..., Any]] = {
            "echo": lambda *words, **options: (words, options),
            "fail": self.fail,
            "start": self.start,
            "core": lambda: os.sched_getaffinity(0),
            "hang": lambda: time.sleep(1000),
        }

    def fail(self) -> None:
        raise ValueError("not today")

    def start(self, steps: int) -> None:
        self.running, self.steps = True, steps

    def advance(self, control: int) -> str | None:
        while self.steps:
            self.steps -= 1
            if select.select([control], [], [], 0.01)[0]:
                return None
        self.running = False
        return "done"


if __name__ == "__main__":
    serve(Echo)
