from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pytest

from errors import UserError
from experiments.cluster import run_on_cluster
from tests.experiments import tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

distributed: Any = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A real scheduler and two workers on loopback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
        )
        with cluster:
            yield cluster.scheduler_address


@pytest.mark.filterwarnings("ignore")
def test_run_on_cluster__does_every_task(address: str) -> None:
    outcomes = list(run_on_cluster(address, tasks.double, [(n,) for n in range(6)]))
    assert sorted((o.number, o.result) for o in outcomes) == [(n, 2 * n) for n in range(6)]


@pytest.mark.filterwarnings("ignore")
def test_run_on_cluster__a_fault_is_its_tasks_alone(address: str) -> None:
    outcomes = list(run_on_cluster(address, tasks.fail_at_three, [(n,) for n in range(5)]))
    found = {outcome.number: (outcome.result, outcome.error) for outcome in outcomes}
    assert found.pop(3) == (None, "ValueError: three is not liked")
    assert found == {n: (2 * n, "") for n in range(5) if n != 3}


@pytest.mark.filterwarnings("ignore")
def test_run_on_cluster__nobody_there__says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(UserError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(run_on_cluster("tcp://127.0.0.1:9", tasks.double, [(1,)]))
