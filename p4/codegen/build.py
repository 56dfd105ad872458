"""Shared objects of programs: compiled once, kept in a cache, safe under parallel builds."""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from errors import UserError

CODEGEN = Path(__file__).resolve().parent
RUNTIME = CODEGEN / "runtime"
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
FAULT = re.compile(r"\.[ch]:\d+:\d+: (fatal )?error: ")
# Vector loads of what was just stored in parts stall: frames and packets are too short for them.
FLAGS = (
    "-std=gnu11",
    "-O2",
    "-fno-tree-vectorize",
    "-fno-strict-aliasing",
    "-fPIC",
    "-fvisibility=hidden",
    *WARNINGS,
)


def cache_folder() -> Path:
    """Return the folder of built programs: OFAN_CACHE, else one in the user's cache folder.

    Where the latter cannot be written, it is a temporary one that ends with this process, told in
    a line on standard error; processes started from here share it.
    """
    chosen = os.environ.get("OFAN_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "ofan"
    return folder if _writable(folder) else _private_cache(folder)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _private_cache(unusable: Path) -> Path:
    private = tempfile.mkdtemp(prefix="ofan-cache-")
    os.environ["OFAN_CACHE"] = private
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(private, ignore_errors=True)

    atexit.register(remove)
    sys.stderr.write(f"{unusable} cannot be written: compiled programs are kept for now only\n")
    return Path(private)


def compiler_command() -> str:
    """Return the C compiler's path; UserError if there is none."""
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise UserError("no C compiler found: install gcc, or set CC")


def runtime_digest(compiler: str, flags: tuple[str, ...] = FLAGS) -> str:
    """Return a digest of everything but the program that decides what a build gives."""
    state = hashlib.sha256()
    for path in [CODEGEN / "pipeline.h", *sorted(RUNTIME.iterdir())]:
        state.update(path.name.encode())
        state.update(path.read_bytes())
    binary = Path(compiler).resolve().stat()
    state.update(f"{compiler} {binary.st_size} {binary.st_mtime_ns} {' '.join(flags)}".encode())
    return state.hexdigest()


def build_program(source: str, name: str, flags: tuple[str, ...] = FLAGS) -> Path:
    """Return the shared object made from a generated C file, from the cache if it is there."""
    compiler = compiler_command()
    runtime = runtime_digest(compiler, flags)
    digest = hashlib.sha256(f"{runtime}{source}".encode()).hexdigest()
    target = cache_folder() / f"{name}-{digest[:24]}.so"
    if target.exists():
        return target
    with _work_folder(target.parent) as folder, ThreadPoolExecutor(1) as pool:
        archive = pool.submit(_runtime_archive, compiler, runtime, flags)
        file, part = Path(folder) / f"{name}.c", Path(folder) / f"{name}.o"
        file.write_text(source)
        _compile([compiler, *flags, *_includes(), "-c", "-o", str(part), str(file)], name)
        result = Path(folder) / "program.so"
        _run([compiler, *flags, "-shared", "-o", str(result), str(part)], archive.result())
        result.replace(target)
    return target


def _includes() -> list[str]:
    return [f"-I{CODEGEN}", f"-I{RUNTIME}"]


def _work_folder(parent: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix="build-", dir=parent)
    except OSError as error:
        raise UserError(f"cannot write to the cache {parent}: {error.strerror}") from None


def _runtime_archive(compiler: str, digest: str, flags: tuple[str, ...]) -> Path:
    """Return the hand-written runtime as one object file, from the cache if it is there."""
    target = cache_folder() / f"runtime-{digest[:24]}.o"
    if target.exists():
        return target
    with _work_folder(target.parent) as folder:
        result = Path(folder) / "runtime.o"
        sources = [str(path) for path in sorted(RUNTIME.glob("*.c"))]
        command = [compiler, *flags, *_includes(), "-r", "-nostdlib", "-o", str(result), *sources]
        _run(command)
        result.replace(target)
    return target


def _run(command: list[str], *objects: Path) -> None:
    done = subprocess.run(
        [*command, *map(str, objects)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        raise UserError(f"the C compiler failed: {lines[0]}")


def _compile(command: list[str], name: str) -> None:
    """Compile a generated file; if it is no C, that is nobody's fault but the generator's."""
    try:
        _run(command)
    except UserError as error:
        if not FAULT.search(str(error)):
            raise
        fault = str(error).partition("error: ")[2]
        raise UserError(
            f"{name}: a fault of the code generator, not of the program: the C does not compile"
            f" ({fault}); please report the program with this line"
        ) from None
