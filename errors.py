"""What went wrong for a user: one family of errors, told in one line, with the exit code."""

from __future__ import annotations

import difflib
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

FAILED, WRONG_INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143


class TerminatedError(KeyboardInterrupt):
    """SIGTERM has come: to end as after Ctrl-C, with a code of its own."""


def code_of(stop: KeyboardInterrupt) -> int:
    """Return the exit code after an interruption."""
    return TERMINATED if isinstance(stop, TerminatedError) else INTERRUPTED


def terminate(_number: int, _frame: object) -> None:
    """Handle SIGTERM as Ctrl-C is handled."""
    raise TerminatedError


@contextmanager
def ending_on_sigterm() -> Iterator[None]:
    """End work on SIGTERM as on Ctrl-C: what was finished is kept and shown."""
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class UserError(Exception):
    """What was asked for cannot be done; the message says what, where, and what to do.

    `code` is the exit code of the command. There are subclasses only where someone catches them
    apart.
    """

    code = WRONG_INPUT


def telling(name: str, work: Callable[[], int]) -> int:
    """Do the work of a command and tell what went wrong in one line; returns the exit code."""
    try:
        return work()
    except BrokenPipeError:
        return FAILED
    except (UserError, OSError) as error:
        sys.stderr.write(f"{name}: {in_words(error)}\n")
        return error.code if isinstance(error, UserError) else WRONG_INPUT
    except KeyboardInterrupt as stop:
        return code_of(stop)


def in_words(error: Exception) -> str:
    """Return an error's message; one of the system as `FILE: what`, without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    what = error.strerror[:1].lower() + error.strerror[1:]
    return what if error.filename is None else f"{error.filename}: {what}"


def near(name: str, known: Iterable[str]) -> str:
    """Return what to say behind `NAME is unknown`: the nearest name there is, or all of them."""
    names = list(known)
    if not names:
        return "; there are none"
    found = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {found[0]}?" if found else f"; there are {', '.join(names)}"


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Name a folder in errors of the system that name no file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror is not None:
            error.filename = str(folder)
        raise
