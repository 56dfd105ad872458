"""Worker processes for independent points: one that dies takes only its own point with it."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

CONTEXT = multiprocessing.get_context("spawn")
PATIENCE_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: its place in the list, and its result or an error in one line."""

    number: int
    result: Any
    error: str = ""


@dataclass(slots=True)
class _Worker:
    process: SpawnProcess
    pipe: Connection
    task: int | None = None


def run_all(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    jobs: int,
    begun: Callable[[int], None] = lambda _number: None,
) -> Iterator[Outcome]:
    """Call `function` with each task's arguments in `jobs` processes; yield outcomes as they come.

    An exception, or the death of a worker, is the outcome of its task alone. `begun` is told each
    task's number when it starts. Closing the iterator stops the workers.
    """
    waiting = deque(range(len(tasks)))
    workers = [_start(function) for _ in range(min(jobs, len(tasks)))]
    try:
        while waiting or any(worker.task is not None for worker in workers):
            workers = [_alive(worker, function) for worker in workers]
            for worker in workers:
                if worker.task is None and waiting:
                    worker.task = waiting.popleft()
                    begun(worker.task)
                    worker.pipe.send(tasks[worker.task])
            busy = {worker.pipe: worker for worker in workers if worker.task is not None}
            for ready in wait(list(busy)):
                yield _outcome(busy[ready])  # type: ignore[index]
    finally:
        for worker in workers:
            _stop(worker)


def _start(function: Callable[..., Any]) -> _Worker:
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_serve, args=(function, theirs), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _alive(worker: _Worker, function: Callable[..., Any]) -> _Worker:
    """Return the worker, or one in its place if it died with nothing to do."""
    if worker.task is None and not worker.process.is_alive():
        worker.pipe.close()
        return _start(function)
    return worker


def _outcome(worker: _Worker) -> Outcome:
    number = worker.task
    assert number is not None
    worker.task = None
    try:
        result, error = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join(PATIENCE_SECONDS)
        return Outcome(number, None, f"its process died ({_how(worker.process.exitcode)})")
    return Outcome(number, result, error)


def _how(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"


def _stop(worker: _Worker) -> None:
    worker.pipe.close()
    if worker.task is not None:
        worker.process.terminate()
    worker.process.join(PATIENCE_SECONDS)
    if worker.process.is_alive():
        worker.process.kill()
        worker.process.join()


def _serve(function: Callable[..., Any], pipe: Connection) -> None:
    """Work off tasks until the pipe closes; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((function(*arguments), ""))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is this task's outcome
            text = (str(error).splitlines() or [""])[0]
            pipe.send(
                (None, text if isinstance(error, UserError) else f"{type(error).__name__}: {text}")
            )
