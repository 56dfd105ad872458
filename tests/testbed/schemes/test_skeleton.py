"""The skeleton of a scheme: it runs as it is, and never writes over anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from errors import UserError
from testbed import schemes
from testbed.__main__ import main
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.schemes import trial
from testbed.virtual import run

if TYPE_CHECKING:
    from pathlib import Path


def test_new_scheme__runs_as_simple_rr_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-scheme", "turn"]) == 0
    assert "--scheme-file turn.p4" in capsys.readouterr().out
    own = Scenario(scheme="turn", scheme_file=str(tmp_path / "turn.p4"), failures=0.05)
    trial.check(plan_for(own))
    run(plan_for(own), tmp_path / "own", sample_ps=0)
    run(plan_for(Scenario(scheme="simple_rr", failures=0.05)), tmp_path / "ours", sample_ps=0)
    flows = [(tmp_path / name / "flows.csv").read_bytes() for name in ("own", "ours")]
    assert flows[0] == flows[1]
    assert "turn" in schemes.own(tmp_path / "turn.p4").label


@pytest.mark.parametrize(
    ("name", "message"),
    [("ofan", "ofan is a scheme already"), ("2nd", "'2nd' is no name"), ("x", "x.p4 is there")],
)
def test_new_scheme__wrong_names__write_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, message: str
) -> None:
    (tmp_path / "x.p4").write_text("mine\n")
    assert main(["new-scheme", str(tmp_path / name)]) == 2
    assert message in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x.p4", "mine\n")]


def test_trial__names_the_line_of_what_the_program_does_not_have(tmp_path: Path) -> None:
    main(["new-scheme", str(tmp_path / "turn")])
    toml = tmp_path / "turn.toml"
    toml.write_text("[registers]\n'balance.pointer' = '0'\n\n'balance.memory' = '0'\n")
    plan = plan_for(Scenario(scheme="turn", scheme_file=str(tmp_path / "turn.p4")))
    with pytest.raises(UserError, match=r"turn\.toml:4: .*memory"):
        trial.check(plan)
