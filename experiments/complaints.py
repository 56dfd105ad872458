"""What went wrong, in the words that a user reads: one line, FILE first where there is one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def in_words(error: Exception) -> str:
    """Return an error's message; one of the system as `FILE: what`, without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    what = error.strerror[:1].lower() + error.strerror[1:]
    return what if error.filename is None else f"{error.filename}: {what}"


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Name a folder in errors of the system that name no file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.strerror is not None:
            error.filename = str(folder)
        raise
