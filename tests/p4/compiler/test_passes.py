"""The list of passes, and what each of them gives as text."""

from pathlib import Path

import pytest

from p4.__main__ import main
from p4.compiler import CompileError, compile_file
from p4.compiler.dump import dump
from p4.compiler.passes import PASSES, run_passes
from tests.p4.compiler.support import program

NAMES = [each.name for each in PASSES]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "program.p4"
    path.write_text(program(apply="if (hdr.h.a == 3) { hdr.h.b = hdr.h.b + 1; }"))
    return path


def test_passes__the_last_gives_the_json(source: Path) -> None:
    assert run_passes(source, {}, ())[0] == compile_file(source)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("preprocess", "    apply { if (hdr.h.a == 3) { hdr.h.b = hdr.h.b + 1; } }"),
        ("tokenize", "program.p4:15:25: symbol =="),
        ("parse", "operator==="),
        ("check", "program.p4:15:23: Member: bit<8>"),
        ("lower", "condition=(h.a == 3)"),
        ("emit", '      "name": "ingress",'),
    ],
)
def test_dump(source: Path, name: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--dump", name, str(source)]) == 0
    text = capsys.readouterr().out
    assert line in text
    assert text.endswith("\n")


def test_dump__of_every_pass_is_text_of_its_own(source: Path) -> None:
    texts = {dump(run_passes(source, {}, (), name)[0]) for name in NAMES}
    assert len(texts) == len(PASSES) == 6


def test_dump__ends_before_the_errors_of_later_passes(source: Path) -> None:
    source.write_text(source.read_text().replace("== 3", "== nothing"))
    assert "nothing" in dump(run_passes(source, {}, (), "parse")[0])
    with pytest.raises(CompileError):
        run_passes(source, {}, (), "check")


def test_dump__names_all_passes_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compile", "--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in NAMES)
    assert main(["compile", "--dump", "lower", "/nonexistent.p4"]) == 2
