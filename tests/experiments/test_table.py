from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from experiments.table import print_table

if TYPE_CHECKING:
    import pytest


def row(verdict: str, utilisation: float) -> dict[str, object]:
    return {
        "variant": "ofan",
        "cca": "none",
        "cct_us": 17.0,
        "cct_increase": 0.01,
        "max_queue_bytes": 21000,
        "mean_queue_bytes": 3400.0,
        "utilisation": utilisation,
        "verdict": verdict,
    }


def test_print_table__many_verdicts_in_a_narrow_terminal__one_line_a_scheme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = [row("VALID", 0.9), row("VALID", 0.9), row("DEGRADED", 0.9)]
    print_table(pd.DataFrame(rows), {"ofan": "Ofan"})
    _, line = capsys.readouterr().out.splitlines()
    assert line.rstrip().endswith("90.0%  2 VALID, 1 DEGRADED")


def test_print_table__too_little_sent_for_a_utilisation__a_dash(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(pd.DataFrame([row("VALID", math.nan)]), {"ofan": "Ofan"})
    assert "nan" not in capsys.readouterr().out


def test_print_table__a_rounding_below_the_bound__is_no_minus_zero(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(pd.DataFrame([row("VALID", 1.0) | {"cct_increase": -1e-5}]), {"ofan": "Ofan"})
    said = capsys.readouterr().out
    assert " 0.0%" in said
    assert "-0.0%" not in said


def test_print_table__unfinished_run__has_no_part_in_the_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row("VALID", 0.9), row("unfinished", 0.1) | {"cct_us": math.nan}]
    print_table(pd.DataFrame(rows), {"ofan": "Ofan"})
    line = capsys.readouterr().out.splitlines()[-1].rstrip()
    assert " 17.00 " in line
    assert line.endswith("90.0%  1 VALID, 1 unfinished")


def test_print_table__several_congestion_controls__a_line_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [row("VALID", 0.9), row("VALID", 0.5) | {"cca": "nscc", "cct_us": 21.0}]
    print_table(pd.DataFrame(rows), {"ofan": "Ofan"})
    _, without, under = capsys.readouterr().out.splitlines()
    assert without.startswith("Ofan, no CCA ")
    assert " 17.00 " in without
    assert under.startswith("Ofan, NSCC ")
    assert " 21.00 " in under
