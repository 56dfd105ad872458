"""Our compiler and engine against the reference switch, frame by frame.

Set DIFFERENTIAL_PROGRAMS to a list of .p4 or .json files, separated by colons, to add them.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from testbed import schemes
from testbed.bmv2 import control
from testbed.bmv2.__main__ import document_of
from testbed.bmv2.cases import planned_case, random_case
from testbed.bmv2.compare import compare
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from p4.codegen.program import Program
    from testbed.bmv2.client import Client
    from testbed.plan import SwitchSetup

pytestmark = [
    pytest.mark.bmv2,
    pytest.mark.skipif(
        shutil.which("simple_switch") is None, reason="simple_switch is not on the path"
    ),
]
PROGRAMS = sorted((Path(__file__).parent.parent.parent / "p4" / "programs").glob("*.p4"))
GIVEN = [Path(name) for name in os.environ.get("DIFFERENTIAL_PROGRAMS", "").split(":") if name]
LANGUAGE = sorted((Path(__file__).parent / "differential").glob("*.p4"))
FRAMES = 500


@pytest.mark.parametrize("path", [*PROGRAMS, *LANGUAGE, *GIVEN], ids=lambda path: path.stem)
def test_random_entries_and_frames(path: Path) -> None:
    found = compare(random_case(path.stem, document_of(path), seed=1, frames=FRAMES))
    assert not found.differences
    assert found.frames > 0


@pytest.mark.parametrize("switch", ["e0_0", "a1_1"])
@pytest.mark.parametrize("scheme", schemes.names())
def test_schemes__in_a_fat_tree(scheme: str, switch: str) -> None:
    plan = plan_for(Scenario(scheme=scheme, k=4), tick_ps=1000)
    found = compare(planned_case(plan, switch, seed=1, frames=FRAMES))
    assert not found.differences
    assert found.frames == FRAMES, "no frame may lead to an index out of range"
    assert found.outputs > FRAMES / 10


@pytest.mark.parametrize("scheme", schemes.names())
def test_schemes__with_entries_that_nobody_planned(scheme: str) -> None:
    plan = plan_for(Scenario(scheme=scheme, k=4), tick_ps=1000)
    outputs = 0
    for seed in range(3):
        found = compare(planned_case(plan, "e1_0", seed, FRAMES, disturb=True))
        assert not found.differences
        outputs += found.outputs
    assert outputs > FRAMES / 10


@pytest.mark.parametrize("scheme", ["ofan", "jsq", "conga", "sglb"])
def test_schemes__with_failed_links(scheme: str) -> None:
    plan = plan_for(Scenario(scheme=scheme, k=6, failures=0.1, seed=2), tick_ps=1000)
    found = compare(planned_case(plan, "e0_0", seed=1, frames=FRAMES))
    assert not found.differences
    assert found.frames == FRAMES
    assert found.outputs > FRAMES / 10


def test_compare__sees_a_single_pointer_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_for(Scenario(scheme="simple_rr", k=4), tick_ps=1000)
    case = planned_case(plan, "e0_0", seed=1, frames=100)
    install = control.install
    ((name, (start,)),) = case.setup.registers.items()

    def tampered(client: Client, program: Program, setup: SwitchSetup) -> None:
        install(client, program, setup)
        control.write_register(client, name, [1 - start])

    monkeypatch.setattr(control, "install", tampered)
    found = compare(case)
    assert any(line.startswith("port") for line in found.differences)
    assert any(line.startswith(f"register {name}[0]") for line in found.differences)
