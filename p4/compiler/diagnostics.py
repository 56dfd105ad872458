"""Diagnostics: where in a program something is wrong, what, and what to do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from errors import UserError

ERROR = "error"
WARNING = "warning"
LINE_LIMIT = 200  # longer source lines are not shown


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file: lines and columns count from 1; `length` is in characters."""

    file: str
    line: int
    column: int
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about one place, with an optional hint on how to go on."""

    severity: str
    at: Position
    message: str
    hint: str = ""
    source_line: str = ""

    def __str__(self) -> str:
        lines = [f"{self.at}: {self.severity}: {self.message}"]
        if self.source_line and len(self.source_line) <= LINE_LIMIT:
            lines.extend([f"    {self.source_line}", f"    {self._caret()}"])
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)

    def _caret(self) -> str:
        lead = self.source_line[: self.at.column - 1]
        blank = "".join("\t" if character == "\t" else " " for character in lead)
        room = max(1, len(self.source_line) - self.at.column + 1)
        return blank + "^" * max(1, min(self.at.length, room))


class CompileError(UserError):
    """A program that cannot be compiled; `str()` gives all of its diagnostics."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))


class Abort(Exception):  # noqa: N818
    """Leaves the smallest construct that can be left after an error was recorded."""


ERROR_LIMIT = 20


@dataclass(slots=True)
class Diagnostics:
    """Collects diagnostics; passes add to it, `check` stops the compilation between passes."""

    sources: Mapping[str, Sequence[str]]
    found: list[Diagnostic] = field(default_factory=list)

    def error(self, at: Position, message: str, hint: str = "") -> None:
        """Record an error, once for the same place and message."""
        self._add(ERROR, at, message, hint)
        if sum(entry.severity == ERROR for entry in self.found) >= ERROR_LIMIT:
            self.check()

    def warning(self, at: Position, message: str, hint: str = "") -> None:
        """Record a warning: the program compiles, but probably not to what was meant."""
        self._add(WARNING, at, message, hint)

    def fail(self, at: Position, message: str, hint: str = "") -> Abort:
        """Record an error and return the exception to raise: `raise diagnostics.fail(...)`."""
        self.error(at, message, hint)
        return Abort(message)

    def check(self) -> None:
        """Raise CompileError with everything found so far if any of it is an error."""
        if any(entry.severity == ERROR for entry in self.found):
            raise CompileError(self.found)

    def _add(self, severity: str, at: Position, message: str, hint: str) -> None:
        lines = self.sources.get(at.file, ())
        text = lines[at.line - 1] if 0 < at.line <= len(lines) else ""
        diagnostic = Diagnostic(severity, at, message, hint, text)
        if diagnostic not in self.found:
            self.found.append(diagnostic)
