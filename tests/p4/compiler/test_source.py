from pathlib import Path

import pytest

from p4.compiler import CompileError
from p4.compiler.diagnostics import Diagnostics
from p4.compiler.lexer import tokenize
from p4.compiler.source import Source, preprocess


def texts(source: Source) -> list[str]:
    return [token.text for token in tokenize(source, Diagnostics({}))][:-1]


def write(folder: Path, text: str, name: str = "a.p4") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_preprocess__macros_conditions_and_defines(tmp_path: Path) -> None:
    text = """
#define TWICE(x) ((x) + (x))
#if WIDTH > 8 && defined(WIDTH)
wide TWICE(3)
#else
narrow
#endif
"""
    path = write(tmp_path, text)
    assert texts(preprocess(path, {"WIDTH": "16"})) == [
        "wide", "(", "(", "3", ")", "+", "(", "3", ")", ")",
    ]  # fmt: skip
    assert texts(preprocess(path, {"WIDTH": "4"})) == ["narrow"]


def test_preprocess__includes_beside_the_file_in_folders_and_ours(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    write(tmp_path, "beside", "b.p4")
    write(folder, "elsewhere", "c.p4")
    path = write(tmp_path, '#include "b.p4"\n#include <c.p4>\n#include <core.p4>\nown')
    words = texts(preprocess(path, {}, [folder]))
    assert words[:2] == ["beside", "elsewhere"]
    assert "packet_in" in words
    assert words[-1] == "own"


def test_preprocess__keeps_lines_and_columns(tmp_path: Path) -> None:
    write(tmp_path, "one\ntwo\n", "b.p4")
    path = write(tmp_path, '/* a\n comment */ first // and\n#include "b.p4"\n\n  /* x */ last')
    tokens = tokenize(preprocess(path, {}), Diagnostics({}))
    places = {
        token.text: (Path(token.at.file).name, token.at.line, token.at.column) for token in tokens
    }
    assert places["first"] == ("a.p4", 2, 13)
    assert places["two"] == ("b.p4", 2, 1)
    assert places["last"] == ("a.p4", 5, 11)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('#include "gone.p4"\n', "1:1: error: cannot find included file gone.p4"),
        ("\n#error no luck\n", "2:1: error: #error no luck"),
        ("x\n  /* never", "2:3: error: comment is never closed"),
    ],
)
def test_preprocess__errors(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        preprocess(write(tmp_path, text), {})
    assert message in str(caught.value)


def test_preprocess__files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot read .*nothing\.p4: No such file"):
        preprocess(tmp_path / "nothing.p4", {})
    (tmp_path / "binary.p4").write_bytes(b"\xff\xfe")
    with pytest.raises(CompileError, match="not UTF-8"):
        preprocess(tmp_path / "binary.p4", {})


def test_preprocess__a_file_that_includes_itself(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="too many files"):
        preprocess(write(tmp_path, '#include "a.p4"\n'), {})


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "inner.p4").write_bytes(b"\xef\xbb\xbfconst bit<8> y = 2;\n")
    path = tmp_path / "a.p4"
    path.write_bytes(b'\xef\xbb\xbf#include "inner.p4"\nconst bit<8> x = 1;\n')
    text = preprocess(path, {}).text
    assert "\ufeff" not in text
    assert "x = 1" in text
    assert "y = 2" in text


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "inner.p4").write_bytes(b"\xff\xfe\x00")
    path = tmp_path / "a.p4"
    path.write_text('#include "inner.p4"\n')
    with pytest.raises(CompileError, match=r"a.p4:1:1: error: cannot read .*inner.p4: it is not"):
        preprocess(path, {})
