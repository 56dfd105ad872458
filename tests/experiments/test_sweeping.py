from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.figures.any_field import apart, varying
from errors import UserError
from experiments import sweep
from experiments.grid import values_of
from experiments.main import main
from testbed import Scenario
from testbed.scenario import FIELDS, to_toml

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "sweep.ipynb"
FIELD = {field.name: field for field in FIELDS}
SMALL = ["sweep", "--schemes", "ofan,ar", "--message", "16KB..64KB", "--seeds", "1", "--jobs", "1"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("k", "8,12", [8, 12]),
        ("message_bytes", "256KB..2MB", [1 << 18, 1 << 19, 1 << 20, 1 << 21]),
        ("load", "0.8..1+0.1", [0.8, 0.9, 1.0]),
        ("message_bytes", "1..1000*10", [1, 10, 100, 1000]),
        ("topology", "leaf-spine,fat-tree", ["leaf-spine", "fat-tree"]),
        ("buffer_bytes", "none,1MB", [None, 1 << 20]),
        ("load", "1,1", [1.0]),
    ],
)
def test_values__lists_and_ranges(name: str, text: str, expected: list[object]) -> None:
    assert values_of(FIELD[name])(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("k", "12..8", "does not lead"),
        ("load", "0..1", "does not lead"),
        ("k", "4..8+0", "does not lead"),
        ("message_bytes", "1..1GB+1", "more than"),
        ("topology", "fat-tree..leaf-spine", "of numbers"),
        ("load", "much", "no number"),
    ],
)
def test_values__wrong__are_told(name: str, text: str, complaint: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=complaint):
        values_of(FIELD[name])(text)


def test_sweep__makes_one_table_and_a_figure_and_goes_on_where_it_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*SMALL, "--out", str(tmp_path), "--y", "cct_increase,max_queue"]
    assert main(command) == 0
    table = pd.read_csv(tmp_path / "sweep.csv")
    assert len(table) == 6
    assert set(table["message_bytes"]) == {16 << 10, 32 << 10, 64 << 10}
    assert set(table["scheme"]) == {"ofan", "ar"}
    assert len(pd.read_parquet(tmp_path / "results.parquet")) == 6
    assert (tmp_path / "sweep.png").stat().st_size > 10_000
    rows = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("row.json")}
    capsys.readouterr()
    assert main([*command, "--dry-run"]) == 0
    assert "6 points, 0 of them to run" in capsys.readouterr().out
    assert main([*command, "--x", "k", "--color", "message"]) == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("row.json")} == rows


def test_sweep__parameters_and_workload_options__vary_where_they_apply(tmp_path: Path) -> None:
    given = ["--parameter", "reps.freezing=0,1", "--parameter", "nscc.gamma=0.5,0.8"]
    options = ["--workload", "ring", "--workload-option", "placement=in-order,random"]
    size = ["--message", "16KB", "--seeds", "1", "--out", str(tmp_path)]
    command = ["sweep", "--schemes", "reps,ofan", "--cca", "none,nscc", *given, *options, *size]
    assert main([*command, "--x", "buffer", "--buffer", "100KB,1MB"]) == 0
    table = pd.read_csv(tmp_path / "sweep.csv")
    placed = 2 * 2  # placements and buffers
    by_scheme = table.groupby(["scheme", "cca"]).size().to_dict()
    assert by_scheme == {
        ("ofan", "none"): placed,
        ("ofan", "nscc"): 2 * placed,
        ("reps", "none"): 2 * placed,
        ("reps", "nscc"): 4 * placed,
    }
    lines, looks = apart(table, {}, "variant", ["cca", "cca_parameters.gamma"])
    assert not looks
    assert set(lines["variant"]) >= {"ofan, cca none", "ofan, cca nscc, gamma 0.5"}
    assert "workload_options.placement" in varying(table)
    assert "scheme" not in varying(table)


def test_sweep__of_words__puts_them_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("planes = 2\nedges = 3\nhosts = 2\nspines = 1\n", encoding="utf-8")
    network = ["--topology", str(file), "--spread", "rotate,rail,stripe"]
    words = ["--schemes", "ecmp,ofan", "--message", "16KB", "--seeds", "1", *network]
    assert main(["sweep", *words, "--out", str(tmp_path / "out")]) == 0
    table = pd.read_csv(tmp_path / "out" / "sweep.csv")
    assert list(table.groupby("spread")["scheme"].nunique()) == [2, 2, 2]
    assert (tmp_path / "out" / "sweep.png").stat().st_size > 10_000


def test_sweep__of_a_scenario_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(to_toml(Scenario(scheme="drb", message_bytes=1 << 14, acks=False)))
    out = tmp_path / "out"
    assert main(["sweep", "--scenario", str(path), "--seeds", "3,", "--out", str(out)]) == 0
    (row,) = pd.read_csv(out / "sweep.csv").to_dict("records")
    assert (row["scheme"], row["seed"], row["acks"]) == ("drb", 3, False)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--schemes", "offan"], "scheme offan is unknown; did you mean ofan?"),
        (["--scenario", "/nonexistent.toml"], "/nonexistent.toml"),
        (["--k", "5"], "k is 5"),
        (["--parameter", "resp.freezing=1"], "scheme resp is unknown; did you mean reps?"),
    ],
)
def test_sweep__bad_input__is_one_line(
    words: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", *words, "--seeds", "1", "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


def test_sweep__from_python__is_a_table(tmp_path: Path) -> None:
    table = sweep(Scenario(message_bytes=1 << 14), scheme=["ofan", "ar"], seed=[1, 2], out=tmp_path)
    assert len(table) == 4
    assert (table["verdict"] == "VALID").all()
    with pytest.raises(UserError, match="no field messages; did you mean message_bytes"):
        sweep(messages=[1], out=tmp_path)


def test_notebook__runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)  # noqa: S102
    means = names["means"]
    assert isinstance(means, pd.DataFrame)
    assert means.shape == (2, 2)
    assert means.notna().all().all()
