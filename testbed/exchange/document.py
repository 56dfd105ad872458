"""JSON files written by people: read with errors that name the file and the place in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


class ExchangeError(ValueError):
    """A file that cannot be used; the message names it, the place and what is wrong there."""


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; raises ExchangeError naming the file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExchangeError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ExchangeError(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ExchangeError(f"{path}: not a JSON object")
    return document


def member(document: dict[str, Any], name: str, kind: type, place: str) -> Any:
    """Return a member of an object if it has the wanted kind; ExchangeError names `place`."""
    if name not in document:
        raise ExchangeError(f'{place}: "{name}" is missing')
    value = document[name]
    if not isinstance(value, kind):
        raise ExchangeError(f'{place}: "{name}" is {value!r}; it should be a {_WORDS[kind]}')
    return value


_WORDS = {dict: "JSON object", list: "list", str: "string", int: "number"}
