"""Run a folder of P4 programs with STF scripts beside them, and print what passes.

    python tests/p4/run_p4c_samples.py FOLDER [--scripts FOLDER] [--only TEXT] [--verbose]

`--scripts` is where the `.stf` files are if not beside the programs. Programs that do not include
v1model are left out. Results: pass; unsupported (the compiler or the engine says so); refused
(another compiler error); wrong (the frames differ); broken (anything else, always a bug).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from p4.codegen.build import BuildError
from p4.codegen.document import ProgramError
from p4.compiler import CompileError
from p4.engine import Program
from p4.stf import StfError, StfMismatchError, read_stf, run_stf


def outcome(program: Path, script: Path, include_paths: list[Path]) -> tuple[str, str]:
    """Return the result of one test, and a line that explains it."""
    try:
        loaded = Program.load(program, include_paths=include_paths)
        run_stf(loaded, read_stf(script))
    except (CompileError, ProgramError) as error:
        text = str(error)
        return ("unsupported" if "not supported" in text else "refused"), text.splitlines()[0]
    except (StfMismatchError, StfError) as error:
        return "wrong", str(error)
    except BuildError as error:
        return "broken", str(error)
    except Exception as error:  # noqa: BLE001
        return "broken", f"{type(error).__name__}: {error}".splitlines()[0]
    return "pass", ""


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


def find_tests(folder: Path, scripts: Path) -> list[tuple[Path, Path]]:
    """Return programs with their scripts."""
    tests = []
    for script in sorted(scripts.rglob("*.stf")):
        for stem in (script.stem, f"{script.stem}.p4"):
            candidates = [folder / f"{stem}.p4", script.parent / f"{stem}.p4"]
            program = next((path for path in candidates if path.exists()), None)
            if program is not None and uses_v1model(program):
                tests.append((program, script))
                break
    return tests


def main() -> int:
    """Run the tests and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scripts", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("-I", dest="include_paths", type=Path, action="append", default=[])
    parser.add_argument("--verbose", action="store_true", help="name the tests that pass, too")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    start = time.monotonic()
    for program, script in find_tests(arguments.folder, arguments.scripts or arguments.folder):
        if arguments.only not in program.name:
            continue
        result, reason = outcome(program, script, arguments.include_paths)
        counts[result] += 1
        if result != "pass" or arguments.verbose:
            sys.stdout.write(f"{result:12} {program.stem:50} {reason}\n")
    summary = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    sys.stdout.write(
        f"{sum(counts.values())} tests in {time.monotonic() - start:.1f} s: {summary}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
