from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from experiments import session
from experiments.main import main

if TYPE_CHECKING:
    from pathlib import Path

RUN = ["--on", "virtual", "--schemes", "ofan", "--seeds", "2", "--message", "16KB"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_main__ended_by_a_signal__shows_and_keeps_what_finished(
    number: int,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whoever began the tests in the background may have had Ctrl-C ignored.
    begun = signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.getsignal(signal.SIGTERM)
    whole = session.Session.run

    def run_one(self: session.Session, plan: object) -> bool:
        if "seed=2" in repr(plan):
            os.kill(os.getpid(), number)
        return whole(self, plan)  # type: ignore[arg-type]

    monkeypatch.setattr(session.Session, "run", run_one)
    try:
        assert main([*RUN, "--out", str(tmp_path)]) == code
    finally:
        signal.signal(signal.SIGINT, begun)
    said = capsys.readouterr().out
    assert "what was finished is kept" in said
    assert "1 VALID" in said
    assert (tmp_path / "report.html").exists()
    assert signal.getsignal(signal.SIGTERM) == before
