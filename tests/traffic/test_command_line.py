from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from traffic.__main__ import main
from traffic.frames import Ends, read
from traffic.send import entropies, pace, prebuilt

ENDS = Ends("10.0.0.1", "10.0.1.1")
IN_NAMESPACE = ["unshare", "--net", "--map-root-user", "sh", "-c"]


@dataclass
class Clock:
    """A clock that passes only where someone waits, or takes time to send."""

    now: int = 1_000

    def monotonic_ns(self) -> int:
        return self.now

    def wait_until(self, deadline: int) -> None:
        self.now = max(self.now, deadline)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("traffic.send.time", made)
    monkeypatch.setattr("traffic.send._wait_until", made.wait_until)
    return made


def test_pace__keeps_the_rate(clock: Clock) -> None:
    sent: list[int] = []
    result = pace([b"frame"] * 50, 500.0, lambda _: sent.append(clock.now))
    assert [time - sent[0] for time in sent] == [2_000_000 * number for number in range(50)]
    assert result.elapsed_ns == 100_000_000


def test_pace__a_late_frame_does_not_move_those_after_it(clock: Clock) -> None:
    sent: list[int] = []

    def transmit(_frame: bytes) -> None:
        sent.append(clock.now)
        clock.now += 5_000_000 if len(sent) == 1 else 0

    pace([b""] * 5, 500.0, transmit)
    assert [time - sent[0] for time in sent] == [0, 5_000_000, 5_000_000, 6_000_000, 8_000_000]


def test_pace__no_rate__does_not_wait(clock: Clock) -> None:
    pace([b""] * 1000, 0, lambda _: None)
    assert clock.now == Clock().now


def test_prebuilt__numbers_frames_and_sprays() -> None:
    frames = [
        read(frame)
        for frame in prebuilt(ENDS, flow=3, entropies=[50_000, 50_001], payload_bytes=1, count=4)
    ]
    assert [(frame.psn, frame.entropy) for frame in frames if frame] == [
        (0, 50_000),
        (1, 50_001),
        (2, 50_000),
        (3, 50_001),
    ]


def test_entropies__stay_within_the_dynamic_ports() -> None:
    assert list(entropies(65_534, 4)) == [65_534, 65_535, 49_152, 49_153]


def test_main__workloads__lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workloads"]) == 0
    assert "permutation" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["send", "--to", "h7", "--from", "10.0.0.1", "--interface", "lo"], "'h7' is not an IPv4"),
        (["send", "--to", "10.0.0.1", "--interface", "nowhere0"], "nowhere0"),
    ],
)
def test_main__bad_input__is_one_line(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_send_and_sniff__across_a_veth_pair() -> None:
    script = f"""
        ip link add one type veth peer name two && ip link set one up && ip link set two up
        {sys.executable} -m traffic sniff --interface two --count 20 --seconds 20 --answer &
        sleep 2
        {sys.executable} -m traffic send --interface one --from 10.0.0.1 --to 10.0.1.1 \
            --count 20 --rate 200 --payload 512
        wait
    """
    done = subprocess.run(
        [*IN_NAMESPACE, script], capture_output=True, text=True, timeout=60, check=False
    )
    if "unshare" in done.stderr:
        pytest.skip("network namespaces cannot be made here")
    lines = [line for line in done.stdout.splitlines() if " data " in line]
    assert len(lines) == 20, done.stdout + done.stderr
    assert "20 frames in" in done.stdout
