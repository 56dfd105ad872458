"""Generated programs and the runtime on arbitrary frames and calls, under sanitizers."""

import subprocess
from pathlib import Path

import pytest

from p4.codegen.build import CODEGEN, RUNTIME, compiler_command
from p4.codegen.generate import generate_c
from p4.engine import Program

ROOT = Path(__file__).resolve().parents[3]
DRIVER = Path(__file__).parent / "fuzz_driver.c"
PROGRAMS = [
    *(Path(__file__).resolve().parents[1] / "engine_programs").glob("*.p4"),
    ROOT / "p4" / "programs" / "ofan.p4",
]


@pytest.mark.parametrize("path", sorted(PROGRAMS), ids=lambda path: path.stem)
def test_arbitrary_input__reads_and_writes_only_its_own(path: Path, tmp_path: Path) -> None:
    source = tmp_path / f"{path.stem}.c"
    source.write_text(generate_c(Program.load(path).model))
    target = tmp_path / "fuzz"
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = [compiler_command(), "-std=gnu11", "-O1", "-g", "-fno-strict-aliasing", *sanitizers]
    files = [str(source), str(DRIVER), *map(str, sorted(RUNTIME.glob("*.c")))]
    subprocess.run(
        [*command, f"-I{CODEGEN}", f"-I{RUNTIME}", "-o", str(target), *files], check=True
    )
    done = subprocess.run(
        [str(target), "1", "400"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[:3000]
