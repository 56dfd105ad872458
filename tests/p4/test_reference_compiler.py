"""p4c's JSON of our programs, in the engine and, where it is installed, in simple_switch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from p4.codegen.generate import generate_c
from p4.codegen.reader import read_program
from p4.compiler import CompileError
from p4.compiler.reference import NAMES, compile_with_p4c
from testbed.bmv2.compilers import compare_compilers

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "p4" / "programs").glob("*.p4"))
LANGUAGE = sorted((Path(__file__).parent / "differential").glob("*.p4"))
GIVEN = [Path(name) for name in os.environ.get("DIFFERENTIAL_PROGRAMS", "").split(":") if name]
FRAMES = 100
SIZES = {
    "w2": ["W=2", "DESTINATIONS=8"],  # k = 4, 12 and 64
    "w6": ["W=6", "DESTINATIONS=72"],
    "w32": ["W=32", "DESTINATIONS=2048"],
    "unequal": ["W=2", "DOWN=5", "ABOVE=9", "LAYER=3", "DESTINATIONS=9"],
}
TELEMETRY = ["TELEMETRY=1"]

pytestmark = [
    pytest.mark.p4c,
    pytest.mark.skipif(
        not any(map(shutil.which, NAMES)), reason=f"neither {' nor '.join(NAMES)} is on the path"
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("telemetry", [False, True], ids=["plain", "telemetry"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs__compile_with_p4c_and_load(path: Path, size: str, *, telemetry: bool) -> None:
    defines = [*SIZES[size], *(TELEMETRY if telemetry else [])]
    assert generate_c(read_program(compile_with_p4c(path, defines=defines), path.stem))


@pytest.mark.bmv2
@pytest.mark.skipif(
    shutil.which("simple_switch") is None, reason="simple_switch is not on the path"
)
@pytest.mark.parametrize("path", [*PROGRAMS, *LANGUAGE, *GIVEN], ids=lambda path: path.stem)
def test_both_compilers__on_both_switches(path: Path) -> None:
    try:
        verdicts = compare_compilers(path, seed=1, frames=FRAMES)
    except CompileError as error:
        if "BMV2 does not support" in str(error):
            pytest.skip("p4c has no such thing for BMv2")
        raise
    assert verdicts.differences == ()
    assert verdicts.ours.frames > 0
