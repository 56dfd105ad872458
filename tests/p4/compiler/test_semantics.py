"""Programs whose frames show what calls, loops and expressions mean, run by the engine."""

from pathlib import Path

import pytest

from p4.__main__ import main

SCRIPTS = sorted((Path(__file__).parent / "semantics").glob("*.stf"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_frames(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["stf", str(script.with_suffix(".p4")), str(script)])
    assert code == 0, capsys.readouterr()
