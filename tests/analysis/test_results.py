from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from analysis.results import find_runs, read_queues, read_run, unfinished_runs
from errors import UserError
from tests.analysis.synthetic import change_manifest, change_table, write_run

if TYPE_CHECKING:
    from pathlib import Path


def test_read_run__has_every_file_typed(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", parameters={"pipe_ports": 1}))
    assert run.scenario.hosts == len(run.flows) == 16
    assert run.scenario.parameters == {"pipe_ports": 1}
    assert run.world == "virtual"
    assert len(run.links) == 96
    assert len(run.switch_links) == 80
    assert run.flows["finish_ns"].dtype == "float64"
    assert read_queues(run.folder)["time_ns"].is_monotonic_increasing


def test_read_run__unfinished_flow_is_nan(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    change_table(folder / "flows.csv", finish_ns=[None, *[9000.0] * 15])
    assert read_run(folder).flows["finish_ns"].isna().sum() == 1


@pytest.mark.parametrize("name", ["scenario.toml", "manifest.json", "flows.csv", "links.csv"])
def test_read_run__missing_file__is_named(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path / "run")
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"run: not a finished run: {name} missing"):
        read_run(folder)


@pytest.mark.parametrize("name", ["scenario.toml", "manifest.json", "flows.csv", "links.csv"])
@pytest.mark.parametrize("content", [b"", b"\xff\x00\xfe", b"{[,\n"])
def test_read_run__damaged_file__is_named(tmp_path: Path, name: str, content: bytes) -> None:
    folder = write_run(tmp_path / "run")
    (folder / name).write_bytes(content)
    with pytest.raises(UserError, match=name):
        read_run(folder)


@pytest.mark.parametrize("name", ["flows.csv", "links.csv"])
def test_read_run__file_cut_off__is_named(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path / "run")
    text = (folder / name).read_text(encoding="utf-8")
    for part in range(1, 10):
        (folder / name).write_text(text[: len(text) * part // 10], encoding="utf-8")
        try:
            read_run(folder)
        except UserError as error:
            assert name in str(error)  # noqa: PT017 - a cut at a line's end is readable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("k = 4", 'k = "four"'), "k is 'four'"),
        (("k = 4", "k = true"), "k is True"),
        (("k = 4", ""), "k is missing"),
        (("rate_gbps = 800.0", "rate_gbps = 0.0"), "rate_gbps is 0.0; it must be at least"),
        (("k = 4", "k = 4\nmix = 3"), "mix is 3; it must be a list of 2 texts"),
        (("k = 4", "k = 4\nmixed = 3"), "no field mixed; did you mean mix"),
        (("[parameters]", "[parameters]\na = 'b'"), "a is 'b'; it must be a number"),
    ],
)
def test_read_run__wrong_scenario__names_the_key(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "scenario.toml"
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_run(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"conservation": 3}, "conservation is not a table"),
        ({"conservation": {"sent": 1}}, "conservation.delivered is None"),
        (
            {"conservation": {"sent": 1, "delivered": 1, "dropped": {"queue": "x"}}},
            "conservation.dropped.queue is 'x'",
        ),
        ({"pacing": {"h0": {"offered": 1}}}, "pacing.h0.late_p99_ns is None"),
        ({"processor_share": {"engine": None}}, "processor_share.engine is None"),
    ],
)
def test_read_run__wrong_manifest__names_the_key(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    folder = write_run(tmp_path / "run")
    change_manifest(folder, **changes)
    with pytest.raises(UserError, match=message):
        read_run(folder)


@pytest.mark.parametrize(
    ("name", "message"), [("flows.csv", "no flows"), ("links.csv", "no links of switches")]
)
def test_read_run__empty_table__is_named(tmp_path: Path, name: str, message: str) -> None:
    folder = write_run(tmp_path / "run")
    header = (folder / name).read_text(encoding="utf-8").splitlines()[0]
    (folder / name).write_text(header + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_run(folder)


def test_read_run__wrong_number__names_file_and_line(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "flows.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("\n2,2,", "\n2,two,"))
    with pytest.raises(UserError, match=r"flows\.csv:4: src is 'two'"):
        read_run(folder)


def test_read_run__unknown_stage__names_file_and_line(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    change_table(folder / "links.csv", stage="X-Y")
    with pytest.raises(UserError, match=r"links\.csv:2: stage is 'X-Y'"):
        read_run(folder)


def test_read_run__missing_column__is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "links.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("busy_ns", "idle_ns"))
    with pytest.raises(UserError, match="columns missing: busy_ns"):
        read_run(folder)


def test_read_queues__cut_off__is_named(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    path = folder / "queues.csv.gz"
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(UserError, match="queues"):
        read_queues(folder)
    path.write_bytes(gzip.compress(b"time_ns\n1\n"))
    with pytest.raises(UserError, match="columns missing"):
        read_queues(folder)


def test_find_runs__finds_finished_runs_below(tmp_path: Path) -> None:
    write_run(tmp_path / "b")
    write_run(tmp_path / "deep" / "a")
    (write_run(tmp_path / "c") / "manifest.json").unlink()
    assert [run.name for run in find_runs(tmp_path)] == ["b", "a"]
    assert [run.name for run in unfinished_runs(tmp_path)] == ["c"]


@pytest.mark.parametrize("name", ["absent", ""])
def test_find_runs__nothing_there__says_so(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="no such folder" if name else "no results in it"):
        find_runs(tmp_path / name)
