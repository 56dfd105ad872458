"""JSON files written by people: read with errors that name the file and the place in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from errors import UserError

if TYPE_CHECKING:
    from pathlib import Path


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object in which no name stands twice; raises UserError naming the file."""
    try:
        document = json.loads(
            path.read_text(encoding="utf-8-sig"),
            object_pairs_hook=_without_repetition,
            parse_constant=_no_number,
        )
        json.dumps(document, ensure_ascii=False).encode()  # half of a pair of UTF-16 is no text
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict):
        raise UserError(f"{path}: not a JSON object")
    return document


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(f"{json.dumps(name)} stands twice in one object")
        members[name] = value
    return members


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number")
