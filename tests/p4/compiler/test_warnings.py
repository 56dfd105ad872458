"""What is compiled with a warning, because it is probably not what was meant."""

from pathlib import Path

import pytest

from p4.compiler import compile_with_warnings
from tests.p4.compiler.support import program


def warnings(folder: Path, **parts: str) -> list[str]:
    path = folder / "program.p4"
    path.write_text(program(**parts))
    return [each.message for each in compile_with_warnings(path)[1]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("300", "300 does not fit in bit<8> and becomes 44"),
        ("256", "256 does not fit in bit<8> and becomes 0"),
        ("-1", "-1 does not fit in bit<8> and becomes 255"),
        ("8w300", "300 does not fit in bit<8> and loses its upper bits"),
        ("hdr.h.a + 256", "256 does not fit in bit<8> and becomes 0"),
        ("hdr.h.a << 8", "a shift by 8 leaves nothing of bit<8>"),
        ("hdr.h.a >> 9", "a shift by 9 leaves nothing of bit<8>"),
        ("(bit<8>)(int<8>)(8s128)", "128 does not fit in int<8> and loses its upper bits"),
    ],
)
def test_numbers_that_do_not_fit(tmp_path: Path, value: str, message: str) -> None:
    assert warnings(tmp_path, apply=f"hdr.h.a = {value};") == [message]


@pytest.mark.parametrize("value", ["255", "0", "8w255", "(bit<8>)300", "~8w0", "-8w1", "1 << 7"])
def test_numbers_that_fit(tmp_path: Path, value: str) -> None:
    assert warnings(tmp_path, apply=f"hdr.h.a = {value};") == []


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ("1: accept; 2: reject; 1: reject;", 1),
        ("1: accept; 0x01: reject; 257: reject;", 2),
        ("2 &&& 2: accept; 3 &&& 2: reject;", 1),
        ("1 .. 3: accept; 1 .. 3: reject; 2: reject;", 1),
        ("1: accept; 2: reject; 3 &&& 2: reject; default: accept;", 0),
    ],
)
def test_cases_that_come_twice(tmp_path: Path, cases: str, expected: int) -> None:
    text = f"packet.extract(hdr.h); transition select(hdr.h.a) {{ {cases} }}"
    found = warnings(tmp_path, parser=f"state start {{ {text} }}")
    assert found.count("this case was there before") == expected


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ("(3 &&& 2, 1): NoAction(); (3, 1): NoAction();", 1),
        ("(_, _): NoAction(); (3, 1): NoAction(); (4, 1): NoAction();", 2),
        ("(3, 1): NoAction(); (3 &&& 2, 1): NoAction();", 0),
        ("(3 &&& 2, 1): NoAction(); (3, 2): NoAction();", 0),
        ("(3 &&& 2, _): NoAction(); (5, 2): NoAction();", 0),
    ],
)
def test_entries_that_are_covered(tmp_path: Path, entries: str, expected: int) -> None:
    table = (
        "table t { key = { hdr.h.a: ternary; hdr.h.b: optional; } actions = { NoAction; }"
        f" const entries = {{ {entries} }} }}"
    )
    found = warnings(tmp_path, locals=table, apply="t.apply();")
    assert found.count("this entry is never reached") == expected
