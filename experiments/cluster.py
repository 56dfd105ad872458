"""Independent points on a Dask cluster: the same outcomes as from worker processes here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from experiments.workers import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CONNECT_SECONDS = 10
RETRIES = 1


class ClusterError(RuntimeError):
    """A cluster that cannot be used; the message names the address and the reason."""


def run_on_cluster(
    address: str, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Outcome]:
    """Call `function` with each task's arguments on a Dask cluster; yield outcomes as they come.

    Workers must have been started in a checkout of this project with its environment. A task that
    raises, or whose workers die, is tried once more; then that is its outcome. Raises ClusterError
    if there is no scheduler at `address`, it has no workers, or `distributed` is not installed.
    """
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError("--cluster needs the optional package distributed") from error
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address}") from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise ClusterError(f"the scheduler at {address} has no workers")
        futures = {
            client.submit(function, *task, pure=False, retries=RETRIES): number
            for number, task in enumerate(tasks)
        }
        for future in distributed.as_completed(futures, loop=client.loop):
            yield _outcome(futures[future], future)
            future.release()


def _outcome(number: int, future: Any) -> Outcome:
    error = future.exception()
    if error is None:
        return Outcome(number, future.result())
    text = (str(error).splitlines() or [""])[0]
    return Outcome(number, None, f"{type(error).__name__}: {text}")
