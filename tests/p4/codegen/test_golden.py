"""Generated C: the same bytes always, and those that were reviewed.

`make golden` writes the golden files anew, to be reviewed as a diff.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4.codegen.build import CODEGEN, RUNTIME, compiler_command
from p4.codegen.generate import generate_c
from p4.codegen.reader import read_program
from p4.compiler import compile_file

ROOT = Path(__file__).resolve().parents[3]
GOLDEN = Path(__file__).parent / "golden"
PROGRAMS = [
    *sorted((ROOT / "tests" / "p4" / "engine_programs").glob("*.p4")),
    *sorted((ROOT / "p4" / "programs").glob("*.p4")),
    ROOT / "benchmarks" / "engine_program" / "router.p4",
]
FAT_TREE = {"W": "2", "DESTINATIONS": "8"}  # of k = 4; other programs do not use these names
STRICT = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_generated_c__is_the_golden_copy(path: Path) -> None:
    text = generate_c(read_program(compile_file(path, defines=FAT_TREE), path.stem))
    golden = GOLDEN / f"{path.stem}.c"
    if os.environ.get("OFAN_GOLDEN") == "write":
        golden.write_text(text)
    assert text == golden.read_text(), f"{golden} differs: `make golden` writes it anew"


def test_generated_c__does_not_depend_on_the_run() -> None:
    path = ROOT / "tests" / "p4" / "engine_programs" / "traffic.p4"
    texts = [
        subprocess.run(
            [sys.executable, "-m", "p4", "c", str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            cwd=folder,
            check=True,
            capture_output=True,
        ).stdout
        for seed, folder in (("1", ROOT), ("2", Path("/")))
    ]
    assert texts[0] == texts[1]
    assert b"/" + ROOT.name.encode() + b"/" not in texts[0]


@pytest.mark.parametrize("path", sorted(RUNTIME.glob("*.c")), ids=lambda path: path.name)
def test_runtime__compiles_without_a_warning(path: Path, tmp_path: Path) -> None:
    command = [compiler_command(), *STRICT, f"-I{CODEGEN}", f"-I{RUNTIME}", "-c", str(path)]
    subprocess.run([*command, "-o", str(tmp_path / "object.o")], check=True)


def test_library__exports_one_symbol() -> None:
    from p4.engine import Program  # noqa: PLC0415

    library = Program.load(PROGRAMS[0]).library
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True
    )
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["pl_program"]
