"""Frames in and out of simple_switch through files, without interfaces and without root.

simple_switch merges the capture files of its ports by their timestamps. The last port's file is a
pipe that stays silent until the control plane is done, so that no frame enters before.
"""

from __future__ import annotations

import os
import struct
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.bmv2.process import start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from testbed.bmv2.process import Process

GATE = 510  # a port number that nothing else has
FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
RECORD = struct.Struct("<IIII")
LONGEST = 262_144


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes that enter or leave a switch on a port."""

    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class FileSwitch:
    """A simple_switch that reads its ports from files; `gate` is the pipe that holds it back."""

    process: Process
    directory: Path
    ports: tuple[int, ...]
    gate: int

    def release(self) -> None:
        """Let the frames in."""
        os.close(self.gate)

    def outputs(self) -> dict[int, list[bytes]]:
        """Return what has left so far, by port."""
        return {port: read_capture(self._output(port)) for port in self.ports}

    def wait_for(self, frames: int, quiet_seconds: float = 0.3, limit_seconds: float = 30) -> None:
        """Return once at least `frames` have left, or the switch is dead or quiet for too long.

        A few frames more than `frames` are waited for, `quiet_seconds` long.
        """
        deadline = time.monotonic() + limit_seconds
        last, since = -1, time.monotonic()
        while time.monotonic() < deadline and self.process.popen.poll() is None:
            count = sum(self._output(port).stat().st_size for port in self.ports)
            if count != last:
                last, since = count, time.monotonic()
            patience = quiet_seconds if self._count() >= frames else 10 * quiet_seconds
            if time.monotonic() - since > patience:
                return
            time.sleep(0.02)

    def _count(self) -> int:
        return sum(len(found) for found in self.outputs().values())

    def _output(self, port: int) -> Path:
        return self.directory / f"port{port}_out.pcap"


def start_with_frames(
    name: str, program: Path, frames: Sequence[Frame], ports: Sequence[int], directory: Path
) -> FileSwitch:
    """Start a switch that will receive `frames` in their order once it is released.

    `ports` are all its ports; frames that leave elsewhere vanish.
    """
    by_port: dict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for moment, frame in enumerate(frames):
        by_port[frame.port].append((moment, frame.data))
    for port in ports:
        write_capture(directory / f"port{port}_in.pcap", by_port[port])
    pipe = directory / f"port{GATE}_in.pcap"
    os.mkfifo(pipe)
    interfaces: Mapping[int, str] = {port: f"port{port}" for port in (*ports, GATE)}
    process = start(name, program, interfaces, directory, from_files=True)
    gate = _open_when_read(pipe, process)
    os.write(gate, FILE_HEADER)
    return FileSwitch(process, directory, tuple(ports), gate)


def write_capture(path: Path, frames: Sequence[tuple[int, bytes]]) -> None:
    """Write (microsecond, frame) pairs as a capture file."""
    with path.open("wb") as out:
        out.write(FILE_HEADER)
        for moment, data in frames:
            out.write(RECORD.pack(moment // 1_000_000, moment % 1_000_000, len(data), len(data)))
            out.write(data)


def read_capture(path: Path) -> list[bytes]:
    """Read the whole frames of a capture file that may still be growing."""
    raw = path.read_bytes()
    frames, at = [], len(FILE_HEADER)
    while at + RECORD.size <= len(raw):
        length = RECORD.unpack_from(raw, at)[2]
        at += RECORD.size + length
        if at > len(raw):
            break
        frames.append(raw[at - length : at])
    return frames


def _open_when_read(pipe: Path, process: Process) -> int:
    while True:
        process.require_alive()
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads it yet
            time.sleep(0.01)
