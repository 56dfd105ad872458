"""The P4 compiler: P4_16 for v1model to BMv2 JSON.

Its passes are listed in `passes`. Errors are collected as diagnostics, and stop the compilation
between passes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from p4.compiler.diagnostics import WARNING, CompileError, Diagnostic
from p4.compiler.passes import run_passes

__all__ = ["CompileError", "Diagnostic", "compile_file", "compile_with_warnings"]

NO_DEFINES: Mapping[str, str] = MappingProxyType({})


def compile_file(
    path: Path,
    *,
    defines: Mapping[str, str] = NO_DEFINES,
    include_paths: Sequence[Path] = (),
) -> dict[str, Any]:
    """Compile a P4 program to BMv2 JSON, as a Python object.

    Raises CompileError with all diagnostics if the program cannot be read or is wrong, or needs
    what v1model or BMv2 does not have.
    """
    return compile_with_warnings(path, defines=defines, include_paths=include_paths)[0]


def compile_with_warnings(
    path: Path,
    *,
    defines: Mapping[str, str] = NO_DEFINES,
    include_paths: Sequence[Path] = (),
) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Compile like `compile_file`; returns the JSON and the warnings."""
    json, diagnostics = run_passes(Path(path), defines, include_paths)
    return json, [entry for entry in diagnostics.found if entry.severity == WARNING]
