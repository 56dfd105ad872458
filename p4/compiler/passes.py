"""The compiler's passes: all of them, in the order in which they run.

A pass is a function from what the pass before it gave. Errors are collected, so that a pass may
report several; they end the compilation after it.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from p4.compiler.check import check
from p4.compiler.diagnostics import ERROR, Abort, CompileError, Diagnostic, Diagnostics, Position
from p4.compiler.emit import emit
from p4.compiler.lexer import display_name, tokenize
from p4.compiler.lower import lower
from p4.compiler.parser import parse
from p4.compiler.source import Source, preprocess

RECURSION_LIMIT = 20_000  # the passes walk the tree, which may be deep


@dataclass(slots=True)
class Job:
    """What is to be compiled, and what was found to be wrong with it."""

    path: Path
    defines: Mapping[str, str]
    include_paths: Sequence[Path]
    diagnostics: Diagnostics


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass: its name, what it gives, and the function from what the one before it gave."""

    name: str
    gives: str
    run: Callable[[Any, Job], Any]
    stops: bool = True  # whether errors end the compilation before the next pass


PASSES = (
    Pass("preprocess", "the text, with includes and macros", lambda _, job: _read(job)),
    Pass("tokenize", "tokens", lambda source, job: tokenize(source, job.diagnostics), stops=False),
    Pass("parse", "the syntax tree", lambda tokens, job: parse(tokens, job.diagnostics)),
    Pass("check", "types and constants", lambda tree, job: check(tree, job.diagnostics)),
    Pass("lower", "BMv2's terms", lambda found, job: lower(found, job.diagnostics, job.path)),
    Pass("emit", "BMv2 JSON", lambda program, job: emit(program, job.diagnostics)),
)
LAST = PASSES[-1].name


def run_passes(
    path: Path,
    defines: Mapping[str, str],
    include_paths: Sequence[Path],
    last: str = LAST,
) -> tuple[Any, Diagnostics]:
    """Run the passes up to one of them; returns what that gives, and the diagnostics.

    Raises CompileError with all diagnostics if one of them is an error.
    """
    job = Job(path, defines, include_paths, Diagnostics({}))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    result: Any = None
    try:
        for each in PASSES:
            result = each.run(result, job)
            if each.stops or each.name == last:
                job.diagnostics.check()
            if each.name == last:
                break
    except Abort:
        job.diagnostics.check()
        raise
    except RecursionError:
        at = Position(str(path), 1, 1)
        raise CompileError([Diagnostic(ERROR, at, "the program is nested too deep")]) from None
    finally:
        sys.setrecursionlimit(limit)
    return result, job.diagnostics


def _read(job: Job) -> Source:
    source = preprocess(job.path, job.defines, job.include_paths)
    lines = {display_name(file, source.name): text for file, text in source.files.items()}
    job.diagnostics = Diagnostics(lines)
    return source
