from __future__ import annotations

import time
from typing import TYPE_CHECKING

from experiments import progress
from experiments.progress import RunProgress

if TYPE_CHECKING:
    import pytest


def test_progress__no_terminal_and_long_silence__says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "SILENCE_SECONDS", 0.02)
    with RunProgress(4) as shown:
        shown.begin("Ofan, seed 1")
        shown.finish()
        time.sleep(0.2)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert lines[0].startswith("1 of 4 runs done after 0 s, about ")
    assert lines[0].endswith(" s left; Ofan, seed 1")


def test_progress__short_runs__a_line_each_and_no_more(capsys: pytest.CaptureFixture[str]) -> None:
    with RunProgress(2) as shown:
        shown.finish("first: VALID")
        shown.finish("second: VALID")
    assert capsys.readouterr().out.splitlines() == ["first: VALID", "second: VALID"]
