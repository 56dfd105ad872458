"""What a user sees while runs go on: how many are done, which one runs, how long it will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from types import TracebackType


class RunProgress:
    """A bar on a terminal, a line per run elsewhere. A context manager."""

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

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, what: str) -> None:
        """Say what runs now."""
        self._bar.update(self._task, description=what)

    def finish(self, line: str = "") -> None:
        """Count a run as done and print a line about it, if there is one to print."""
        self._bar.advance(self._task)
        if line:
            self.console.print(line)

    def say(self, line: str) -> None:
        """Print a notice above the bar."""
        self.console.print(line)
