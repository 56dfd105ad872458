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
    *(
        ROOT / "tests" / "p4" / "engine_programs" / f"{n}.p4"
        for n in ("layers", "tables", "traffic")
    ),
    ROOT / "p4" / "programs" / "ofan.p4",
]
FLAGS = ["-std=gnu11", "-O1", "-fno-strict-aliasing", f"-I{CODEGEN}", f"-I{RUNTIME}"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the runtime and the driver, compiled with sanitizers, as one object file."""
    target = tmp_path_factory.mktemp("sanitized") / "runtime.o"
    files = [str(DRIVER), *map(str, sorted(RUNTIME.glob("*.c")))]
    command = [compiler_command(), *FLAGS, *SANITIZERS, "-r", "-nostdlib"]
    subprocess.run([*command, "-o", str(target), *files], check=True)
    return target


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_arbitrary_input__touches_only_its_own(path: Path, runtime: Path, tmp_path: Path) -> None:
    source = tmp_path / f"{path.stem}.c"
    source.write_text(generate_c(Program.load(path).model))
    target = tmp_path / "fuzz"
    command = [compiler_command(), *FLAGS, *SANITIZERS, "-o", str(target)]
    subprocess.run([*command, str(source), str(runtime)], check=True)
    done = subprocess.run(
        [str(target), "1", "300"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[:3000]
