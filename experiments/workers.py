"""Worker processes for independent points: one that dies takes only its own point with it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loky import ProcessPoolExecutor

from errors import FAILED, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: its place in the list, and its result or an error in one line."""

    number: int
    result: Any
    error: str = ""


def run_all(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    jobs: int,
    begun: Callable[[int], None] = lambda _number: None,
) -> Iterator[Outcome]:
    """Call `function` with each task's arguments in `jobs` processes; yield outcomes as they come.

    An exception is the outcome of its task alone. When a process dies, what was running is run
    again, one task at a time: one that then dies again died of itself. `begun` is told each task's
    number when it starts. Closing the iterator stops the workers.
    """
    waiting = deque(range(len(tasks)))
    while waiting:
        for number in (yield from _until_one_dies(function, tasks, waiting, jobs, begun)):
            if (yield from _until_one_dies(function, tasks, deque([number]), 1, begun)):
                yield Outcome(number, None, "its process died, and once more when it ran alone")


def _until_one_dies(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    waiting: deque[int],
    jobs: int,
    begun: Callable[[int], None],
) -> Generator[Outcome, None, list[int]]:
    """Work off `waiting` in a pool; returns the tasks that were running when a process died."""
    running: dict[Future[Any], int] = {}
    pool = ProcessPoolExecutor(min(jobs, len(waiting)), initializer=_begin, initargs=(os.getpid(),))
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                future = pool.submit(function, *tasks[waiting[0]])
                running[future] = waiting.popleft()
                begun(running[future])
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenExecutor) for future in done):
                break
            for future in done:
                yield _outcome(running.pop(future), future)
    except BrokenExecutor:  # met while giving it more to do
        pass
    finally:
        pool.shutdown(wait=True, kill_workers=True)
    return sorted(running.values())


def _outcome(number: int, future: Future[Any]) -> Outcome:
    error = future.exception()
    if error is None:
        return Outcome(number, future.result())
    text = (str(error).splitlines() or [""])[0]
    told = text if isinstance(error, UserError) else f"{type(error).__name__}: {text}"
    return Outcome(number, None, told)


def _begin(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it does, even by SIGKILL."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(FAILED)
