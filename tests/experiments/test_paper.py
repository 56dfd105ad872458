"""Sweeps end to end, in virtual time at k = 4."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from analysis.figures.style import draw, one_axes
from experiments import paper, points, sources
from experiments.figures import FIGURES
from experiments.figures.figure import Claim, Figure, each, mean, plain
from experiments.looks import looks
from experiments.main import main
from experiments.points import Point, kept_row, run_point
from testbed import schemes
from testbed.scenario import Scenario, to_toml
from testbed.schemes import scheme

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes

    from analysis.figures.style import Look

SMALL = Scenario(message_bytes=16 * 4096)


def small_sweep(quick: object) -> list[Scenario]:
    return each(SMALL, plain("ecmp", "ofan"), [{"load": 0.5}, {"load": 1.0}])


def small_plot(table: pd.DataFrame, looks: Mapping[str, Look], stem: Path) -> list[Path]:
    def line(axes: Axes) -> None:
        axes.plot(table["cct_us"])

    return [draw(stem, one_axes(line))]


def small_claims(table: pd.DataFrame) -> list[Claim]:
    ofan = mean(table, "cct_us", scheme="ofan", load=1.0)
    return [Claim("Ofan ends", "yes", f"{ofan:.2f} us", "yes" if ofan > 0 else "no")]


SMALL_FIGURE = Figure(
    "small", "A small figure", small_sweep, small_plot, small_claims, quick_seeds=1
)


@pytest.fixture
def only_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "FIGURES", (SMALL_FIGURE,))


def test_point__is_known_by_all_its_fields() -> None:
    point = Point(SMALL)
    assert point.key == Point(replace(SMALL)).key
    assert point.key != Point(replace(SMALL, seed=2)).key
    assert point.key != Point(replace(SMALL, workload_options={"a": 1.0})).key


def forget() -> None:
    """Have files read anew, as a new process does."""
    points.files_of.cache_clear()
    sources.digest.cache_clear()


def test_point__is_another_when_its_program_was_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(schemes.PROGRAMS, tmp_path / "programs")
    monkeypatch.setattr(scheme, "PROGRAMS", tmp_path / "programs")
    own, other = Point(SMALL), Point(replace(SMALL, scheme="ecmp"))
    mixed = Point(replace(SMALL, scheme="ecmp", mix=(SMALL.scheme, "edge")))
    forget()
    before = own.key, other.key, mixed.key
    program = tmp_path / "programs" / f"{schemes.find(SMALL.scheme).program}.p4"
    program.write_text(program.read_text(encoding="utf-8") + "// edited\n", encoding="utf-8")
    forget()
    assert own.key != before[0]
    assert other.key == before[1]
    assert mixed.key != before[2]
    forget()


def test_run_point__is_reproducible_and_valid() -> None:
    first, again = (run_point(to_toml(SMALL)) for _ in range(2))
    for row in (first, again):
        row.pop("seconds")
    assert first == again
    assert first["verdict"] == "VALID"
    assert first["hosts"] == 16
    assert first["overload A-E"] >= 0
    assert first["max_queue_packets E-A"] >= 1


def test_main__keeps_finished_points_and_goes_on(
    only_small: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["small", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert paper.main(command) == 0
    folders = sorted((tmp_path / "points").iterdir())
    assert len(folders) == 4
    assert "yes  Ofan ends" in capsys.readouterr().out
    assert (tmp_path / "small.png").exists()
    first = {folder: (folder / "row.json").stat().st_mtime_ns for folder in folders}
    (folders[0] / "row.json").write_text("cut off", encoding="utf-8")
    assert paper.main(command) == 0
    after = {folder: (folder / "row.json").stat().st_mtime_ns for folder in folders}
    assert [folder for folder in folders if after[folder] != first[folder]] == [folders[0]]
    assert kept_row(folders[0]) is not None


def test_main__paper__says_how_many_seeds_there_really_are(
    only_small: None, tmp_path: Path
) -> None:
    arguments = ["paper", "--out", str(tmp_path), "--jobs", "1"]
    assert paper.main([*arguments, "--seeds", "1"]) == 0
    shutil.rmtree(tmp_path / "points" / Point(small_sweep(quick=False)[0]).key)
    paper.main([*arguments, "--seeds", "2", "--plot-only"])
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "3 runs; seeds a scenario: 1;" in page


def test_main__a_point_that_fails_is_told_and_tried_again(
    only_small: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = replace(SMALL_FIGURE, sweep=lambda _: [*small_sweep(True), replace(SMALL, k=900)])
    monkeypatch.setattr(paper, "FIGURES", (broken,))
    command = ["small", "--quick", "--jobs", "1", "--out", str(tmp_path)]
    assert paper.main(command) == 1
    out = capsys.readouterr().out
    assert "FAILED: " in out
    assert "4 runs, 1 points FAILED (run again to retry)" in out
    assert paper.main([*command, "--plot-only"]) == 1


def test_main__paper__writes_the_page(only_small: None, tmp_path: Path) -> None:
    assert paper.main(["paper", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "| Ofan ends | yes |" in page
    assert "![A small figure](small.png)" in page
    assert "Of 1 claims 1 came out as in the paper, 0 did not, 0 are not decided" in page
    assert "claims are those of the full size and may not hold here" in page


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (["fig2"], "figure fig2 is unknown"),
        (["fig1", "--seeds", "0"], "number above 0"),
        (["fig1", "--sedes", "1"], "unrecognized arguments"),
        (["fig1", "--plot-only", "--quick"], "fig1: no point has a result: nothing was run yet"),
        (["fig1", "--quick", "--cluster", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ],
)
def test_main__bad_input__is_one_line(
    command: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("experiments.cluster.CONNECT_SECONDS", 0.5)
    assert main([*command, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures__sweep_scenarios_that_can_be_told_apart(figure: Figure) -> None:
    for quick in (True, False):
        scenarios = figure.sweep(quick)
        assert len({Point(scenario).key for scenario in scenarios}) == len(scenarios)
        assert set(looks(scenarios)) or not scenarios


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures__quick_size_is_drawn_and_claimed(figure: Figure, tmp_path: Path) -> None:
    code = paper.main([figure.name, "--quick", "--seeds", "1", "--out", str(tmp_path)])
    assert code == 0
    assert (tmp_path / f"{figure.name}.png").stat().st_size > 10_000
    assert (tmp_path / f"{figure.name}.pdf").exists()
    points = list((tmp_path / "points").glob("*/row.json")) if figure.sweep(True) else []
    verdicts = {json.loads(path.read_text(encoding="utf-8"))["verdict"] for path in points}
    assert verdicts <= {"VALID"}


def test_main__paper_plot_only__names_what_was_not_run(only_small: None, tmp_path: Path) -> None:
    assert paper.main(["paper", "--plot-only", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "Not run: small." in page
