"""TOML files that users write: read, or refused in one line."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from errors import UserError

if TYPE_CHECKING:
    from pathlib import Path


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """Return a file's text and what it says; raises UserError naming the file, and the line."""
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        line = f"{at[1]}: " if at else " "
        raise UserError(f"{path}:{line}not TOML: {error}") from None
    except RecursionError:
        raise UserError(f"{path}: not TOML: it is nested too deeply") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    except ValueError as error:  # a number of thousands of digits
        raise UserError(f"{path}: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
