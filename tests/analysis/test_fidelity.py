from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from analysis.fidelity import judge
from analysis.results import read_run
from tests.analysis.synthetic import change_manifest, change_table, write_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", world="mininet", delay=1.0)


@pytest.mark.parametrize("world", ["mininet", "virtual"])
def test_judge__good_run_is_valid(tmp_path: Path, world: str) -> None:
    verdict = judge(read_run(write_run(tmp_path / "run", world=world, delay=1.0)))
    assert (verdict.verdict, verdict.advice, verdict.reason) == ("VALID", "", "")


def test_judge__names_its_checks(folder: Path) -> None:
    names = [check.name for check in judge(read_run(folder)).checks]
    assert names == [
        "ended",
        "conservation",
        "CCT",
        "gaps within 10 % of a frame",
        "gaps within 25 % of a frame",
        "gaps within one frame",
        "longest stall",
        "pacing",
        "send lateness",
        "start skew",
        "noise",
        "processor of switches",
        "processor of hosts",
    ]


@pytest.mark.parametrize(
    ("column", "share", "grade"),
    [
        ("gaps_within_10pct", 0.91, "VALID"),
        ("gaps_within_10pct", 0.85, "DEGRADED"),
        ("gaps_within_10pct", 0.70, "INVALID"),
        ("gaps_within_25pct", 0.90, "DEGRADED"),
        ("gaps_within_25pct", 0.80, "INVALID"),
        ("gaps_within_frame", 0.98, "DEGRADED"),
        ("gaps_within_frame", 0.90, "INVALID"),
    ],
)
def test_judge__gaps(folder: Path, column: str, share: float, grade: str) -> None:
    change_table(folder / "links.csv", gaps=1000, **{column: int(1000 * share)})
    for other in {"gaps_within_10pct", "gaps_within_25pct", "gaps_within_frame"} - {column}:
        change_table(folder / "links.csv", **{other: 1000})
    verdict = judge(read_run(folder))
    assert verdict.verdict == grade
    factor = {"VALID": None, "DEGRADED": "40000", "INVALID": "80000"}[grade]
    assert (factor is None) == (verdict.advice == "")
    if factor:
        assert f"--dilation {factor}" in verdict.advice


@pytest.mark.parametrize(
    ("changes", "check", "grade"),
    [
        ({"ended": "stuck"}, "ended", "INVALID"),
        (
            {"conservation": {"sent": 5, "delivered": 4, "dropped": {}, "left": 0}},
            "conservation",
            "INVALID",
        ),
        (
            {"conservation": {"sent": 5, "delivered": 4, "dropped": {"queue": 1}, "left": 0}},
            "conservation",
            "DEGRADED",
        ),
        ({"noise_packets": 1}, "noise", "DEGRADED"),
        ({"noise_packets": 1000}, "noise", "INVALID"),
        ({"start_skew_ns": 200.0}, "start skew", "DEGRADED"),
        ({"processor_share": {"switches": 0.99}}, "processor of switches", "DEGRADED"),
        (
            {"pacing": {"h1": {"late_p99_ns": 1.0, "offered": 1.0, "achieved": 0.93}}},
            "pacing",
            "INVALID",
        ),
        (
            {"pacing": {"h1": {"late_p99_ns": 100.0, "offered": 1.0, "achieved": 1.0}}},
            "send lateness",
            "DEGRADED",
        ),
    ],
)
def test_judge__each_invariant(
    folder: Path, changes: dict[str, object], check: str, grade: str
) -> None:
    change_manifest(folder, **changes)
    verdict = judge(read_run(folder))
    assert verdict.verdict == grade
    assert verdict.reason.startswith(f"{check}:")
    assert verdict.advice


@pytest.mark.parametrize(
    ("late_ns", "grade"), [(50.0, "VALID"), (500.0, "DEGRADED"), (2678.0, "INVALID")]
)
def test_judge__a_stall_that_few_gaps_see(folder: Path, late_ns: float, grade: str) -> None:
    change_table(folder / "links.csv", late_max_ns=[late_ns, *[0.0] * 95])
    assert judge(read_run(folder)).verdict == grade


@pytest.mark.parametrize(
    ("changes", "place", "grade"),
    [
        ({"buffer_bytes": 800_000}, "queue", "VALID"),
        ({"shared_bytes": 800_000}, "queue", "VALID"),
        ({"loss": 0.01}, "loss", "VALID"),
        ({"link_events": ["20:e0_0-a0_1:down"]}, "down", "VALID"),
        ({"link_events": ["20:e0_0-a0_1:down"]}, "program", "VALID"),
        ({"loss": 0.01}, "queue", "DEGRADED"),
        ({"buffer_bytes": 800_000, "cca": "nscc"}, "socket", "DEGRADED"),
        ({"buffer_bytes": 800_000}, "down", "DEGRADED"),
    ],
)
def test_judge__drops_are_allowed_where_the_scenario_asks_for_them(
    tmp_path: Path, changes: dict[str, Any], place: str, grade: str
) -> None:
    folder = write_run(tmp_path / "run", **changes)
    counted = {"sent": 5, "delivered": 4, "dropped": {place: 1}, "left": 0}
    change_manifest(folder, conservation=counted)
    assert judge(read_run(folder)).verdict == grade


def test_judge__below_the_bound_is_invalid(folder: Path) -> None:
    change_table(folder / "flows.csv", finish_ns=16_000.0)
    verdict = judge(read_run(folder))
    assert verdict.verdict == "INVALID"
    assert "more time does not cure it" in verdict.advice


def test_judge__unfinished_flow_is_invalid(folder: Path) -> None:
    change_table(folder / "flows.csv", finish_ns=[None, *[18_000.0] * 15])
    assert "1 of 16 flows" in judge(read_run(folder)).reason
