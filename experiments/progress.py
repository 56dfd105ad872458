"""What a user sees while runs go on: how many are done, which one runs, how long it will take."""

from __future__ import annotations

import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import TracebackType

SILENCE_SECONDS = 25.0
"""How long nothing may be said where no bar is seen."""


class RunProgress:
    """A bar on a terminal; elsewhere a line per run and one whenever it was silent for long.

    A context manager.
    """

    def __init__(self, runs: int) -> None:
        """Expect that many runs."""
        self.console = Console(highlight=False, soft_wrap=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
            transient=True,
        )
        self._task = self._bar.add_task("", total=runs)
        self._runs, self._done, self._current = runs, 0, ""
        self._begin = time.monotonic()
        self._ended = Event()
        self._teller = Thread(target=self._tell_now_and_then, daemon=True)

    def __enter__(self) -> Self:
        self._bar.start()
        if not self.console.is_terminal:
            self._teller.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
        self._ended.set()
        if self._teller.is_alive():
            self._teller.join()

    def begin(self, what: str) -> None:
        """Say what runs now."""
        self._current = what
        self._bar.update(self._task, description=what)

    def finish(self, line: str = "") -> None:
        """Count a run as done and print a line about it, if there is one to print."""
        self._done += 1
        self._bar.advance(self._task)
        if line:
            self.console.print(line)

    def say(self, line: str) -> None:
        """Print a notice above the bar."""
        self.console.print(line)

    def _tell_now_and_then(self) -> None:
        while not self._ended.wait(SILENCE_SECONDS):
            self.console.print(self._standing())
            self.console.file.flush()

    def _standing(self) -> str:
        """Return how far the runs are and how long the rest will take, by what the done took."""
        elapsed = time.monotonic() - self._begin
        standing = f"{self._done} of {self._runs} runs done after {duration(elapsed)}"
        if self._done:
            left = elapsed / self._done * (self._runs - self._done)
            standing += f", about {duration(left)} left"
        return f"{standing}; {self._current}" if self._current else standing


def duration(seconds: float) -> str:
    """Write a time as a person would say it."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
