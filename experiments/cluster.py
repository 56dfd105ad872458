"""Independent points on a Dask cluster: the same outcomes as from worker processes here."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import UserError
from experiments.workers import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CHECKOUT = Path(__file__).resolve().parent.parent
CONNECT_SECONDS = 10
RETRIES = 1


def run_on_cluster(
    address: str, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Outcome]:
    """Call `function` with each task's arguments on a Dask cluster; yield outcomes as they come.

    `function` is one of a module. Workers must have been started in a checkout of this project,
    with its environment. A task that raises is tried once more; then that is its outcome. Raises
    UserError if there is no scheduler at `address`, it has no workers, or `distributed` is not
    installed.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise UserError("--cluster needs the optional package distributed") from error
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UserError(f"no Dask scheduler answers at {address}") from error
    call = _caller()
    whereabouts = str(CHECKOUT), function.__module__, function.__name__
    with client:
        if not client.scheduler_info()["workers"]:
            raise UserError(f"the scheduler at {address} has no workers")
        futures = {
            client.submit(call, *whereabouts, task, pure=False, retries=RETRIES): number
            for number, task in enumerate(tasks)
        }
        for future in distributed.as_completed(futures, loop=client.loop):
            yield _outcome(futures[future], future)
            future.release()


def _caller() -> Callable[[str, str, str, tuple[Any, ...]], Any]:
    """Make a function that calls one of this project, looked for where a worker was started.

    A function within a function travels by value: a scheduler needs nothing of the project.
    """

    def call(checkout: str, module: str, name: str, arguments: tuple[Any, ...]) -> Any:
        for folder in (checkout, str(Path.cwd())):
            if folder not in sys.path:
                sys.path.insert(0, folder)
        return getattr(importlib.import_module(module), name)(*arguments)

    return call


def _outcome(number: int, future: Any) -> Outcome:
    error = future.exception()
    if error is None:
        return Outcome(number, future.result())
    text = (str(error).splitlines() or [""])[0]
    return Outcome(number, None, f"{type(error).__name__}: {text}")
