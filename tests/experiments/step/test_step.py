from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from experiments.main import main
from experiments.step import report

if TYPE_CHECKING:
    from pathlib import Path

SMALL = [
    "step", "--server", "2", "--tokens", "64", "--workload-option", "parameters=200000",
    "--schemes", "ecmp,ofan",
]  # fmt: skip


def test_command__tells_steps_of_jobs_and_draws_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--training-jobs", "2", "--placements", "packed,random", "--out", str(tmp_path)]
    assert main([*SMALL, *more]) == 0
    table = pd.read_csv(tmp_path / "step.csv")
    assert len(table) == 2 * 2 * 2  # jobs, placements, schemes
    assert (table["verdict"] == "VALID").all()
    assert (table["step_us"] >= table["bound_us"] - 1e-6).all()
    assert (table["bound_us"] > table["computation_us"]).all()
    operations = 2 * 64 * 200_000 + 2 * 64 * 64 * 4096
    computation = 3 * 2 * operations / (989e12 * 0.4) * 1e6  # two layers, backward twice forward
    assert table["computation_us"].tolist() == pytest.approx([computation] * 8, rel=1e-6)
    told = capsys.readouterr().out
    assert [line.split()[:2] for line in told.splitlines() if "VALID" in line] == [
        [placement, scheme] for placement in ("packed", "random") for scheme in ("ECMP", "Ofan")
    ]
    assert (tmp_path / "step.pdf").exists()


def test_by_scheme__the_slowest_job_of_each_run_counts_and_invalid_runs_do_not() -> None:
    rows = [
        ("packed", "Ofan", 1, 10.0, 4.0, 8.0, "VALID"),
        ("packed", "Ofan", 1, 12.0, 4.0, 9.0, "VALID"),
        ("packed", "Ofan", 2, 14.0, 4.0, 9.0, "VALID"),
        ("packed", "Ofan", 3, 99.0, 4.0, 9.0, "INVALID"),
    ]
    names = ["placement", "label", "seed", "step_us", "computation_us", "bound_us", "verdict"]
    (row,) = report.by_scheme(pd.DataFrame(rows, columns=names)).to_dict("records")
    assert (row["step_us"], row["exposed_us"], row["exposed_at_bound_us"]) == (13.0, 9.0, 5.0)
    assert row["added_percent"] == pytest.approx(100 * 4 / 9)
    assert (row["fastest_us"], row["slowest_us"]) == (12.0, 13.0)


def test_dry_run__runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main([*SMALL, "--dry-run", "--out", str(out)]) == 0
    assert "Ofan, packed, seed 1" in capsys.readouterr().out
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--placements", "spread"], "--placements spread"),
        (["--model", "9b"], "option model is '9b'"),
        (["--training-jobs", "3"], "do not make 3 jobs"),
        (["--workload-option", "speed=2"], "has no option 'speed'"),
        (["--tflops", "-1"], "must be above 0"),
    ],
)
def test_command__bad_input__is_one_line(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, *options, "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()
