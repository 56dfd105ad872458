"""Whatever a command is given: one clear line on stderr and exit code 2, never a traceback."""

import json
from pathlib import Path

import pytest

from p4.__main__ import main

PROGRAM = Path(__file__).parent.parent / "engine_programs" / "rounds.p4"


@pytest.fixture
def wrong(tmp_path: Path) -> dict[str, Path]:
    """Return files that are wrong in every way, by what is wrong with them."""
    contents = {
        "binary": bytes(range(256)) * 8,
        "empty": b"",
        "deep": b"[" * 100_000,
        "object": json.dumps({"program": 3}).encode(),
        "text": b"packet 1 zz\n",
        "port": b"packet 99999999999 00\n",
        "command": b"mirroring_add 99999999999999 2\n",
    }
    files = {"missing": tmp_path / "missing", "folder": tmp_path}
    for name, data in contents.items():
        files[name] = tmp_path / name
        files[name].write_bytes(data)
    return files


@pytest.mark.parametrize("kind", ["binary", "empty", "deep", "object", "missing", "folder"])
@pytest.mark.parametrize("command", ["compile", "c", "run"])
@pytest.mark.parametrize("suffix", [".p4", ".json"])
def test_program__that_is_wrong(
    command: str,
    kind: str,
    suffix: str,
    wrong: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = wrong[kind].with_suffix(suffix)
    if wrong[kind].exists():
        wrong[kind].rename(path)
    assert main([command, str(path)]) == 2
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["binary", "object", "text", "port", "missing", "folder"])
def test_script__that_is_wrong(
    kind: str, wrong: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stf", str(PROGRAM), str(wrong[kind])]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith(str(wrong[kind]))


def test_script__with_a_number_that_is_too_large(
    wrong: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stf", str(PROGRAM), str(wrong["command"])]) == 1
    assert "line 1: session 99999999999999 is not within 0 to 32767" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["binary", "object", "missing", "folder"])
def test_entries__that_are_wrong(
    kind: str, wrong: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(PROGRAM), "--entries", str(wrong[kind])]) == 2
    assert str(wrong[kind]) in capsys.readouterr().err


@pytest.mark.parametrize("port", ["x", "1", "1=", "600=lo", "1=nosuchinterface"])
def test_port__that_is_wrong(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(PROGRAM), "--port", port]) == 2
    assert port.rpartition("=")[2] in capsys.readouterr().err
