"""A running simple_switch: its process, its ports, its log, and how it ended."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.bmv2.errors import Bmv2Error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Command = Callable[["Launch"], list[str]]

EXECUTABLE = "simple_switch"
LOG_LINES_SHOWN = 8
STOP_SECONDS = 3.0
NOTIFY_NOBODY = ("--notifications-addr", "inproc://nobody")  # else it leaves a socket in /tmp
THRIFT_PORTS = range(12_000, 32_000)
_RANDOM = random.Random()
_device_ids = itertools.count(os.getpid() * 1000 % (1 << 31))


@dataclass(frozen=True, slots=True)
class Launch:
    """What a switch is started with: its JSON, its ports, the queues of each port, its numbers."""

    program: Path
    interfaces: Mapping[int, str]
    from_files: bool
    priorities: int
    device: int
    thrift_port: int


@dataclass(frozen=True, slots=True)
class Process:
    """One simple_switch under its node's name; `port` is where its Thrift server listens."""

    name: str
    device: int
    port: int
    log: Path
    popen: subprocess.Popen[bytes]

    def require_alive(self) -> None:
        """Raise Bmv2Error with the last lines of the log if the switch has died."""
        code = self.popen.poll()
        if code is not None:
            died = f"{self.name}: simple_switch died ({_cause(code)})"
            raise Bmv2Error(f"{died}; {self.last_words()}")

    def last_words(self) -> str:
        """Return the end of the log, in one line."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()][-LOG_LINES_SHOWN:]
        return "its log ends: " + " | ".join(said) if said else "its log is empty"

    def stop(self) -> None:
        """End the switch; after STOP_SECONDS by force. Ending an ended one does nothing."""
        self.popen.terminate()
        try:
            self.popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()


def executable() -> Path:
    """Return the path of simple_switch; raises Bmv2Error if it is not on the path."""
    found = shutil.which(EXECUTABLE)
    if found is None:
        raise Bmv2Error(f"{EXECUTABLE} is not on the path; install p4lang-bmv2, or build it")
    return Path(found)


def version() -> str:
    """Return the version that simple_switch names, such as "1.15.5"."""
    shown = subprocess.run([executable(), "--version"], capture_output=True, text=True, check=True)
    return shown.stdout.strip()


def start(
    name: str,
    program: Path,
    interfaces: Mapping[int, str],
    directory: Path,
    *,
    from_files: bool = False,
    priorities: int = 1,
    command: Command | None = None,
) -> Process:
    """Start a switch called `name` with the JSON `program` and its ports on `interfaces`.

    With `from_files`, an interface X stands for the files X_in.pcap and X_out.pcap in `directory`.
    Each port has `priorities` queues. The log is `directory`/`name`.log. `command` makes the
    command line, `command_line` if there is none.
    """
    log = directory / f"{name}.log"
    launch = Launch(
        program.resolve(), interfaces, from_files, priorities, next(_device_ids), _free_port()
    )
    switch, *options = (command or command_line)(launch)
    with log.open("wb") as sink:
        popen = subprocess.Popen(
            [switch, *NOTIFY_NOBODY, *options],
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            cwd=directory,
            start_new_session=True,
        )
    return Process(name, launch.device, launch.thrift_port, log, popen)


def command_line(launch: Launch) -> list[str]:
    """Return the words that start a switch without captures and without a log on its console."""
    words = [str(executable()), "--thrift-port", str(launch.thrift_port)]
    words += ["--device-id", str(launch.device)]
    words += ["--use-files", "0"] if launch.from_files else []
    for number, interface in launch.interfaces.items():
        words += ["--interface", f"{number}@{interface}"]
    return [*words, str(launch.program), "--", "--priority-queues", str(launch.priorities)]


def wait_for_thrift(process: Process, timeout_seconds: float = 20.0) -> None:
    """Return when the switch's Thrift server accepts; raises Bmv2Error if it died or hangs."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        process.require_alive()
        try:
            socket.create_connection(("127.0.0.1", process.port), timeout=1).close()
        except OSError:
            if time.monotonic() > deadline:
                raise Bmv2Error(
                    f"{process.name}: no Thrift server on port {process.port} after "
                    f"{timeout_seconds:g} s; {process.last_words()}"
                ) from None
            time.sleep(0.01)
        else:
            return


def processor_ns(process: Process) -> int:
    """Return the processor time that a switch has used so far; 0 if it has ended."""
    try:
        stat = Path(f"/proc/{process.popen.pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def _free_port() -> int:
    """Choose a port below those that the kernel gives to outgoing connections."""
    for port in _RANDOM.sample(THRIFT_PORTS, len(THRIFT_PORTS)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("0.0.0.0", port))  # noqa: S104 - as simple_switch binds it
            return port
    raise Bmv2Error("no free port for a Thrift server")


def _cause(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
