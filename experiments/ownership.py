"""Results belong to the user who called sudo, not to root."""

from __future__ import annotations

import os
from pathlib import Path


def caller() -> tuple[int, int] | None:
    """Return user and group of who called sudo, or None if nobody did."""
    if os.geteuid() != 0 or "SUDO_UID" not in os.environ:
        return None
    return int(os.environ["SUDO_UID"]), int(os.environ.get("SUDO_GID", "-1"))


def topmost_missing(path: Path) -> Path:
    """Return the first folder on the way to `path` that has to be made; `path` if it is there."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    return missing[-1] if missing else path


def hand_over(*paths: Path) -> None:
    """Give folders with all they hold, and files, to the user who called sudo."""
    owner = caller()
    if owner is None:
        return
    for path in paths:
        if not path.exists() and not path.is_symlink():
            continue
        os.chown(path, *owner, follow_symlinks=False)
        if path.is_symlink():
            continue
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.chown(Path(folder, name), *owner, follow_symlinks=False)
