"""Text files line by line: errors that name file, line and reason; numbers that are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LARGEST = 1 << 62
LARGEST_MESSAGE = 1 << 44
SHOWN = 40  # characters of a wrong word in a message


def wrong(path: Path, line: int, problem: str) -> UserError:
    """Make an error that names the file and the line."""
    return UserError(f"{path}:{line}: {problem}")


def words_of(path: Path, comment: str = "#") -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and words of all lines that have any; a byte order mark is skipped.

    Raises UserError if the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                words = line.partition(comment)[0].split() if comment in line else line.split()
                if words:
                    yield number, words
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise UserError(f"{path}: cannot be read: {reason}") from error


def whole(path: Path, line: int, name: str, text: str, most: int = LARGEST) -> int:
    """Read a whole number that is not negative, as digits or like 2e6; raises UserError."""
    if text.isascii() and text.isdigit() and len(text) < SHOWN:
        value = int(text)
    else:
        value = _from_float(text)
    if value < 0:
        raise wrong(path, line, f"{name} is {text[:SHOWN]!r}; it must be a whole number")
    if value > most:
        raise wrong(path, line, f"{name} is {text[:SHOWN]}; it must be at most {most:,}")
    return value


def _from_float(text: str) -> int:
    """Return the number that a text like 2e6 stands for, -1 if it is no whole number."""
    try:
        value = float(text)
    except ValueError:
        return -1
    if not 0 <= value < float("inf") or not value.is_integer():
        return LARGEST + 1 if value == float("inf") and "e" in text.lower() else -1
    return int(value)
