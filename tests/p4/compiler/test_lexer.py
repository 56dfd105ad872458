import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4.compiler.diagnostics import Diagnostics
from p4.compiler.lexer import END, IDENTIFIER, KEYWORD, NUMBER, STRING, SYMBOL, number, tokenize
from p4.compiler.source import Source


def kinds(text: str) -> list[tuple[str, str]]:
    diagnostics = Diagnostics({})
    tokens = tokenize(Source("a.p4", text), diagnostics)
    diagnostics.check()
    return [(token.kind, token.text) for token in tokens]


def test_tokenize__kinds() -> None:
    assert kinds('table x = 8w0xFF; "a b" |+| &&& ++ >> @') == [
        (KEYWORD, "table"),
        (IDENTIFIER, "x"),
        (SYMBOL, "="),
        (NUMBER, "8w0xFF"),
        (SYMBOL, ";"),
        (STRING, '"a b"'),
        (SYMBOL, "|+|"),
        (SYMBOL, "&&&"),
        (SYMBOL, "++"),
        (SYMBOL, ">"),
        (SYMBOL, ">"),
        (SYMBOL, "@"),
        (END, ""),
    ]


def test_tokenize__ranges_of_numbers() -> None:
    assert [text for _, text in kinds("1..5")] == ["1", "..", "5", ""]


def test_tokenize__unknown_character_is_reported_where_it_stands() -> None:
    diagnostics = Diagnostics({})
    tokenize(Source("a.p4", "ok\n  $ ok"), diagnostics)
    assert [str(entry.at) for entry in diagnostics.found] == ["a.p4:2:3"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("255", (255, None, False)),
        ("0xff", (255, None, False)),
        ("0b1111_0000", (240, None, False)),
        ("0o17", (15, None, False)),
        ("8w255", (255, 8, False)),
        ("16w0xBEEF", (0xBEEF, 16, False)),
        ("4s7", (7, 4, True)),
        ("9w 0b1", (1, 9, False)),
    ],
)
def test_number(text: str, value: tuple[int, int | None, bool]) -> None:
    assert number(text) == value


@given(st.integers(min_value=0, max_value=1 << 80), st.integers(min_value=1, max_value=200))
def test_number__reads_what_python_writes(value: int, width: int) -> None:
    assert number(str(value)) == (value, None, False)
    assert number(f"{width}w{value:#x}") == (value, width, False)
    assert number(f"{width}s{value:#b}") == (value, width, True)
