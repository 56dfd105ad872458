"""The event core's shared object: built when its sources change, loaded through cffi."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import cffi

HERE = Path(__file__).parent
CONTRACT = HERE.parent.parent / "p4" / "codegen"
LANGUAGE = ("-std=gnu11", "-D_GNU_SOURCE", "-pthread")
FLAGS = (*LANGUAGE, "-O3", "-g", "-fPIC", "-shared", "-fvisibility=hidden")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZED = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer", "-O1")


class DataplaneError(Exception):
    """The event core refused a call; the message says what and why."""


@functools.cache
def load() -> tuple[Any, Any]:
    """Return cffi's (ffi, library) of the event core, building the shared object if need be."""
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    return ffi, ffi.dlopen(str(build()))


def declarations() -> str:
    """Return what lies between the guard lines of dataplane.h, as cffi's parser takes it."""
    text = (HERE / "dataplane.h").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def build(extra_flags: tuple[str, ...] = ()) -> Path:
    """Compile the event core into the cache and return the shared object's path.

    The name carries a digest of the sources, the contract and the flags, so that a change of any
    makes a new file. Raises DataplaneError with the compiler's first lines if it fails.
    """
    sources = sorted(HERE.glob("*.c"))
    flags = (*FLAGS, *machine_flags(), *WARNINGS, *extra_flags)
    target = cache_folder() / f"libdataplane-{_digest(flags)}.so"
    if not target.exists():
        _compile(sources, flags, target)
    return target


def machine_flags() -> tuple[str, ...]:
    """Return the flags that fit the code to this machine, which the cache belongs to."""
    return ("-march=native",)


def cache_folder() -> Path:
    """Return the folder of compiled objects, made if need be."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "ofan-testbed"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(flags: tuple[str, ...]) -> str:
    digest = hashlib.sha256(" ".join(flags).encode())
    for path in [*sorted(HERE.glob("*.[ch]")), CONTRACT / "pipeline.h"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _compile(sources: list[Path], flags: tuple[str, ...], target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder) / target.name
        command = ["gcc", *flags, f"-I{CONTRACT}", "-o", str(made), *map(str, sources), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise DataplaneError("gcc is not installed; the event core needs it") from error
        except subprocess.CalledProcessError as error:
            first = "\n".join(error.stderr.splitlines()[:20])
            raise DataplaneError(f"the event core does not compile:\n{first}") from error
        made.rename(target)
