"""What loading a P4 source gave, kept beside the shared objects: the program as it was read.

A kept program is used again while the compiler, the options and every file that the source
includes are the same as when it was made.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from p4.codegen.build import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from p4.codegen.program import Program

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Kept:
    """A program, the files that it was made from, and the shared object made of it."""

    files: tuple[tuple[str, str], ...]
    program: Program
    library: str


@cache
def package_digest() -> str:
    """Return a digest of the compiler and the engine themselves."""
    state = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in {".py", ".h", ".c", ".p4"} and "programs" not in path.parts:
            status = path.stat()
            state.update(f"{path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return state.hexdigest()


def kept_name(path: Path, defines: Mapping[str, str], include_paths: Sequence[Path]) -> str:
    """Return the name under which what a source gives is kept."""
    parts = [package_digest(), str(path.resolve()), *(f"{k}={v}" for k, v in defines.items())]
    parts += [str(Path(folder).resolve()) for folder in include_paths]
    return f"source-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}.pickle"


def _digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def find_kept(name: str) -> Kept | None:
    """Return what is kept under a name, if it is still true."""
    file = cache_folder() / name
    try:
        kept = pickle.loads(file.read_bytes())  # noqa: S301  (the user's own cache folder)
        fresh = all(_digest(path) == digest for path, digest in kept.files)
    except (OSError, EOFError, AttributeError, ValueError, pickle.UnpicklingError):
        return None
    return kept if fresh and Path(kept.library).exists() else None


def keep(name: str, program: Program, library: Path, files: Iterable[str]) -> None:
    """Keep a program under a name; a cache that cannot be written to is no error."""
    kept = Kept(tuple((path, _digest(path)) for path in files), program, str(library))
    try:
        handle, temporary = tempfile.mkstemp(dir=cache_folder())
        with os.fdopen(handle, "wb") as file:
            pickle.dump(kept, file)
        Path(temporary).replace(cache_folder() / name)
    except OSError:
        return
