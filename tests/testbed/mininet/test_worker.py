from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from testbed.mininet.worker import Worker, WorkerError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker("tests.testbed.mininet.echo", core=0)
    yield made
    made.stop()


def test_ask__answers_with_python_objects(worker: Worker) -> None:
    assert worker.ask("echo", 1, {"a": 2}, b=3) == ((1, {"a": 2}), {"b": 3})


def test_ask__worker_is_pinned(worker: Worker) -> None:
    assert worker.ask("core") == {0}


def test_ask__command_that_fails__raises_its_message_and_lives_on(worker: Worker) -> None:
    with pytest.raises(WorkerError, match="echo: ValueError: not today"):
        worker.ask("fail")
    assert worker.ask("echo") == ((), {})


def test_wait_for_end__reports_how_a_run_ended(worker: Worker) -> None:
    worker.ask("start", 5)
    assert worker.wait_for_end(10.0) == "done"


def test_wait_for_end__run_goes_on__is_none_and_commands_are_answered(worker: Worker) -> None:
    worker.ask("start", 1_000_000)
    assert worker.wait_for_end(0.05) is None
    assert worker.ask("echo", 1) == ((1,), {})
    assert worker.wait_for_end(0.05) is None


def test_ask__event_comes_before_the_answer__is_not_lost(worker: Worker) -> None:
    worker.ask("start", 1)
    assert worker.ask("echo", 1) == ((1,), {})
    assert worker.wait_for_end(10.0) == "done"


def test_ask__killed_worker__is_named(worker: Worker) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="the echo process was killed by signal 9"):
        worker.ask("echo")


def test_stop__worker_that_hangs__is_ended_by_force() -> None:
    made = Worker("tests.testbed.mininet.echo", core=0)
    made.ask("echo")
    made._send(("hang", (), {}))
    made.stop()
    assert made._process.returncode == -signal.SIGKILL
