"""run.py as its user meets it, in virtual time: bad input, results, figures."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from experiments.figures import FIGURES
from experiments.main import main
from testbed import schemes
from testbed.schemes import scheme

ROOT = Path(__file__).parents[2]
RUN = ROOT / "experiments" / "run.py"
SMALL = ["--on", "virtual", "--schemes", "ecmp,ofan", "--seeds", "2", "--message", "64KB"]
COLUMNS = [
    "scheme", "seed", "world", "cct_us", "cct_bound_us", "cct_increase", "max_queue_bytes",
    "mean_queue_bytes", "utilisation", "receive_skew", "verdict",
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--schemes", "ofan,nosuch"], "scheme nosuch is unknown; there are"),
        (["--k", "5"], "k is 5"),
        (["--k", "2"], "k is 2"),
        (["--k", "four"], "--k"),
        (["--message", "0"], "message_bytes is 0"),
        (["--message", "much"], "'much' is no size"),
        (["--load", "0"], "load is 0"),
        (["--load", "1.5"], "load is 1.5"),
        (["--seeds", "0"], "seeds and their count start at 1"),
        (["--dilation", "-3"], "-3 is not above 0"),
        (["--on", "moon"], "moon"),
        (["--workload", "nosuch"], "workload 'nosuch'"),
        (["--workload", "missing.cm"], "missing.cm"),
        (["--workload-option", "skew"], "'skew' is not NAME=VALUE"),
        (["--parameter", "pofan.pipe_ports=many"], "is 'many', which is no number"),
        (["--schemes", "pofan", "--pipe-ports", "0"], "pipe_ports"),
        (["--plot-only"], "--plot-only needs --out"),
        (["--plot-only", "--out", "/nonexistent"], "/nonexistent"),
        (["--frobnicate"], "--frobnicate"),
        (["--compiler", "gcc"], "gcc"),
        (["nosuchfigure"], "nosuchfigure"),
        (["nosuchfigure", "--list"], "figure nosuchfigure is unknown"),
        (["--on", "virtual", "--out", "/proc/nosuch"], "/proc/nosuch: "),
    ],
)
def test_main__bad_input__is_told_in_one_line_and_exits_with_2(
    arguments: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    said = capsys.readouterr().err
    assert code == 2, said
    assert len(said.splitlines()) == 1, said
    assert named in said


def test_main__p4c_is_asked_when_the_user_wants_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "p4c"
    fake.write_text('#!/bin/sh\necho "asked for $*" >&2\nexit 1\n', encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    code = main(["--on", "virtual", "--compiler", "p4c", "--schemes", "ofan", "--seeds", "1"])
    said = capsys.readouterr().err
    assert code == 2
    assert "p4c refuses it" in said
    assert "-DW=2" in said
    assert "ofan.p4" in said


def test_main__wrong_program__names_the_file_and_the_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = tmp_path / "programs"
    shutil.copytree(schemes.PROGRAMS, programs)
    broken = programs / "ofan.p4"
    broken.write_text(broken.read_text() + "\ncontrol Broken( { }\n")
    monkeypatch.setattr(scheme, "PROGRAMS", programs)
    assert main(["--on", "virtual", "--schemes", "ofan"]) == 2
    assert "ofan.p4:" in capsys.readouterr().err.splitlines()[0]


def test_main__virtual__leaves_a_folder_a_run_a_summary_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "results"
    assert main([*SMALL, "--out", str(out)]) == 0
    table = pd.read_csv(out / "summary.csv")
    assert set(COLUMNS) <= set(table.columns)
    assert set(zip(table["scheme"], table["seed"], strict=True)) == {
        ("ecmp", 1), ("ofan", 1), ("ecmp", 2), ("ofan", 2)
    }  # fmt: skip
    assert (table["verdict"] == "VALID").all()
    assert (out / "report.html").exists()
    assert list((out / "figures").glob("*.pdf"))
    manifest = json.loads((out / "ofan-s1" / "manifest.json").read_text())
    assert manifest["verdict"]["verdict"] == "VALID"
    said = capsys.readouterr().out
    assert "Ofan, seed 2: VALID" in said
    assert str(out / "report.html") in said

    shutil.rmtree(out / "figures")
    assert main(["--plot-only", "--out", str(out)]) == 0
    assert list((out / "figures").glob("*.png"))


def test_main__all_schemes__run_on_an_oversubscribed_network(tmp_path: Path) -> None:
    file, out = tmp_path / "two-to-one.toml", tmp_path / "results"
    file.write_text("edges = 3\nhosts = 4\nspines = 2\n", encoding="utf-8")
    options = ["--message", "64KB", "--seeds", "1", "--topology", str(file), "--out", str(out)]
    assert main(["--on", "virtual", "--schemes", "all", *options]) == 0
    table = pd.read_csv(out / "summary.csv")
    assert set(table["scheme"]) == set(schemes.names())
    assert (table["verdict"] == "VALID").all()
    assert (table["cct_increase"] >= 0).all()


def test_main__damaged_results__are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "ofan-s1"
    run.mkdir()
    (run / "manifest.json").write_text("{")
    (run / "scenario.toml").write_text("scheme = 'ofan'\n")
    assert main(["--plot-only", "--out", str(tmp_path)]) == 2
    assert "ofan-s1" in capsys.readouterr().err


def test_main__list__names_every_scheme(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"  {name} " in said for name in (*schemes.names(), "permutation", "moe"))


def test_run__any_python__continues_in_the_projects_environment() -> None:
    done = subprocess.run(
        ["/usr/bin/python3", "-I", str(RUN), "--list"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ofan" in done.stdout


def test_run__no_environment__says_how_to_make_it(tmp_path: Path) -> None:
    (tmp_path / "experiments").mkdir()
    shutil.copy(RUN, tmp_path / "experiments")
    shutil.copy(ROOT / "environment.py", tmp_path)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "experiments" / "run.py")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "make setup" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--schemes", "offan"], "did you mean ofan?"),
        (["--workload", "permutaton"], "did you mean permutation?"),
        (["--workload-option", "backgruond=1"], "did you mean background?"),
        (["--cca", "dctpc"], "did you mean dctcp?"),
        (["--recovery", "selectiv"], "did you mean selective?"),
        (["--parameter", "ofan.one_ordr=1"], "did you mean one_order?"),
        (["--mix", "ar,random-pod"], "did you mean random-pods?"),
    ],
)
def test_main__mistyped_name__suggests_the_nearest(
    words: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert main(["--on", "virtual", "--schemes", "ofan", "--seeds", "1", *out, *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert named in line


@pytest.mark.parametrize("name", [figure.name for figure in FIGURES] + ["paper", "cross", "sweep"])
def test_main__help_of_a_command__is_about_it_with_two_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([name, "--help"])
    said = capsys.readouterr().out
    assert said.startswith(f"usage: run.py {name} ")
    examples = said[said.index("examples:") :]
    assert examples.count(f"run.py {name} ") >= 2
    titles = {figure.name: figure.title for figure in FIGURES}
    assert f"{name}: {titles.get(name, '')}" in said or name not in titles
