"""Where results come from: code, versions, machine."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def commit() -> str:
    """Return the repository's commit, with `+` where files differ from it; empty outside git."""
    own = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT)]
    try:
        name = subprocess.run([*own, "rev-parse", "HEAD"], capture_output=True, check=True)
        changed = subprocess.run(
            [*own, "status", "--porcelain", "--untracked-files=no"], capture_output=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return name.stdout.decode().strip() + ("+" if changed.stdout.strip() else "")


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of what a run depends on."""
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, check=False)
    return {
        "python": platform.python_version(),
        "numpy": importlib.metadata.version("numpy"),
        "kernel": platform.release(),
        "gcc": compiler.stdout.decode().strip(),
    }


@functools.cache
def machine() -> str:
    """Return processor model and number of cores."""
    model = platform.processor() or platform.machine()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {os.cpu_count()} cores"
