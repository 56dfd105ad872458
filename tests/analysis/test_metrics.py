from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
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
    change_table(folder / "links.csv", data_packets=data)
    overload = metrics.overload_by_stage(read_run(folder))
    assert overload.to_dict() == pytest.approx(
        {"E-A": 0, "A-C": 0, "C-A": 0, "A-E": 1160 / 1010 - 1}
    )


def one_message(folder: Path, **columns: float) -> Run:
    """A run of one message alone: of these columns of flows.csv, at k = 4."""
    write_run(folder)
    flow = {"flow": 0, "src": 0, "dst": 15, "subflows": 1, "start_ns": 0.0}
    alone = {"not_before_ns": 0.0, "after": "", "delay_ns": 0.0, "phase": ""}
    losses = dict.fromkeys(("lost", "retransmitted", "duplicates", "timeouts", "marks"), 0)
    pd.DataFrame([flow | columns | alone | losses]).to_csv(folder / "flows.csv", index=False)
    return read_run(folder)


def test_utilisation__of_one_packet_is_all_of_the_link(tmp_path: Path) -> None:
    there = 6 * (500 + 41.58)
    run = one_message(
        tmp_path / "run", bytes=4096, packets=1, delivered_ns=there, finish_ns=there + 3003.84
    )
    assert metrics.utilisation(run) == pytest.approx(1)


def test_utilisation__message_below_a_packet__is_what_the_link_carried(tmp_path: Path) -> None:
    """100 B and 62 B of headers take 1.62 ns a link; it comes 1.62 ns late."""
    there = 6 * (500 + 1.62) + 1.62
    run = one_message(
        tmp_path / "run", bytes=100, packets=1, delivered_ns=there, finish_ns=there + 3003.84
    )
    assert metrics.utilisation(run) == pytest.approx(0.5)


def test_utilisation__subflows__of_smaller_packets_is_at_most_all(tmp_path: Path) -> None:
    """Four pieces of 1024 B: frames of 10.86 ns, one each 11.06 ns."""
    there = 3 * 11.06 + 6 * (500 + 10.86)
    run = one_message(
        tmp_path / "run",
        bytes=4096,
        subflows=4,
        packets=4,
        delivered_ns=there,
        finish_ns=there + 3003.84,
    )
    assert metrics.utilisation(run) == pytest.approx(1)


def test_utilisation__short_packet_that_overtakes__came_first(tmp_path: Path) -> None:
    """4097 B: the second frame, of 63 B, leaves 41.78 ns later and needs 41.58 - 0.63 less a link.

    Its first bit is at the receiver at 41.78 + 3000 + 5 x 0.63, the other's last at 3249.48.
    """
    run = one_message(
        tmp_path / "run", bytes=4097, packets=2, delivered_ns=3249.48, finish_ns=6253.32
    )
    window = 3249.48 - (41.78 + 3000 + 5 * 0.63)
    assert metrics.utilisation(run) == pytest.approx((41.58 + 0.2 + 0.63) / window)


def test_utilisation__without_queueing_is_near_one(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path / "run"))
    # Only the ACKs between data keep the link from the data.
    assert metrics.utilisation(run) == pytest.approx(
        (256 * 41.78 - 0.2) / (256 * 41.78 - 0.2 + 178 * 0.84), 1e-4
    )


def test_utilisation__falls_when_flows_are_late(run: Run, tmp_path: Path) -> None:
    early = read_run(write_run(tmp_path / "early"))
    assert metrics.utilisation(run) < metrics.utilisation(early)


def test_utilisation__messages_that_never_came__are_left_out(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    change_table(folder / "flows.csv", delivered_ns=None)
    assert metrics.utilisation(read_run(folder)) == 0


def test_peak_utilisation__counts_frames_of_both_kinds_without_gaps(tmp_path: Path) -> None:
    """16 hosts at 100 B/ns receive at most 1,600,000 B in a microsecond.

    With a data frame and an ACK in turn, (4158 + 64) of 4262 B on the wire are frames: 99.06 %.
    """
    folder = write_run(tmp_path / "run")
    turns = 1_600_000 / 4262
    arrivals = {"time_ns": [0, 1000, 2000], "data_bytes": [0, turns * 4158, 9]}
    table = pd.DataFrame(arrivals | {"ack_bytes": [5, turns * 64, 9]}).round().astype(int)
    table.to_csv(folder / "arrivals.csv", index=False)
    assert metrics.peak_utilisation(read_run(folder)) == pytest.approx(0.9906, abs=5e-5)


def test_flow_completion__counts_from_the_flows_own_start(run: Run) -> None:
    assert (metrics.flow_completion_us(run) * 1000).to_numpy() == pytest.approx(
        (run.flows["finish_ns"] - run.flows["start_ns"]).to_numpy()
    )
