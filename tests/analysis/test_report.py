from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from analysis.__main__ import main
from analysis.figures.style import COLUMN, PAGE, Look, draw
from analysis.report import Picture, Report, write_report
from analysis.summary import read_summary
from tests.analysis.synthetic import change_manifest, write_run

if TYPE_CHECKING:
    from pathlib import Path


LOOKS = {"rsq": Look("RSQ", "red", "s"), "ofan": Look("Ofan", "b", "o")}
FIGURES = {"cct", "fct", "queues", "overload", "utilisation", "queue-series"}


def write_runs(folder: Path) -> Path:
    for scheme, delay in (("ofan", 0.3), ("rsq", 4.0)):
        for seed in (1, 2):
            write_run(folder / f"{scheme}-{seed}", scheme=scheme, seed=seed, delay=delay)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_runs(tmp_path / "results")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return write_report(write_runs(tmp_path_factory.mktemp("results") / "results"), LOOKS)


def test_write_report__makes_summary_figures_and_page(report: Report) -> None:
    folder, names = report.page.parent, FIGURES
    assert len(read_summary(folder / "summary.csv")) == len(report.table) == 4
    assert {path.stem for path in (folder / "figures").glob("*.pdf")} == names
    assert {path.stem for path in report.figures} == names
    page = report.page.read_text(encoding="utf-8")
    assert page.count('<img src="data:image/png;base64,') == len(names)
    assert page.index("<td>RSQ</td>") < page.index("<td>Ofan</td>")
    assert "4 VALID" in page


def test_write_report__page_is_self_contained(report: Report) -> None:
    page = report.page.read_text(encoding="utf-8")
    assert not re.findall(r"<script[^>]*src", page)
    own = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:)', own)


def test_write_report__names_the_versions_in_words(report: Report) -> None:
    assert "python 3, gcc 12" in report.page.read_text(encoding="utf-8")


def test_write_report__says_what_is_invalid_and_unfinished(folder: Path) -> None:
    change_manifest(folder / "rsq-1", ended="stuck")
    (folder / "ofan-2" / "manifest.json").unlink()
    report = write_report(folder)
    page = report.page.read_text(encoding="utf-8")
    assert "Not finished, and not counted: ofan-2" in page
    assert "1 INVALID" in page
    assert "ended: stuck" in page
    assert report.table["verdict"].tolist() == ["VALID", "INVALID", "VALID"]


def test_write_report__two_worlds_are_compared(folder: Path) -> None:
    write_run(folder / "real", world="mininet", scheme="ofan", delay=0.5)
    report = write_report(folder)
    assert (folder / "figures" / "worlds.png").exists()
    assert (folder / "figures" / "2-cct.png").exists()
    assert report.table["world"].tolist().count("mininet") == 1


def test_main__draws_schemes_as_the_last_report_did(folder: Path) -> None:
    page = write_report(folder, LOOKS).page
    before = page.read_text(encoding="utf-8")
    page.unlink()
    assert main([str(folder)]) == 0
    assert page.read_text(encoding="utf-8") == before


def test_main__damaged_looks__is_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "figures").mkdir()
    (folder / "figures" / "looks.json").write_text('{"ofan": 1}', encoding="utf-8")
    assert main([str(folder)]) == 2
    error = capsys.readouterr().err
    assert "looks.json: not the looks of schemes" in error
    assert error.count("\n") == 1


def test_pictures__have_one_scale_on_the_page(tmp_path: Path) -> None:
    widths = []
    for inches in (COLUMN, PAGE):
        drawn = draw(tmp_path / f"{inches}", lambda _: None, width=inches)
        widths.append(Picture(drawn, "Nothing.").width / inches)
    assert widths[0] == pytest.approx(widths[1], rel=0.01)


def test_main__prints_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder)]) == 0
    out = capsys.readouterr().out
    assert "ofan" in out
    assert "report.html" in out


@pytest.mark.parametrize("kind", ["absent", "empty", "damaged"])
def test_main__wrong_folder__is_one_line(
    folder: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = folder / kind
    if kind == "empty":
        target.mkdir()
    if kind == "damaged":
        (write_run(target) / "flows.csv").write_text("flow\n", encoding="utf-8")
    assert main([str(target)]) == 2
    error = capsys.readouterr().err
    assert kind in error
    assert error.count("\n") == 1
