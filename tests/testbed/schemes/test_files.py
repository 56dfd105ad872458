"""Users' own schemes: what their files can say, and what is said of files that are wrong."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from errors import UserError
from testbed import schemes
from testbed.planning import make_plan, plan_for
from testbed.scenario import Scenario
from testbed.virtual import run

OURS = Path(__file__).parent / "ours"
NETWORKS = (
    Scenario(message_bytes=30_000),
    Scenario(k=6, failures=0.06, message_bytes=20_000),
    Scenario(topology="leaf-spine", k=6, buffer_bytes=300_000, message_bytes=20_000),
)


def copy_of(name: str, folder: Path) -> Path:
    """Write one of our schemes as a user would: a P4 file, and a TOML file beside it."""
    program = folder / f"{name}_copy.p4"
    shutil.copy(schemes.find(name).source, program)
    shutil.copy(OURS / f"{name}.toml", program.with_suffix(".toml"))
    return program


def as_own(scenario: Scenario, program: Path) -> Scenario:
    return replace(scenario, scheme=program.stem, scheme_file=str(program))


@pytest.mark.parametrize("name", schemes.names())
def test_files__can_say_all_that_our_schemes_are(name: str, tmp_path: Path) -> None:
    program = copy_of(name, tmp_path)
    for network in NETWORKS:
        theirs = replace(network, scheme=name)
        ours = plan_for(theirs)
        own = make_plan(as_own(network, program), ours.flows)
        assert own.setups == {
            switch: replace(setup, registers=lists(setup.registers))
            for switch, setup in ours.setups.items()
        }
        assert own.hosts == ours.hosts
        assert {s.defines for s in own.programs.values()} == {
            s.defines for s in ours.programs.values()
        }


def lists(registers: object) -> dict[str, list[int]]:
    assert isinstance(registers, dict)
    return {name: [int(value) for value in values] for name, values in registers.items()}


@pytest.mark.parametrize("name", schemes.names())
def test_files__run_as_our_schemes_do_to_the_bit(name: str, tmp_path: Path) -> None:
    scenario = replace(NETWORKS[0], scheme=name)
    run(plan_for(scenario), tmp_path / "ours", sample_ps=0)
    run(plan_for(as_own(scenario, copy_of(name, tmp_path))), tmp_path / "own", sample_ps=0)
    for file in ("flows.csv", "links.csv"):
        assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "own" / file).read_bytes()


def write(folder: Path, toml: str, name: str = "mine") -> Path:
    program = folder / f"{name}.p4"
    shutil.copy(schemes.find("rsq").source, program)
    program.with_suffix(".toml").write_text(toml, encoding="utf-8")
    return program


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("lable = 'x'\n", "mine.toml:1: lable is unknown; did you mean label?"),
        ("\n[parameters]\nx = 3\n", "mine.toml:3: x needs a table with its default"),
        ("[parameters.x]\ndefault = true\n", "mine.toml:2: default is True; it must be a float"),
        ("entropy = 'luck'\n", "mine.toml:1: entropy luck is unknown; there are flow, "),
        ("widest = \n", "mine.toml:1: not TOML"),
        ("[defaults]\n'a.b' = '1 +'\n", "mine.toml:2: a.b: '1 +'"),
        ("[defaults]\n'a.b' = '3'\n", "mine.toml:2: a.b: '3' calls no action"),
        ("[defaults]\n'a.b' = 'go(1.5)'\n", "number 1 of go is 1.5, not whole"),
        ("[defaults]\n'a.b' = 'go(speed)'\n", "'speed' is not defined"),
        ("[registers]\n\n'r' = '[0.5]'\n", "mine.toml:3: r: '[0.5]' is not of whole numbers"),
        ("[values]\nx = 'open(1)'\n", "mine.toml:2: x: 'open(1)': Function 'open' not defined"),
        ("[values]\nx = '1 // 0'\n", "mine.toml:2: x: '1 // 0'"),
    ],
)
def test_files__what_is_wrong_is_told_with_its_line(
    tmp_path: Path, toml: str, message: str
) -> None:
    program = write(tmp_path, toml)
    with pytest.raises(UserError) as raised:
        plan_for(Scenario(scheme="mine", scheme_file=str(program)))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files__are_p4_files_with_names_of_their_own(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        schemes.own(tmp_path / "mine.p4")
    with pytest.raises(UserError, match="ofan is a scheme already"):
        schemes.own(write(tmp_path, "", "ofan"))
    with pytest.raises(UserError, match="a scheme's file is called"):
        schemes.own(tmp_path / "mine.txt")


def test_files__without_toml_say_enough(tmp_path: Path) -> None:
    program = write(tmp_path, "")
    program.with_suffix(".toml").unlink()
    found = schemes.own(program)
    assert (found.name, found.label, found.parameters) == ("mine", "mine", ())
