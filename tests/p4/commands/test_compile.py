import json
from pathlib import Path

import pytest

from p4.__main__ import main
from tests.p4.compiler.support import program


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "program.p4"
    path.write_text(program(apply="\n#ifdef VALUE\n hdr.h.a = VALUE;\n#endif\n"))
    return path


def test_compile__writes_json_to_a_file_or_stdout(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = source.with_suffix(".json")
    assert main(["compile", str(source), "-o", str(output)]) == 0
    assert main(["compile", str(source)]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(output.read_text())


def test_compile__defines(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", str(source), "-D", "VALUE=77"]) == 0
    assert "0x4d" in capsys.readouterr().out
    assert main(["compile", str(source), "-DVALUE"]) == 0
    assert "0x4d" not in capsys.readouterr().out


def test_compile__errors_go_to_stderr_with_exit_code_2(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", str(source), "-DVALUE=nothing"]) == 2
    assert "unknown name 'nothing'" in capsys.readouterr().err
    assert main(["compile", "/nonexistent.p4"]) == 2
    assert "cannot read /nonexistent.p4" in capsys.readouterr().err
    assert main(["compile", str(source), "-o", "/nonexistent/x.json"]) == 2
    assert "cannot write /nonexistent/x.json" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["compile", "c"])
def test_the_program_itself_is_never_written_over(
    source: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = source.read_text()
    link = source.with_name("link.p4")
    link.symlink_to(source)
    for output in (source, link):
        assert main([command, str(source), "-o", str(output)]) == 2
        assert f"cannot write {output}: it is the program itself" in capsys.readouterr().err
        assert source.read_text() == before


@pytest.mark.parametrize("name", ["1X", "X-Y", "A B", "é"])
def test_compile__a_macro_that_has_no_possible_name(
    source: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compile", str(source), f"-D{name}=1"]) == 2
    assert f"cannot define {name!r}" in capsys.readouterr().err


def test_compile__p4c_that_is_not_there(
    source: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["compile", "--compiler", "p4c", str(source)]) == 2
    assert "p4c" in capsys.readouterr().err
