"""The software switch's shared object: built when its sources change, loaded through cffi."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import cffi

from errors import UserError
from p4.codegen.build import CODEGEN, cache_folder, compiler_command

HERE = Path(__file__).resolve().parent
LANGUAGE = ("-std=gnu11", "-D_GNU_SOURCE", "-fPIC", "-shared", "-fvisibility=hidden")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
FAST = ("-O2", "-g")


@functools.cache
def load() -> tuple[Any, Any]:
    """Return cffi's (ffi, library) of the software switch; UserError if it cannot be built."""
    ffi = cffi.FFI()
    text = (HERE / "front.h").read_text(encoding="utf-8")
    ffi.cdef("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return ffi, ffi.dlopen(str(build()))


def build() -> Path:
    """Compile the software switch into the cache of programs and return its path."""
    compiler, folder = compiler_command(), cache_folder()
    command = [compiler, *LANGUAGE, *WARNINGS, *FAST, f"-I{CODEGEN}", f"-I{HERE}"]
    target = folder / f"libfront-{_digest(command)}.so"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=folder) as place:
        made = Path(place) / target.name
        sources = [str(HERE / name) for name in ("front.c", "wire.c")]
        words = [*command, "-o", str(made), *sources]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
            raise UserError(f"the software switch does not compile: {first[0]}")
        made.replace(target)
    return target


def _digest(command: list[str]) -> str:
    binary = Path(command[0]).resolve().stat()
    state = hashlib.sha256(f"{command} {binary.st_size} {binary.st_mtime_ns}".encode())
    for path in [*sorted(HERE.glob("*.[ch]")), CODEGEN / "pipeline.h"]:
        state.update(path.name.encode())
        state.update(path.read_bytes())
    return state.hexdigest()[:24]
