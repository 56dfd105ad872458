from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from analysis import metrics
from analysis.results import read_run
from tests.analysis.synthetic import change_table, write_run

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.results import Run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return read_run(write_run(tmp_path / "run", delay=2.0))


def test_cct__is_the_last_acknowledgement(run: Run) -> None:
    assert metrics.cct_us(run) == pytest.approx(run.flows["finish_ns"].max() / 1000)
    assert metrics.cct_bound_us(run) == pytest.approx(17.05694)
    assert metrics.cct_increase(run) == pytest.approx(2.0 / 17.05694, abs=0.004)


def test_cct__without_acks_is_the_last_delivery(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run", acks=False))
    assert metrics.cct_us(run) == pytest.approx(run.flows["delivered_ns"].max() / 1000)


def test_cct__unfinished_flow_is_nan(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    change_table(folder / "flows.csv", finish_ns=[None, *[9000.0] * 15])
    assert np.isnan(metrics.cct_us(read_run(folder)))


def test_queues__leave_the_hosts_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", delay=2.0)
    run = read_run(folder)
    host = run.links["stage"] == "H-E"
    change_table(
        folder / "links.csv",
        max_queue_bytes=run.links["max_queue_bytes"].where(~host, 10**9),
        mean_queue_bytes=run.links["mean_queue_bytes"].where(~host, 1e9),
    )
    changed = read_run(folder)
    assert metrics.max_queue_bytes(changed) == metrics.max_queue_bytes(run) < 10**9
    assert metrics.mean_queue_bytes(changed) == metrics.mean_queue_bytes(run)


def test_queue_by_stage__follows_the_packets_way(run: Run) -> None:
    table = metrics.queue_by_stage(run)
    assert list(table.index) == ["E-A", "A-C", "C-A", "A-E", "E-H"]
    assert table["max_queue_bytes"].max() == metrics.max_queue_bytes(run)


def test_overload_by_stage__is_worst_over_mean(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    run = read_run(folder)
    data = np.where(run.links["stage"] == "A-E", 1000, 500)
    worst = int(np.flatnonzero(run.links["stage"] == "A-E")[3])
    data[worst] += 160  # 16 links of the stage: mean 1010
    change_table(folder / "links.csv", data_bytes=data)
    overload = metrics.overload_by_stage(read_run(folder))
    assert overload.to_dict() == pytest.approx(
        {"E-A": 0, "A-C": 0, "C-A": 0, "A-E": 1160 / 1010 - 1}
    )


def test_utilisation__without_queueing_is_near_one(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run"))
    # Only the ACKs between data, and a gap, keep the link from the data.
    assert metrics.utilisation(run) == pytest.approx(256 * 41.78 / (256 * 41.78 + 178 * 0.84), 1e-4)


def test_utilisation__falls_when_flows_are_late(run: Run, tmp_path: Path) -> None:
    early = read_run(write_run(tmp_path / "early"))
    assert metrics.utilisation(run) < metrics.utilisation(early)


def test_utilisation_over_time__adds_up_to_all_data(run: Run) -> None:
    table = metrics.utilisation_over_time(run, bins=200)
    width_ns = 1000 * (table["time_us"].iloc[1] - table["time_us"].iloc[0])
    assert table["utilisation"].sum() * width_ns == pytest.approx(256 * 41.78, rel=0.01)
    assert table["utilisation"].max() <= 1.0


def test_flow_completion__counts_from_the_flows_own_start(run: Run) -> None:
    assert (metrics.flow_completion_us(run) * 1000).to_numpy() == pytest.approx(
        (run.flows["finish_ns"] - run.flows["start_ns"]).to_numpy()
    )
