"""Traces for Perfetto: events as Chrome's trace format has them, with the run's own numbers."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from analysis.__main__ import main
from analysis.results import read_run
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.virtual import run

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = {
    "M": {"name", "pid", "args"},
    "X": {"name", "pid", "tid", "ts", "dur"},
    "C": {"name", "pid", "ts", "args"},
    "b": {"name", "cat", "id", "pid", "tid", "ts"},
    "e": {"name", "cat", "id", "pid", "tid", "ts"},
}


def test_trace__has_the_runs_flows_and_queues(tmp_path: Path) -> None:
    run(plan_for(Scenario(scheme="ecmp", message_bytes=1 << 18)), tmp_path)
    assert main(["trace", str(tmp_path)]) == 0
    content = json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))
    events = content["traceEvents"]
    assert all(NEEDED[event["ph"]] <= event.keys() for event in events)
    found = read_run(tmp_path)
    ends = {event["id"]: event["ts"] for event in events if event["ph"] == "e"}
    assert ends == pytest.approx((found.flows["finish_ns"] / 1000).to_dict())
    begins = {event["id"]: event["ts"] for event in events if event["ph"] == "b"}
    assert begins == pytest.approx((found.flows["start_ns"] / 1000).to_dict())
    longest: Counter[str] = Counter()
    for event in events:
        if event["ph"] == "C":
            longest[event["name"]] = max(longest[event["name"]], event["args"]["bytes"])
    for _, link in found.links[found.links["packets"] > 0].iterrows():
        assert longest[f"queue {link['node']}→{link['peer']}"] == link["max_queue_bytes"]
    (phase,) = (event for event in events if event["ph"] == "X")
    assert phase["dur"] == pytest.approx(found.flows["finish_ns"].max() / 1000)


def test_trace__of_no_run__is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", str(tmp_path / "absent")]) == 2
    assert "no such folder" in capsys.readouterr().err
