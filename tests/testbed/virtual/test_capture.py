"""Frames captured on links, read back by scapy and, where it is installed, tshark."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from scapy.contrib.roce import BTH
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapNgReader

from analysis.results import read_run
from experiments.main import main
from testbed import virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.scenario.files import CAPTURE
from traffic.frames import read

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = Scenario(
    scheme="ecmp",
    message_bytes=100_001,
    cca="nscc",
    ecn_bytes=8_000,
    buffer_bytes=40_000,
    trim=True,
)


def captured(file: Path) -> list[tuple[int, bytes]]:
    """Return stamps in nanoseconds and frames."""
    frames = []
    with RawPcapNgReader(str(file)) as reader:
        for frame, about in reader:
            high, low = (int(getattr(about, part)) for part in ("tshigh", "tslow"))
            stamp = (high << 32) + low
            frames.append((stamp, bytes(frame)))
    return frames


def test_capture__has_what_links_csv_counts(tmp_path: Path) -> None:
    virtual.run(plan_for(SCENARIO), tmp_path, capture=("e0_0>a0_1",))
    links = read_run(tmp_path).links
    link = links[(links["node"] == "e0_0") & (links["peer"] == "a0_1")].iloc[0]
    frames = [frame for _, frame in captured(tmp_path / CAPTURE)]
    kinds = Counter(found.kind for frame in frames if (found := read(frame)))
    assert kinds["data"] == link["data_packets"] > 0
    assert kinds["ack"] + kinds["nak"] == link["ack_packets"] > 0
    assert len(frames) == link["packets"]
    marked = [frame for frame in frames if (seen := read(frame)) and seen.kind != "ack"]
    assert sum(frame[15] & 3 == 3 for frame in marked if frame[15] >> 2 == 0) >= link["marks"] > 0


def test_capture__is_the_same_for_any_number_of_threads_and_changes_nothing(
    tmp_path: Path,
) -> None:
    plan = plan_for(SCENARIO)
    virtual.run(plan, tmp_path / "off")
    assert not (tmp_path / "off" / CAPTURE).exists()
    for name, threads in (("one", 1), ("three", 3)):
        virtual.run(plan, tmp_path / name, threads=threads, capture=("all",))
    one, three = ((tmp_path / name / CAPTURE).read_bytes() for name in ("one", "three"))
    assert one == three
    for name in ("flows.csv", "links.csv"):
        assert (tmp_path / "off" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


def test_capture__checksums_are_those_of_scapy(tmp_path: Path) -> None:
    virtual.run(plan_for(SCENARIO), tmp_path, capture=("all",))
    frames = {frame[:70]: frame for _, frame in captured(tmp_path / CAPTURE)}
    sample = list(frames.values())[::7]
    assert len({len(frame) for frame in sample}) >= 4  # data, the short last, ACKs, what is cut
    for frame in sample:
        again = Ether(frame)
        del again[IP].chksum, again[BTH].icrc
        assert bytes(again) == frame


def test_capture__stamps__are_departures_on_both_sides_of_a_switch(tmp_path: Path) -> None:
    scenario = Scenario(scheme="ecmp", workload="incast", workload_options={"senders": 1})
    plan = plan_for(scenario)
    virtual.run(plan, tmp_path, capture=("all",))
    sent = plan.flows.source[0]
    psns: dict[int, list[int]] = {}
    for time, frame in captured(tmp_path / CAPTURE):
        seen = read(frame)
        if seen is not None and seen.kind == "data":
            psns.setdefault(seen.psn, []).append(time)
    hop_ns = scenario.data_ns + scenario.delay_ns
    for times in psns.values():
        for before, after in pairwise(times):
            assert after - before == pytest.approx(hop_ns, abs=1)
    assert sent != plan.flows.destination[0]
    assert psns[0][0] == pytest.approx(psns[1][0] - scenario.data_ns - scenario.gap_ns, abs=1)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_capture__in_tshark__decodes_without_errors(tmp_path: Path) -> None:
    virtual.run(plan_for(SCENARIO), tmp_path, capture=("e0_0-a0_1", "h3"))
    fields = [
        "_ws.malformed",
        "ip.checksum.status",
        "infiniband.bth.opcode",
        "frame.interface_name",
    ]
    command = ["tshark", "-r", str(tmp_path / CAPTURE), "-o", "ip.check_checksum:TRUE"]
    shown = [option for field in fields for option in ("-e", field)]
    done = subprocess.run(
        [*command, "-T", "fields", *shown], capture_output=True, text=True, check=True, timeout=60
    )
    rows = [tuple(line.split("\t")) for line in done.stdout.splitlines()]
    assert {row[:2] for row in rows} == {("", "1")}
    assert {row[2] for row in rows} == {"7", "17"}
    assert {row[3] for row in rows} == {"e0_0>a0_1", "a0_1>e0_0", "h3>e0_1", "e0_1>h3"}


@pytest.mark.parametrize("link", ["e0_0-a1_0", "h99", "e0_0>", "nonsense"])
def test_pcap__no_such_link__is_one_line(
    link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["--on", "virtual", "--schemes", "ofan", "--pcap", link, "--out", str(out)]) == 2
    assert f"--pcap {link}: there is no such link" in capsys.readouterr().err
    assert not out.exists()
