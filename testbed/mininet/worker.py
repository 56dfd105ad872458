"""One of the emulation's real-time processes, seen from both sides of its control channel.

The parent asks by name, the worker answers; a worker also reports by itself that a run has ended.
Messages are pickled Python objects on a Unix socket pair, so no name is taken that could clash.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import gc
import os
import socket
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ROOT = Path(__file__).parents[2]
ANSWER_SECONDS = 60.0
STOP_SECONDS = 5.0
REAL_TIME_PRIORITY = 10
_SET_TIMER_SLACK = 29


class WorkerError(UserError):
    """A worker died, failed or did not answer; the message names it and says what it met."""


class Role(Protocol):
    """What a worker does: commands by name, and the real-time run that they interrupt."""

    @property
    def commands(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that the parent may call; their arguments and results are pickled."""

    @property
    def running(self) -> bool:
        """Whether a run has been started that has not ended."""

    def advance(self, control: int) -> str | None:
        """Go on with the run until descriptor `control` is readable (None) or it ended (how)."""


class Worker:
    """A worker process as its parent sees it."""

    def __init__(self, module: str, core: int) -> None:
        """Start `python -m module` pinned to a processor core."""
        here, there = socket.socketpair()
        self.name = module.rpartition(".")[2]
        self._events: collections.deque[str] = collections.deque()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(there.fileno()), str(core)],
                pass_fds=[there.fileno()],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._connection = Connection(here.detach())

    @property
    def pid(self) -> int:
        """The worker's process id."""
        return self._process.pid

    def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Call one of the worker's commands; raises WorkerError with the worker's own message."""
        self._send((command, arguments, options))
        deadline = time.monotonic() + ANSWER_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            message = self._receive(left)
            if message is None:
                break
            kind, value = message
            if kind == "answer":
                return value
            if kind == "error":
                raise WorkerError(f"{self.name}: {value}")
            self._events.append(value)
        raise WorkerError(f"{self.name}: no answer to {command} in {ANSWER_SECONDS:g} s")

    def wait_for_end(self, seconds: float) -> str | None:
        """Return how the worker's run ended, or None if it has not within `seconds`."""
        if not self._events:
            message = self._receive(seconds)
            if message is None:
                return None
            self._events.append(message[1])
        return self._events.popleft()

    def require_alive(self) -> None:
        """Raise WorkerError if the process has died."""
        if self._process.poll() is not None:
            raise self._death()

    def stop(self) -> None:
        """End the process, by force if it does not go; ending an ended one does nothing."""
        self._connection.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, message: object) -> None:
        try:
            self._connection.send(message)
        except OSError as error:
            raise self._death() from error

    def _receive(self, seconds: float) -> tuple[str, Any] | None:
        try:
            if not self._connection.poll(seconds):
                return None
            kind, value = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._death() from error
        return kind, value

    def _death(self) -> WorkerError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_SECONDS)
        code = self._process.poll()
        how = "closed its channel" if code is None else _cause(code)
        return WorkerError(f"the {self.name} process {how}")


def serve(make_role: Callable[[], Role]) -> None:
    """Be a worker: command line `CONTROL_DESCRIPTOR CORE`; returns when the parent has gone."""
    connection = Connection(int(sys.argv[1]))
    _pin(int(sys.argv[2]))
    role = make_role()
    with contextlib.suppress(EOFError, KeyboardInterrupt, ConnectionError):
        while True:
            if role.running and not connection.poll():
                ended = role.advance(connection.fileno())
                if ended is not None:
                    connection.send(("event", ended))
            else:
                command, arguments, options = connection.recv()
                connection.send(_answer(role, command, arguments, options))
            _set_urgent(urgent=role.running)


def _answer(
    role: Role, command: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[str, Any]:
    try:
        return "answer", role.commands[command](*arguments, **options)
    except Exception as error:  # noqa: BLE001 - whatever went wrong belongs to the one who asked
        return "error", f"{type(error).__name__}: {error}"


def _pin(core: int) -> None:
    """Keep to one processor core, and to ourselves when memory is tidied and timers fire."""
    gc.disable()
    ctypes.CDLL(None).prctl(_SET_TIMER_SLACK, 1, 0, 0, 0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})


def _set_urgent(*, urgent: bool) -> None:
    """Go before all other programs on our core during a run, as far as we are allowed to."""
    policy, priority = (os.SCHED_FIFO, REAL_TIME_PRIORITY) if urgent else (os.SCHED_OTHER, 0)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, policy, os.sched_param(priority))


def _cause(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
