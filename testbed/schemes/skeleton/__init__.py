"""What `python -m testbed new-scheme NAME` writes: files that run as they are, to be changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError
from testbed import schemes
from testbed.schemes.files import NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
SKELETON = "mine"


def write(name: str, folder: Path) -> Sequence[Path]:
    """Write NAME.p4 and NAME.toml into a folder, made if need be, and return them.

    Raises UserError for a name that cannot be one, that is taken, or whose files are there.
    """
    if not NAME.fullmatch(name):
        raise UserError(f"{name!r} is no name: letters, digits and _, a letter first")
    if name in schemes.names():
        raise UserError(f"{name} is a scheme already; choose another name")
    files = [folder / f"{name}{suffix}" for suffix in (".p4", ".toml")]
    if there := [file for file in files if file.exists()]:
        raise UserError(f"{there[0]} is there already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        text = (HERE / f"{SKELETON}{file.suffix}").read_text(encoding="utf-8")
        own = text.replace(SKELETON.upper(), name).replace(SKELETON, name)
        file.write_text(own, encoding="utf-8")
    return files
