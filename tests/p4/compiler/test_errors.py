"""Golden messages: what a wrong program is told, word for word.

`REFRESH=1 pytest tests/p4/compiler/test_errors.py` writes them anew, to be read as a diff.
"""

import os
from pathlib import Path

import pytest

from p4.compiler import CompileError, compile_file

FOLDER = Path(__file__).parent / "errors"
PROGRAMS = sorted(path.name for path in FOLDER.glob("*.p4"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_messages(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    golden = Path(name).with_suffix(".txt")
    with pytest.raises(CompileError) as caught:
        compile_file(Path(name))
    if os.environ.get("REFRESH"):
        golden.write_text(f"{caught.value}\n")
    assert f"{caught.value}\n" == golden.read_text()


def test_several_errors_are_found_at_once() -> None:
    assert PROGRAMS
    for name in PROGRAMS:
        text = (FOLDER / name).with_suffix(".txt").read_text()
        assert text.count(": error: ") > 5, name
