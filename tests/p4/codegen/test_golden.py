"""Generated C: the same bytes always, and those that were reviewed.

`make golden-diff` shows what changed, `make golden` accepts it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4.codegen.build import CODEGEN, RUNTIME, compiler_command
from tests.p4.codegen import golden

HINT = "other C than was reviewed: `make golden-diff` shows it, `make golden` accepts it"
STRICT = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


@pytest.mark.parametrize("path", golden.PROGRAMS, ids=lambda path: path.stem)
def test_generated_c__is_what_was_reviewed(path: Path) -> None:
    text = golden.generated(path)
    if path.stem in golden.READ:
        assert text == (golden.GOLDEN / f"{path.stem}.c").read_text(), HINT
    else:
        assert golden.digest(text) == golden.digests()[path.stem], f"{path.stem}: {HINT}"


def test_golden__names_each_program_once() -> None:
    names = [path.stem for path in golden.PROGRAMS]
    assert sorted([*golden.READ, *golden.digests()]) == sorted(names)
    assert {path.stem for path in golden.GOLDEN.glob("*.c")} == set(golden.READ)


def test_generated_c__does_not_depend_on_the_run() -> None:
    path = golden.ROOT / "tests" / "p4" / "engine_programs" / "traffic.p4"
    texts = [
        subprocess.run(
            [sys.executable, "-m", "p4", "c", str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(golden.ROOT)},
            cwd=folder,
            check=True,
            capture_output=True,
        ).stdout
        for seed, folder in (("1", golden.ROOT), ("2", Path("/")))
    ]
    assert texts[0] == texts[1]
    assert b"/" + golden.ROOT.name.encode() + b"/" not in texts[0]


@pytest.mark.parametrize("path", sorted(RUNTIME.glob("*.c")), ids=lambda path: path.name)
def test_runtime__compiles_without_a_warning(path: Path, tmp_path: Path) -> None:
    command = [compiler_command(), *STRICT, f"-I{CODEGEN}", f"-I{RUNTIME}", "-c", str(path)]
    subprocess.run([*command, "-o", str(tmp_path / "object.o")], check=True)


def test_library__exports_one_symbol() -> None:
    from p4.engine import Program  # noqa: PLC0415

    library = Program.load(golden.PROGRAMS[0]).library
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True
    )
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["pl_program"]
