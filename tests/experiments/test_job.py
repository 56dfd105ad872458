from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from errors import UserError
from experiments import session
from experiments.main import main
from experiments.options import parse
from experiments.work import check_size, same_as_ofan
from testbed.results import write_whole
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

RUN = ["--on", "virtual", "--schemes", "ofan", "--seeds", "2", "--message", "16KB"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_main__ended_by_a_signal__shows_and_keeps_what_finished(
    number: int,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever began the tests in the background may have had Ctrl-C ignored.
    begun = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.getsignal(signal.SIGTERM)
    whole = session.Session.run

    def run_one(self: session.Session, plan: object) -> bool:
        if "seed=2" in repr(plan):
            os.kill(os.getpid(), number)
        return whole(self, plan)  # type: ignore[arg-type]

    monkeypatch.setattr(session.Session, "run", run_one)
    try:
        assert main([*RUN, "--out", str(tmp_path)]) == code
    finally:
        signal.signal(signal.SIGINT, begun)
    said = capsys.readouterr().out
    assert "what was finished is kept" in said
    assert "1 VALID" in said
    assert (tmp_path / "report.html").exists()
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_main__jobs__change_nothing_but_the_order(
    jobs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, split = tmp_path / "whole", tmp_path / "split"
    assert main([*RUN, "--out", str(whole)]) == 0
    capsys.readouterr()
    assert main([*RUN, "--jobs", jobs, "--out", str(split)]) == 0
    said = capsys.readouterr().out
    assert {line for line in said.splitlines() if "seed" in line} == {
        "Ofan, seed 1: VALID",
        "Ofan, seed 2: VALID",
    }
    for name in ("summary.csv", "ofan-s1/flows.csv", "ofan-s2/queues.csv.gz"):
        assert (whole / name).read_bytes() == (split / name).read_bytes()


def test_main__a_process_that_dies__costs_its_own_run_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "ofan-s2" / "scenario.toml"
    full.parent.mkdir()
    full.symlink_to("/dev/full")
    assert main([*RUN, "--jobs", "2", "--out", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "Ofan, seed 2: failed: OSError" in said
    assert "1 VALID" in said


@pytest.mark.parametrize("world", ["mininet", "bmv2"])
def test_check_size__several_at_a_time_in_real_time__refused(world: str) -> None:
    with pytest.raises(UserError, match="--jobs is for virtual time"):
        check_size([Scenario()], world, jobs=2)


@pytest.mark.parametrize("report_too", [False, True])
def test_main__disk_full_in_a_run__shows_and_reports_what_finished(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    report_too: bool,
) -> None:
    out, spare = tmp_path / "out", tmp_path / "spare"
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    full = [out / "ofan-s2" / "scenario.toml", *([out / "summary.csv"] if report_too else [])]
    for path in (*full, spare / "any"):
        path.parent.mkdir(parents=True, exist_ok=True)
    for path in full:
        path.symlink_to("/dev/full")
    assert main([*RUN, "--out", str(out)]) == 2
    told = capsys.readouterr()
    assert "1 VALID" in told.out
    (line,) = told.err.splitlines()
    assert "no space left on device" in line
    assert str(out) in line
    pages = list(spare.glob("report-*/report.html")) if report_too else [out / "report.html"]
    assert len(pages) == 1
    assert pages[0].exists()
    assert f"All on one page: {pages[0]}" in told.out.replace("\n", "")


def test_write_whole__disk_full__leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text("before")
    (tmp_path / "manifest.json.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--schemes", "pofan"], "4Ofan is Ofan at k = 4: one pipe holds all 2 ports"),
        (["--schemes", "pofan", "--k", "8"], "4Ofan is Ofan at k = 8"),
        (["--schemes", "pofan", "--k", "10"], ""),
        (["--schemes", "pofan", "--pipe-ports", "1"], ""),
        (["--schemes", "ofan"], ""),
    ],
)
def test_same_as_ofan__only_where_one_pipe_holds_all_ports(words: list[str], said: str) -> None:
    line = same_as_ofan(parse([*words, "--seeds", "1"]).scenarios)
    assert line.startswith(said)
    assert bool(line) == bool(said)
