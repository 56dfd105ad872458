"""The event core's shared object: built when its sources change, loaded through cffi.

The tables of what hosts can do (testbed/hosts.py) are written into a header at that time.
"""

from __future__ import annotations

import functools
import hashlib
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cffi

from errors import UserError
from p4.codegen.build import CODEGEN, cache_folder, compiler_command
from p4.wire import WIRE
from testbed import hosts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.hosts import Registered
    from testbed.parameters import Parameter

HERE = Path(__file__).parent
FOLDERS = (HERE, HERE / "hosts", HERE / "real")
REGISTRY = "registry.h"
LANGUAGE = ("-std=gnu11", "-D_GNU_SOURCE", "-pthread", "-fPIC", "-shared", "-fvisibility=hidden")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
FAST = ("-O3", "-g")
SANITIZED = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined")


@functools.cache
def load() -> tuple[Any, Any]:
    """Return cffi's (ffi, library) of the event core, building the shared object if need be.

    Raises UserError if it cannot be built.
    """
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    return ffi, ffi.dlopen(str(build()))


def declarations() -> str:
    """Return what lies between the guard lines of dataplane.h, as cffi's parser takes it."""
    text = (HERE / "dataplane.h").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def registry() -> str:
    """Return the header that tells C the registry of hosts: lists of names, places of parameters.

    `CONGESTIONS(X)` is `X(none) X(dctcp) ...`; NSCC_TARGET_US is a place in its parameters.
    """
    kinds: dict[str, Sequence[Registered]] = {
        "ENTROPIES": hosts.ENTROPIES,
        "CONGESTIONS": hosts.CONGESTIONS,
        "RECOVERIES": hosts.RECOVERIES,
    }
    lines = ["/* What testbed/hosts.py lists. */", "#ifndef REGISTRY_H", "#define REGISTRY_H"]
    for kind, entries in kinds.items():
        called = " ".join(f"X({_identifier(entry.name)})" for entry in entries)
        lines.append(f"#define {kind}(X) {called}")
        lines += [
            f"enum {{ {', '.join(_places(entry.name, entry.parameters))} }};"
            for entry in entries
            if entry.parameters
        ]
    return "\n".join([*lines, "#endif", ""])


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _places(owner: str, parameters: tuple[Parameter, ...]) -> list[str]:
    prefix = _identifier(owner).upper()
    return [f"{prefix}_{parameter.name.upper()}" for parameter in parameters]


def build(optimisation: tuple[str, ...] = FAST) -> Path:
    """Compile the event core into the cache of programs and return the shared object's path.

    Its name carries a digest of the sources, the contract, the compiler and the flags, so that a
    change of any makes a new file. Raises UserError with the compiler's first lines.
    """
    compiler = compiler_command()
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    include = [f"-I{folder}" for folder in (CODEGEN, WIRE, *FOLDERS)]
    command = [compiler, *LANGUAGE, *WARNINGS, *optimisation, *include]
    target = folder / f"libdataplane-{_digest(command)}.so"
    if not target.exists():
        _compile(command, target)
    return target


def _digest(command: list[str]) -> str:
    binary = Path(command[0]).resolve().stat()
    state = hashlib.sha256(f"{command} {binary.st_size} {binary.st_mtime_ns}".encode())
    state.update(registry().encode())
    for path in [
        *sorted(HERE.rglob("*.[ch]")),
        *sorted(WIRE.glob("*.[ch]")),
        CODEGEN / "pipeline.h",
    ]:
        state.update(path.name.encode())
        state.update(path.read_bytes())
    return state.hexdigest()[:24]


def _compile(command: list[str], target: Path) -> None:
    sources = [str(path) for path in [*sorted(HERE.rglob("*.c")), WIRE / "wire.c"]]
    with tempfile.TemporaryDirectory(prefix="build-", dir=target.parent) as folder:
        made = Path(folder) / target.name
        (Path(folder) / REGISTRY).write_text(registry(), encoding="utf-8")
        arguments = [f"-I{folder}", "-o", str(made), *sources]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            first = "\n".join(done.stderr.splitlines()[:20])
            raise UserError(f"the event core does not compile:\n{first}")
        made.replace(target)
