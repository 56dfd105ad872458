"""What `--dry-run` tells, and that it does nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from experiments import estimate
from experiments.main import main

ROOT = Path(__file__).parents[2]


def test_main__dry_run__lists_all_runs_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    wanted = ["--on", "virtual", "--schemes", "ofan,rsq", "--seeds", "12", "--message", "64KB"]
    assert main([*wanted, "--dry-run", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "24 runs in virtual" in said
    assert said.count("seed") == estimate.SHOWN
    assert "and 4 more" in said
    packets = 24 * 16 * 16
    assert f"{packets:,} packets over {packets * 2 * 6:,} hops" in said
    assert not out.exists()


def test_figure__dry_run__counts_only_what_has_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = iter([{"variant": "known"}])
    monkeypatch.setattr("experiments.running.kept_row", lambda _folder: next(kept, None))
    assert main(["fig18", "--quick", "--seeds", "3", "--dry-run", "--out", str(tmp_path)]) == 0
    assert "3 points, 2 of them to run" in capsys.readouterr().out


@pytest.mark.mininet
def test_main__dry_run_in_real_time__tells_how_much_slower(tmp_path: Path) -> None:
    given = ["--on", "mininet", "--schemes", "ofan", "--seeds", "1", "--dilation", "60000"]
    command = [sys.executable, "experiments/run.py", *given, "--dry-run"]
    done = subprocess.run(  # a process of its own: the sandbox changes the one that makes it
        [*command, "--out", str(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "60,000 times slower" in done.stdout
    assert not (tmp_path / "out").exists()


def test_seconds_a_hop__building_takes_long__are_of_a_run_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter([0.0, 60.0, 61.0, 62.0])  # a minute with building, then a second
    monkeypatch.setattr("experiments.estimate.time.monotonic", lambda: next(clock))
    monkeypatch.setattr("testbed.virtual.run", lambda *_args, **_options: None)
    estimate.seconds_a_hop.cache_clear()
    assert estimate.seconds_a_hop() == pytest.approx(1 / (128 * 128 * 2 * 6))
    estimate.seconds_a_hop.cache_clear()
