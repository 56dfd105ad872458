"""`python -m testbed.bmv2 FILE...`: compare simple_switch and our engine on any program."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import Parser
from errors import UserError, telling
from p4.compiler import compile_file
from p4.compiler.reference import compile_with_p4c
from testbed.bmv2.cases import random_case
from testbed.bmv2.client import require_installed
from testbed.bmv2.compare import compare
from testbed.bmv2.compilers import compare_compilers

if TYPE_CHECKING:
    import argparse


def main() -> int:
    """Compare each file; returns 1 if any differs, 2 if one could not be compared, saying why."""
    parser = Parser(prog="python -m testbed.bmv2", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="P4 programs or BMv2 JSON files")
    parser.add_argument("--frames", type=int, default=1000, help="random frames per program")
    parser.add_argument("--seed", type=int, default=1, help="of entries and frames")
    parser.add_argument(
        "--one-by-one", action="store_true", help="let each frame be done before the next enters"
    )
    parser.add_argument(
        "--compiler",
        choices=("ours", "p4c", "both"),
        default="ours",
        help="whose JSON: with both, four runs of the same entries and frames (default: ours)",
    )
    parser.add_argument(
        "-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], help="define"
    )
    given = parser.parse_args()
    return telling("compare", lambda: _compare_all(given))


def _compare_all(given: argparse.Namespace) -> int:
    require_installed()
    outcomes = Counter(_outcome(path, given) for path in given.files)
    if len(given.files) > 1:
        print(", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items())))
    return 1 if outcomes["differ"] else 2 if outcomes["not compared"] else 0


def _outcome(path: Path, given: argparse.Namespace) -> str:
    """Compare a file, print what came out, and return it in short."""
    try:
        frames, outputs, differences = _compared(path, given)
    except (UserError, OSError, ValueError) as error:
        print(f"compare: {path}: {_one_line(error)}", file=sys.stderr)
        return "not compared"
    verdict = f"{len(differences)} differences" if differences else "agree"
    print(f"{path}: {frames} frames in, {outputs} out: {verdict}", flush=True)
    for line in differences:
        print(f"  {line}")
    return "differ" if differences else "agree"


def _compared(path: Path, given: argparse.Namespace) -> tuple[int, int, tuple[str, ...]]:
    """Return how many frames went in and out, and the differences."""
    defines = dict(_define(text) for text in given.defines)
    if given.compiler == "both":
        verdicts = compare_compilers(path, seed=given.seed, frames=given.frames, defines=defines)
        return verdicts.ours.frames, verdicts.ours.outputs, verdicts.differences
    document = document_of(path, defines, given.compiler)
    found = compare(
        random_case(path.stem, document, given.seed, given.frames), one_by_one=given.one_by_one
    )
    return found.frames, found.outputs, found.differences


def _define(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value or "1"


def _one_line(error: Exception) -> str:
    """Return an error's first line, or with p4c's messages the first that says what is wrong."""
    lines = str(error).splitlines() or [type(error).__name__]
    told = [line for line in lines[1:] if "error: " in line]
    return " ".join([lines[0], *told[:1]]) if lines[0].endswith(":") else lines[0]


def document_of(
    path: Path, defines: dict[str, str] | None = None, compiler: str = "ours"
) -> dict[str, Any]:
    """Return a program's BMv2 JSON, compiling it if it is P4."""
    if path.suffix == ".json":
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document
    if compiler == "p4c":
        definitions = [f"{name}={value}" for name, value in (defines or {}).items()]
        return compile_with_p4c(path, defines=definitions)
    return compile_file(path, defines=defines or {})


if __name__ == "__main__":
    sys.exit(main())
