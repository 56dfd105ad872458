"""The paper's exact bounds on edge uplink queues, end to end in virtual time (App. C to H)."""

import csv
from pathlib import Path

import pytest

from testbed import virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario

FRAME_BYTES = 4158


def largest_queue(scenario: Scenario, out: Path, stage: str, column: str) -> int:
    virtual.run(plan_for(scenario), out, threads=1, sample_ps=0)
    with (out / "links.csv").open(encoding="utf-8") as rows:
        return max(int(row[column]) for row in csv.DictReader(rows) if row["stage"] == stage)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("scheme", "bound"),
    [("simple_rr", 1), ("jsq", 1), ("drb", 5), ("pofan", 5), ("ofan", 5)],
)
def test_edge_uplinks_stay_within_their_bound(
    scheme: str, bound: int, seed: int, tmp_path: Path
) -> None:
    scenario = Scenario(scheme=scheme, k=8, seed=seed, workload="interpod", acks=False)
    assert largest_queue(scenario, tmp_path / "run", "E-A", "max_queue_packets") <= bound


def test_ethereals_bound_is_the_number_of_paths(tmp_path: Path) -> None:
    scenario = Scenario(scheme="ethereal", k=8, workload="interpod", acks=False)
    largest = largest_queue(scenario, tmp_path / "run", "E-A", "max_queue_bytes")
    assert FRAME_BYTES < largest <= 17 * FRAME_BYTES


@pytest.mark.parametrize("scheme", ["simple_rr", "jsq"])
def test_sticky_flows_pile_up_on_the_way_down(scheme: str, tmp_path: Path) -> None:
    queues = [
        largest_queue(
            Scenario(scheme=scheme, k=8, workload="interpod", acks=False, message_bytes=size << 19),
            tmp_path / str(size),
            "A-E",
            "max_queue_packets",
        )
        for size in (1, 2, 4)
    ]
    assert queues[0] > 64
    assert queues[1] / queues[0] == pytest.approx(2, rel=0.25)
    assert queues[2] / queues[1] == pytest.approx(2, rel=0.25)


def test_ofans_queues_do_not_grow_with_the_message(tmp_path: Path) -> None:
    queues = [
        largest_queue(
            Scenario(k=8, workload="interpod", acks=False, message_bytes=size << 19),
            tmp_path / str(size),
            "A-E",
            "max_queue_packets",
        )
        for size in (1, 8)
    ]
    assert max(queues) <= 12
