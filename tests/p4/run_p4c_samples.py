"""Run a folder of P4 programs with STF scripts beside them, and print what passes.

    python tests/p4/run_p4c_samples.py FOLDER [--scripts FOLDER] [--every] [--only TEXT]
                                       [--compiler ours|p4c] [--jobs N] [--verbose]

`--scripts` is where the `.stf` files are if not beside the programs; `--every` adds the programs
without one, which are compiled. Programs that do not include v1model are left out. Results: pass;
unsupported (the compiler or the engine says so); refused (another compiler error); wrong (the
frames differ); broken (anything else, always a bug).

Where `simple_switch` is on the path, programs that pass also meet random entries and frames in
both switches, one program after the other; what then differs is `differs`, what only simple_switch
refuses is `incomparable`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from errors import UserError
from p4.codegen.document import ProgramError
from p4.compiler import CompileError, compile_file
from p4.compiler.reference import compile_with_p4c
from p4.engine import Program
from p4.stf import read_stf, run_stf
from testbed.bmv2.cases import random_case
from testbed.bmv2.compare import compare
from testbed.bmv2.errors import Bmv2Error

if TYPE_CHECKING:
    from collections.abc import Callable

FRAMES = 100
Test = tuple[Path, Path | None]


def outcome(
    test: Test, compile_program: Callable[[Path], dict[str, Any]], *, with_reference: bool
) -> tuple[str, str]:
    """Return the result of one test, and a line that explains it."""
    program, script = test
    try:
        document = compile_program(program)
        loaded = Program.from_document(document, program.stem)
        if script is not None:
            run_stf(loaded, read_stf(script))
        return compared(program.stem, document) if with_reference else ("pass", "")
    except (CompileError, ProgramError) as error:
        text = str(error)
        return (
            "unsupported" if re.search("unsupported|not supported", text) else "refused"
        ), text.splitlines()[0]
    except UserError as error:
        return "wrong", str(error)
    except Exception as error:  # noqa: BLE001
        return "broken", f"{type(error).__name__}: {error}".splitlines()[0]


def compared(name: str, document: dict[str, Any]) -> tuple[str, str]:
    """Return whether simple_switch does the same with random entries and frames."""
    try:
        found = compare(random_case(name, document, 1, FRAMES), one_by_one=True)
    except Bmv2Error as error:
        return "incomparable", str(error).splitlines()[0]
    return ("differs", found.differences[0]) if found.differences else ("pass", "")


def uses_v1model(path: Path) -> bool:
    """Return whether a program includes v1model, itself or in a file beside it."""
    text = path.read_text(errors="replace")
    if "v1model.p4" in text:
        return True
    for name in re.findall(r'#include\s+"([^"]+)"', text):
        beside = path.parent / name
        if beside.exists() and "v1model.p4" in beside.read_text(errors="replace"):
            return True
    return False


def find_tests(folder: Path, scripts: Path) -> list[Test]:
    """Return programs with their scripts."""
    tests: list[Test] = []
    for script in sorted(scripts.rglob("*.stf")):
        for stem in (script.stem, f"{script.stem}.p4"):
            candidates = [folder / f"{stem}.p4", script.parent / f"{stem}.p4"]
            program = next((path for path in candidates if path.exists()), None)
            if program is not None and uses_v1model(program):
                tests.append((program, script))
                break
    return tests


def read_arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scripts", type=Path)
    parser.add_argument("--every", action="store_true", help="programs without scripts, too")
    parser.add_argument("--only", default="", help="only programs with this text in their names")
    parser.add_argument("-I", dest="include_paths", type=Path, action="append", default=[])
    parser.add_argument("--compiler", choices=("ours", "p4c"), default="ours", help="whose JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tests at a time")
    parser.add_argument("--verbose", action="store_true", help="name the tests that pass, too")
    return parser.parse_args()


def main() -> int:
    """Run the tests and print the table."""
    arguments = read_arguments()
    tests = find_tests(arguments.folder, arguments.scripts or arguments.folder)
    if arguments.every:
        known = {program for program, _ in tests}
        rest = sorted(path for path in arguments.folder.glob("*.p4") if path.exists())
        tests += [(path, None) for path in rest if path not in known and uses_v1model(path)]
    tests = [test for test in tests if arguments.only in test[0].name]
    with_reference = shutil.which("simple_switch") is not None
    compiler = compile_with_p4c if arguments.compiler == "p4c" else compile_file
    compile_program = partial(compiler, include_paths=arguments.include_paths)
    run = partial(outcome, compile_program=compile_program, with_reference=with_reference)
    counts: Counter[str] = Counter()
    start = time.monotonic()
    # Two switches that start at once may be given the same port for their control.
    with ProcessPoolExecutor(1 if with_reference else arguments.jobs) as pool:
        for (program, _), (result, reason) in zip(tests, pool.map(run, tests), strict=True):
            counts[result] += 1
            if result != "pass" or arguments.verbose:
                sys.stdout.write(f"{result:12} {program.stem:50} {reason}\n")
    seconds = time.monotonic() - start
    summary = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    sys.stdout.write(f"{len(tests)} tests in {seconds:.1f} s: {summary}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
