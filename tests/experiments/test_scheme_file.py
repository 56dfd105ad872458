"""Schemes of one's own on the command line: runs, figures, and what is wrong with them."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from experiments import sources
from experiments.figures import FIGURES
from experiments.main import main
from experiments.paper import points_of
from experiments.paper_options import parse
from experiments.points import Point, files_of
from testbed.scenario import Scenario
from testbed.schemes import skeleton

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--on", "virtual", "--schemes", "ofan", "--seeds", "1", "--message", "64KB"]


def test_run__own_schemes__stand_beside_ours(tmp_path: Path) -> None:
    files = [str(skeleton.write(name, tmp_path)[0]) for name in ("left", "right")]
    given = ["--scheme-file", files[0], "--scheme-file", files[1], "--out", str(tmp_path / "out")]
    assert main([*SMALL, *given]) == 0
    with (tmp_path / "out" / "summary.csv").open(encoding="utf-8") as summary:
        assert {row["scheme"] for row in csv.DictReader(summary)} == {"ofan", "left", "right"}


def test_run__wrong_program__names_the_users_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = skeleton.write("turn", tmp_path)[0]
    text = program.read_text(encoding="utf-8").replace("AFTER(meta.uplink)", "nothing")
    program.write_text(text, encoding="utf-8")
    assert main([*SMALL, "--scheme-file", str(program)]) == 2
    line = text.splitlines().index("        pointer.write(0, nothing);") + 1
    assert f"turn.p4:{line}:" in capsys.readouterr().err


def test_run__two_of_one_name__are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [skeleton.write("turn", tmp_path / name)[0] for name in ("a", "b")]
    assert main([*SMALL, *(f"--scheme-file={file}" for file in both)]) == 2
    assert "has that name already" in capsys.readouterr().err


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures__own_scheme__is_run_once_wherever_schemes_are(
    figure: object, tmp_path: Path
) -> None:
    program = skeleton.write("turn", tmp_path)[0]
    (found,) = [each for each in FIGURES if each is figure]
    titles = {found.name: found.title}
    plain = parse([found.name, "--quick", "--seeds", "1"], titles)
    more = parse([found.name, "--quick", "--seeds", "1", f"--scheme-file={program}"], titles)
    own = [p.scenario for p in points_of(found, more) if p.scenario.scheme == "turn"]
    assert len(points_of(found, more)) == len(points_of(found, plain)) + len(own)
    there = {
        str(replace(point.scenario, scheme="", mix=None, parameters={}))
        for point in points_of(found, plain)
    }
    assert len(own) == len(there)


def test_point__of_an_own_scheme__is_another_when_a_file_of_it_was_edited(tmp_path: Path) -> None:
    program, toml = skeleton.write("turn", tmp_path)
    scenario = Scenario(scheme="turn", scheme_file=str(program))
    keys = []
    for file in (None, program, toml):
        if file:
            file.write_text(file.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        files_of.cache_clear()
        sources.digest.cache_clear()
        keys.append(Point(scenario).key)
    assert len(set(keys)) == 3
