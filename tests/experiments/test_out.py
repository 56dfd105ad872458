from __future__ import annotations

import multiprocessing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from errors import UserError
from experiments import out, session
from experiments.main import main
from experiments.out import check, claimed, folder_of, fresh, others
from testbed.scenario import Scenario, to_toml

if TYPE_CHECKING:
    from pathlib import Path

OFAN = Scenario(message_bytes=1 << 14)
RUN = ["--on", "virtual", "--schemes", "ofan", "--seeds", "1", "--message", "16KB"]


def leave(folder: Path, scenario: Scenario, world: str = "virtual") -> None:
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(to_toml(scenario), encoding="utf-8")
    (folder / "manifest.json").write_text(f'{{"world": "{world}"}}', encoding="utf-8")


def test_folder__is_the_same_for_the_same_run(tmp_path: Path) -> None:
    first = folder_of(tmp_path, OFAN, "virtual")
    assert first.name == "ofan-s1"
    leave(first, OFAN)
    assert folder_of(tmp_path, OFAN, "virtual") == first


def test_folder__of_another_run__is_named_by_what_differs(tmp_path: Path) -> None:
    leave(tmp_path / "ofan-s1", OFAN)
    assert folder_of(tmp_path, replace(OFAN, k=8), "virtual").name == "ofan-k=8-s1"
    assert folder_of(tmp_path, OFAN, "mininet").name == "ofan-mininet-s1"
    workload = replace(OFAN, workload="../x.cm")
    assert folder_of(tmp_path, workload, "virtual").parent == tmp_path


def test_main__of_another_network_into_one_folder__keeps_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "show", lambda *_: None)  # drawing takes longest
    assert main([*RUN, "--out", str(tmp_path)]) == 0
    before = (tmp_path / "ofan-s1" / "flows.csv").read_bytes()
    assert main([*RUN, "--load", "0.9", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "ofan-s1" / "flows.csv").read_bytes() == before
    assert (tmp_path / "ofan-load=0.9-s1" / "flows.csv").exists()
    assert "1 other runs" in capsys.readouterr().out
    assert len(others(tmp_path, [tmp_path / "ofan-s1"])) == 1


def _claim(folder: str, answers: multiprocessing.Queue[str]) -> None:
    from pathlib import Path  # noqa: PLC0415

    try:
        with claimed(Path(folder)):
            answers.put("got it")
    except UserError as error:
        answers.put(str(error))


def test_claimed__by_another_process__is_refused_and_freed_after(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[str] = spawn.Queue()
    with claimed(tmp_path):
        other = spawn.Process(target=_claim, args=(str(tmp_path), answers))
        other.start()
        assert "writes into it" in answers.get(timeout=120)
        other.join()
    with claimed(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_fresh__twice_in_a_second__are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out, "RESULTS", tmp_path)
    monkeypatch.setattr("time.strftime", lambda _: "now")
    assert [fresh().name for _ in range(3)] == ["now", "now-2", "now-3"]


def test_check__what_is_no_folder__is_named_as_given(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "below"):
        with pytest.raises(UserError, match=f"^{path}: "):
            check(path)
    check(tmp_path / "new" / "newer")


def test_check__full_disk__is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(out, "LEAST_ROOM_BYTES", 1 << 62)
    with pytest.raises(UserError, match="too little for results"):
        check(tmp_path)
