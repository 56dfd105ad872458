from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.summary import read_summary
from experiments.main import main
from testbed.mininet import sandbox

RUN = Path(__file__).parents[2] / "experiments" / "run.py"
SMALL = ["--schemes", "simple_rr,ofan", "--messages", "64KB", "--seeds", "1"]


def test_cross__one_world__is_drawn_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cross", "--on", "virtual", *SMALL, "--out", str(tmp_path)]
    assert main(command) == 0
    assert read_summary(tmp_path / "cross.csv")["verdict"].tolist() == ["VALID"] * 2
    assert (tmp_path / "cross.pdf").exists()
    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("manifest.json")}
    assert main(command) == 0
    assert written == {path: path.stat().st_mtime_ns for path in written}
    assert "2 runs" in capsys.readouterr().out


def test_cross__several_congestion_controls__are_kept_apart(tmp_path: Path) -> None:
    command = ["cross", "--on", "virtual", *SMALL, "--cca", "none,nscc", "--buffer", "800KB"]
    assert main([*command, "--out", str(tmp_path)]) == 0
    table = read_summary(tmp_path / "cross.csv")
    assert sorted(table["cca"]) == ["none", "none", "nscc", "nscc"]
    assert set(table["buffer_bytes"]) == {800 << 10}
    assert len(set(zip(table["variant"], table["cca"], strict=True))) == 4


def test_cross__dry_run__counts_what_has_no_result_and_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cross", "--on", "virtual", "--messages", "64KB", "--out", str(tmp_path)]
    assert main([*command, "--schemes", "ofan", "--seeds", "1"]) == 0
    written = sorted(tmp_path.rglob("*"))
    capsys.readouterr()
    assert main([*command, "--schemes", "rsq,ofan", "--seeds", "2", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "4 runs in virtual, 3 of them to run" in said
    assert said.count(", seed 2") == 2
    assert f"{3 * 16 * 16:,} packets" in said
    assert sorted(tmp_path.rglob("*")) == written


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--on", "virtual", "--cca", "best"], "cca best is unknown"),
        (["--on", "moon"], "world moon is unknown"),
        (["--schemes", "best"], "scheme best is unknown"),
        (["--messages", "big"], "no size"),
        (["--k", "5"], "k"),
    ],
)
def test_cross__bad_input__is_one_line(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cross", *options, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_cross__without_simple_switch__says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["cross", "--on", "virtual,bmv2", *SMALL, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("run.py: simple_switch is not on the path")
    assert error.count("\n") == 1


@pytest.mark.root
@pytest.mark.mininet
@pytest.mark.skipif(os.geteuid() != 0 or sandbox.why_not() is not None, reason="needs Mininet")
@pytest.mark.parametrize("cca", ["none", "nscc", "mswift"])
def test_cross__two_worlds__are_compared(tmp_path: Path, cca: str) -> None:
    # A process of its own: it moves into namespaces that end with it.
    command = [sys.executable, str(RUN), "cross", *SMALL, "--cca", cca, "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    table = read_summary(tmp_path / "cross.csv")
    assert set(table["world"]) == {"virtual", "mininet"}
    assert set(table["cca"]) == {cca}
    assert "mininet against virtual: CCT" in done.stdout


@pytest.mark.mininet
@pytest.mark.skipif(sandbox.why_not() is not None, reason="needs Mininet")
def test_cross__dry_run_in_two_worlds__tells_of_each(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, str(RUN), "cross", *SMALL, "--dilation", "60000", "--dry-run"]
    done = subprocess.run(
        [*command, "--out", str(out)], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 runs in virtual, 2 of them to run" in done.stdout
    assert "2 runs in mininet, 2 of them to run" in done.stdout
    assert "60,000 times slower" in done.stdout
    assert not out.exists()
