"""The looks of a report's schemes, kept next to its figures so that they can be drawn again."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from analysis.figures.style import Look
from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def keep_looks(path: Path, looks: Mapping[str, Look]) -> None:
    """Write looks by scheme into a JSON file, in their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    written = {name: asdict(look) for name, look in looks.items()}
    path.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kept_looks(path: Path) -> dict[str, Look]:
    """Return what `keep_looks` wrote, or nothing if there is no such file.

    Raises UserError if the file holds something else.
    """
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
        return {name: Look(**look) for name, look in written.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise UserError(f"{path}: not the looks of schemes: {error}") from None
