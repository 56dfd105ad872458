from contextlib import nullcontext

import pytest

from p4.compiler.diagnostics import (
    ERROR_LIMIT,
    CompileError,
    Diagnostic,
    Diagnostics,
    Position,
)


def test_diagnostic__shows_line_caret_and_hint() -> None:
    at = Position("a.p4", 2, 5, 3)
    text = str(Diagnostic("error", at, "wrong", "do right", "let foo = 1"))
    assert text.splitlines() == [
        "a.p4:2:5: error: wrong",
        "    let foo = 1",
        "        ^^^",
        "    hint: do right",
    ]


def test_diagnostic__keeps_tabs_before_the_caret() -> None:
    text = str(Diagnostic("error", Position("a.p4", 1, 3), "wrong", "", "\t\tfoo"))
    assert text.splitlines()[2] == "    \t\t^"


def test_diagnostic__does_not_show_endless_lines() -> None:
    assert (
        str(Diagnostic("error", Position("a.p4", 1, 3), "wrong", "", "x" * 5000)).count("\n") == 0
    )


def test_diagnostics__says_the_same_once_and_stops_at_the_limit() -> None:
    diagnostics = Diagnostics({"a.p4": ["line"]})
    diagnostics.error(Position("a.p4", 1, 1), "same")
    diagnostics.error(Position("a.p4", 1, 1), "same")
    assert len(diagnostics.found) == 1
    for column in range(2, ERROR_LIMIT + 1):
        with pytest.raises(CompileError) if column == ERROR_LIMIT else nullcontext() as caught:
            diagnostics.error(Position("a.p4", 1, column), "other")
    assert caught is not None
    assert len(caught.value.diagnostics) == ERROR_LIMIT


def test_check__lets_warnings_pass() -> None:
    diagnostics = Diagnostics({})
    diagnostics.warning(Position("a.p4", 1, 1), "careful")
    diagnostics.check()
    diagnostics.error(Position("a.p4", 1, 1), "wrong")
    with pytest.raises(CompileError, match=r"(?s)careful.*wrong"):
        diagnostics.check()
