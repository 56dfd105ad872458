from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.groups import group_runs
from analysis.results import read_run
from analysis.summary import (
    COLUMNS,
    by_scheme,
    read_all,
    read_summary,
    summarise,
    write_summary,
)
from errors import UserError
from testbed.scenario import variant
from tests.analysis.synthetic import change_manifest, write_run

if TYPE_CHECKING:
    from pathlib import Path


def test_summary__is_written_and_read_back(tmp_path: Path) -> None:
    for seed in (1, 2):
        write_run(tmp_path / f"run{seed}", seed=seed, delay=1.0)
    table = summarise(read_all(tmp_path))
    write_summary(table, tmp_path / "summary.csv")
    again = read_summary(tmp_path / "summary.csv")
    assert tuple(again.columns) == COLUMNS
    assert again["seed"].tolist() == [1, 2]
    assert again["cct_us"].to_numpy() == pytest.approx(table["cct_us"].to_numpy(), abs=1e-5)
    assert again["verdict"].tolist() == ["VALID", "VALID"]


def test_summary__tells_of_hosts_transports(tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "cca": "nscc",
        "recovery": "go-back-n",
        "loss": 0.01,
        "buffer_bytes": 800_000,
    }
    told_besides: dict[str, Any] = {
        "cca_parameters": {"gamma": 0.5},
        "recovery_parameters": {"timeout_us": 40.0},
    }
    write_run(tmp_path / "run", **told, **told_besides)
    write_summary(summarise(read_all(tmp_path)), tmp_path / "summary.csv")
    (only,) = read_summary(tmp_path / "summary.csv").to_dict("records")
    assert {name: only[name] for name in told} == told
    assert only["cca_parameters.gamma"] == 0.5
    assert only["recovery_parameters.timeout_us"] == 40.0


def test_group_title__names_congestion_control_and_recovery(tmp_path: Path) -> None:
    runs = [
        read_run(write_run(tmp_path / "plain")),
        read_run(write_run(tmp_path / "under", cca="nscc")),
        read_run(write_run(tmp_path / "back", cca="nscc", recovery="go-back-n")),
    ]
    plain, under, back = (group.title for group in group_runs(runs, ["ofan"]))
    assert "CCA" not in plain
    assert "CCA: nscc, recovery: selective" in under
    assert "CCA: nscc, recovery: go-back-n" in back


def test_read_summary__wrong_file__is_named(tmp_path: Path) -> None:
    path = tmp_path / "summary.csv"
    with pytest.raises(UserError, match=r"summary\.csv"):
        read_summary(path)
    path.write_text("scheme,seed\nofan,1\n", encoding="utf-8")
    with pytest.raises(UserError, match="columns missing: variant"):
        read_summary(path)


def test_by_scheme__leaves_invalid_runs_out(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write_run(tmp_path / f"run{seed}", seed=seed, delay=float(seed))
    change_manifest(tmp_path / "run3", ended="deadline")
    table = summarise(read_all(tmp_path))
    means = by_scheme(table, "cct_us")
    assert means["runs"].tolist() == [2]
    pair = table["cct_us"][:2]
    assert means["mean"][0] == pytest.approx(pair.mean())
    assert means["sem"][0] == pytest.approx(pair.std(ddof=1) / np.sqrt(2))


def test_variant__names_parameters_and_mixes(tmp_path: Path) -> None:
    plain = read_run(write_run(tmp_path / "a"))
    piped = read_run(write_run(tmp_path / "b", scheme="pofan", parameters={"pipe_ports": 2}))
    mixed = read_run(write_run(tmp_path / "c", scheme="pofan", mix=["ar", "random-pods"]))
    assert [variant(run.scenario) for run in (plain, piped, mixed)] == [
        "ofan",
        "pofan(pipe_ports=2)",
        "pofan+ar+random-pods",
    ]
