"""Ring and double tree between real hosts: valid, and as quick as in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from experiments.main import main
from testbed.mininet import sandbox

if TYPE_CHECKING:
    from pathlib import Path

REASON = sandbox.why_not()
pytestmark = [pytest.mark.mininet, pytest.mark.skipif(REASON is not None, reason=str(REASON))]
SHARE_APART = 0.02


@pytest.mark.parametrize("workload", ["ring", "double-tree"])
def test_all_reduce__in_mininet__agrees_with_virtual_time(tmp_path: Path, workload: str) -> None:
    line = ["--schemes", "ofan", "--seeds", "1", "--message", "256KB", "--workload", workload]
    rows = {}
    for world in ("virtual", "mininet"):
        out = tmp_path / world
        assert main([*line, "--on", world, "--out", str(out)]) == 0
        (rows[world],) = pd.read_csv(out / "summary.csv").to_dict("records")
    assert rows["mininet"]["verdict"] == "VALID"
    apart = rows["mininet"]["cct_us"] / rows["virtual"]["cct_us"] - 1
    assert abs(apart) < SHARE_APART
