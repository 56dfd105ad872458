"""The P4 compiler: P4_16 for v1model to BMv2 JSON.

    source -> lexer -> parser -> check -> lower -> emit

Each pass is a function in a module of its name; `compile_file` calls them in order. Errors are
collected as diagnostics, and stop the compilation between passes.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from p4.compiler.check import check
from p4.compiler.diagnostics import (
    ERROR,
    WARNING,
    Abort,
    CompileError,
    Diagnostic,
    Diagnostics,
    Position,
)
from p4.compiler.emit import emit
from p4.compiler.lexer import display_name, tokenize
from p4.compiler.lower import lower
from p4.compiler.parser import parse
from p4.compiler.source import preprocess

__all__ = ["CompileError", "Diagnostic", "compile_file", "compile_with_warnings"]

RECURSION_LIMIT = 20_000  # the passes walk the tree, which may be deep
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
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        return _compile(Path(path), defines, include_paths)
    except RecursionError:
        at = Position(str(path), 1, 1)
        raise CompileError([Diagnostic(ERROR, at, "the program is nested too deep")]) from None
    finally:
        sys.setrecursionlimit(limit)


def _compile(
    path: Path, defines: Mapping[str, str], include_paths: Sequence[Path]
) -> tuple[dict[str, Any], list[Diagnostic]]:
    source = preprocess(path, defines, include_paths)
    sources = {display_name(file, source.name): lines for file, lines in source.files.items()}
    diagnostics = Diagnostics(sources)
    tokens = tokenize(source, diagnostics)
    program = parse(tokens, diagnostics)
    diagnostics.check()
    checked = check(program, diagnostics)
    diagnostics.check()
    try:
        lowered = lower(checked, diagnostics, path)
    except Abort:
        diagnostics.check()
        raise
    diagnostics.check()
    json = emit(lowered, diagnostics)
    diagnostics.check()
    return json, [entry for entry in diagnostics.found if entry.severity == WARNING]
