"""Verdicts as a call of run.py shows them: unfinished runs, and `--strict`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from experiments.main import main
from testbed import virtual

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.plan import Plan

SMALL = ["--on", "virtual", "--schemes", "ofan", "--seeds", "2", "--message", "64KB"]


def run_until(seed: int) -> object:
    """Make a stand-in for virtual.run that a Ctrl-C meets in the run with that seed."""
    real = virtual.run

    def interrupt(_share: float) -> None:
        raise KeyboardInterrupt

    def run(plan: Plan, out: Path, **given: Any) -> object:
        progress = interrupt if plan.scenario.seed == seed else None
        return real(plan, out, progress=progress, **given)

    return run


def test_interrupted_run__is_unfinished_and_the_others_keep_their_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(virtual, "run", run_until(2))
    # A message that no single step of the core gets through.
    assert main([*SMALL, "--message", "64MB", "--out", str(tmp_path)]) == 130
    manifest = json.loads((tmp_path / "ofan-s2" / "manifest.json").read_text())
    assert manifest["ended"] == "interrupted"
    said = capsys.readouterr().out
    assert "1 VALID, 1 unfinished" in said
    assert "INVALID" not in said


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1)])
def test_strict__an_invalid_run__decides_the_exit_code(
    options: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path)]
    assert main([*SMALL, *out, "--strict"]) == 0
    manifest = tmp_path / "ofan-s1" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["conservation"]["sent"] += 1
    manifest.write_text(json.dumps(told))
    assert main(["--plot-only", *out, *options]) == code
    assert "1 INVALID" in capsys.readouterr().out


def test_a_degraded_run__counts_as_such_in_the_table_and_in_the_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--out", str(tmp_path)]
    assert main([*SMALL, *out]) == 0
    manifest = tmp_path / "ofan-s1" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["conservation"]["dropped"]["program"] += 1
    told["conservation"]["delivered"] -= 1
    manifest.write_text(json.dumps(told))
    capsys.readouterr()
    assert main(["--plot-only", "--strict", *out]) == 0
    said = capsys.readouterr().out
    assert "1 DEGRADED" in said
    assert "1 VALID" in said
