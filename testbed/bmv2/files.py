"""Frames in and out of simple_switch through files, without interfaces and without root.

simple_switch merges the capture files of its ports by their timestamps. Here they are pipes: it
takes the frame with the least timestamp once the next one of every port is known, so whoever fills
the pipes decides when a frame enters, and the order is the same in every run.
"""

from __future__ import annotations

import os
import struct
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.bmv2.process import start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from testbed.bmv2.process import Process

FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
RECORD = struct.Struct("<IIII")
SETTLE_SECONDS = 0.002  # in which a frame that seems to be done really is
PATIENCE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes that enter or leave a switch on a port."""

    port: int
    data: bytes

    @property
    def recorded_bytes(self) -> int:
        """Return the size of all frames that have left so far, as Frame.recorded_bytes counts."""
        """Size of the frame in a capture file."""
        return RECORD.size + len(self.data)


@dataclass(frozen=True, slots=True)
class FileSwitch:
    """A simple_switch that reads each of its ports from a pipe and writes it to a file."""

    process: Process
    directory: Path
    ports: tuple[int, ...]
    pipes: dict[int, int]  # the file descriptors of ports that are not at their end

    def feed(self, frames: Sequence[Frame], done: Callable[[int], bool] | None = None) -> None:
        """Let frames in, in their order; to be called once, since the pipes are closed then.

        With `done`, frame i + 1 enters only when done(i) says so, or has not for long.
        """
        if not frames:
            return
        waiting: dict[int, deque[bytes]] = {port: deque() for port in self.ports}
        for moment, frame in enumerate(frames):
            waiting[frame.port].append(_record(moment, frame.data))
        first = frames[0].port
        for port in self.ports:
            if port != first:
                self._write_next(port, waiting[port])
        self._write_next(first, waiting[first])
        for number, frame in enumerate(frames):
            if done is not None:
                _wait_until(done, number)
            self._write_next(frame.port, waiting[frame.port])

    def outputs(self) -> dict[int, list[bytes]]:
        """Return what has left so far, by port."""
        return {port: read_capture(self._output(port)) for port in self.ports}

    def wait_for(self, left_bytes: int, quiet_seconds: float = 0.2) -> None:
        """Return once `left_bytes` are recorded and nothing more comes for `quiet_seconds`.

        Gives up after ten times that without any new frame, or when the switch has died.
        """
        recorded, since = -1, time.monotonic()
        while self.process.popen.poll() is None:
            if (now := self.recorded_bytes()) != recorded:
                recorded, since = now, time.monotonic()
            patience = quiet_seconds * (1 if recorded >= left_bytes else 10)
            if time.monotonic() - since > patience:
                return
            time.sleep(0.01)

    def stop(self) -> None:
        """End the switch and close what is still open."""
        self.process.stop()
        for pipe in self.pipes.values():
            os.close(pipe)
        self.pipes.clear()

    def _write_next(self, port: int, waiting: deque[bytes]) -> None:
        """Give a port its next frame, or the end of its file."""
        if waiting:
            _write_all(self.pipes[port], waiting.popleft())
        elif port in self.pipes:
            os.close(self.pipes.pop(port))

    def recorded_bytes(self) -> int:
        """Return the size of all frames that have left so far, as Frame.recorded_bytes counts."""
        sizes = (self._output(port).stat().st_size for port in self.ports)
        return sum(size - len(FILE_HEADER) for size in sizes if size)

    def _output(self, port: int) -> Path:
        return self.directory / f"port{port}_out.pcap"


def start_on_pipes(name: str, program: Path, ports: Sequence[int], directory: Path) -> FileSwitch:
    """Start a switch with these ports; frames that leave through others vanish."""
    pipes = {port: _open_pipe(directory / f"port{port}_in.pcap") for port in ports}
    interfaces = {port: f"port{port}" for port in ports}
    process = start(name, program, interfaces, directory, from_files=True)
    return FileSwitch(process, directory, tuple(ports), pipes)


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


def _wait_until(done: Callable[[int], bool], number: int) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done(number) and time.monotonic() < deadline:
        time.sleep(SETTLE_SECONDS / 4)
    time.sleep(SETTLE_SECONDS)


def _open_pipe(path: Path) -> int:
    """Make a pipe that holds a capture file's header and has no end yet."""
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    os.write(pipe, FILE_HEADER)
    return pipe


def _record(moment: int, data: bytes) -> bytes:
    return RECORD.pack(moment // 1_000_000, moment % 1_000_000, len(data), len(data)) + data


def _write_all(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
