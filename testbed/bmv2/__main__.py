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
from testbed.bmv2.cases import random_case
from testbed.bmv2.client import require_installed
from testbed.bmv2.compare import compare

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
        case = random_case(path.stem, document_of(path), given.seed, given.frames)
        found = compare(case, one_by_one=given.one_by_one)
    except (UserError, OSError, ValueError) as error:
        print(f"compare: {path}: {str(error).splitlines()[0]}", file=sys.stderr)
        return "not compared"
    verdict = f"{len(found.differences)} differences" if found.differences else "agree"
    print(f"{path}: {found.frames} frames in, {found.outputs} out: {verdict}", flush=True)
    for line in found.differences:
        print(f"  {line}")
    return "differ" if found.differences else "agree"


def document_of(path: Path) -> dict[str, Any]:
    """Return a program's BMv2 JSON, compiling it if it is P4."""
    if path.suffix == ".json":
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document
    return compile_file(path)


if __name__ == "__main__":
    sys.exit(main())
