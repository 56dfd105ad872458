from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from analysis.summary import read_summary
from experiments import sweep
from testbed.mininet import sandbox

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--schemes", "simple_rr,ofan", "--messages", "64KB", "--seeds", "1"]


def test_cross__one_world__is_drawn_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cross", "--on", "virtual", *SMALL, "--out", str(tmp_path)]
    assert sweep.main(command) == 0
    assert read_summary(tmp_path / "cross.csv")["verdict"].tolist() == ["VALID"] * 2
    assert (tmp_path / "cross.pdf").exists()
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("manifest.json")}
    assert sweep.main(command) == 0
    assert written == {path: path.stat().st_mtime_ns for path in written}
    assert "2 runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--on", "moon"], "world moon is unknown"),
        (["--schemes", "best"], "scheme best is unknown"),
        (["--messages", "big"], "no size"),
        (["--k", "5"], "k"),
    ],
)
def test_cross__bad_input__is_one_line(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sweep.main(["cross", *options, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.root
@pytest.mark.mininet
@pytest.mark.skipif(os.geteuid() != 0 or sandbox.why_not() is not None, reason="needs Mininet")
def test_cross__two_worlds__are_compared(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert sweep.main(["cross", *SMALL, "--out", str(tmp_path)]) == 0
    table = read_summary(tmp_path / "cross.csv")
    assert set(table["world"]) == {"virtual", "mininet"}
    assert "mininet against virtual: CCT" in capfd.readouterr().out
