from __future__ import annotations

import numpy as np

from testbed.bmv2 import telemetry
from testbed.bmv2.telemetry import SLOT_US, SLOTS, Series, Timing
from testbed.scenario import Scenario

TIMING = Timing(epoch_us=1_000.0, start_us=5_000.0, dilation=100_000.0)


def registers(ports: int) -> dict[str, list[int]]:
    """Port 2 sent three data frames and two ACKs; one data frame waited for 8,356 us."""
    read = {name: [0] * (2 * (ports + 1)) for name in telemetry.COUNTS}
    read |= {name: [0] * (ports + 1) for name in telemetry.PER_PORT}
    read["packets"][4:6] = [3, 2]
    read["bytes"][4:6] = [3 * 4154, 2 * 62]
    read["waited"][4] = 8_356
    read["peak"][4] = 2
    read["marks"][4] = 1
    read["gaps"][2], read["gaps_10"][2], read["gaps_25"][2], read["gaps_100"][2] = 2, 1, 2, 2
    read["late"][2] = 500
    return read


def test_timing__turns_a_switch_clock_into_paper_time() -> None:
    assert TIMING.paper_ps(4_000.0) == 0
    assert TIMING.paper_ps(104_000.0) == 1_000_000
    assert TIMING.paper_ps(0.0) == 0


def test_port_records__charge_frames_as_ports_do() -> None:
    rows = telemetry.port_records(
        7, 4, registers(4), scenario=Scenario(), timing=TIMING,
        frame_us=[0.0, 1.0, 4_178.0, 1.0, 1.0], window_us=41_780.0,
    )  # fmt: skip
    assert len(rows) == 5
    row = rows[2]
    assert (row["node"], row["port"]) == (7, 2)
    assert (row["data_packets"], row["ack_packets"], row["packets"]) == (3, 2, 5)
    assert row["data_bytes"] == 3 * 4158
    assert row["bytes"] == 3 * 4158 + 2 * 64
    assert (row["max_queue_packets"], row["max_queue_bytes"]) == (2, 2 * 4158)
    assert np.isclose(row["mean_queue_packets"], (8_356 + 3 * 4_178) / 41_780)
    assert (row["gaps"], row["gaps_within_10pct"], row["gaps_within_frame"]) == (2, 1, 2)
    assert row["late_max_ps"] == 5_000
    assert row["marks"] == 1
    assert not rows[[0, 1, 3, 4]]["packets"].any()


def test_series__joins_readings_and_ends_each_burst() -> None:
    series = Series()
    ring = [0] * (3 * SLOTS)
    ring[SLOTS + 5] = 5 << 16 | 2
    series.add(3, {"slots": ring})
    ring[SLOTS + 5] = 5 << 16 | 4
    ring[SLOTS + 6] = 6 << 16 | 1
    series.add(3, {"slots": ring})
    samples = series.samples({3: TIMING}, frame_bytes=4158)
    assert samples["queue_packets"].tolist() == [4, 1, 0]
    assert samples["queue_bytes"].tolist() == [4 * 4158, 4158, 0]
    assert samples["port"].tolist() == [1, 1, 1]
    assert np.diff(samples["time_ps"]).tolist() == [SLOT_US * 10, SLOT_US * 10]


def test_defines__mark_from_whole_frames() -> None:
    assert dict(telemetry.defines(Scenario(ecn_bytes=80_000))) == {
        "TELEMETRY": "1",
        "MARK_FRAMES": "19",
    }
    assert dict(telemetry.defines(Scenario(ecn_bytes=0)))["MARK_FRAMES"] == "0"
