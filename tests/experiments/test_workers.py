from __future__ import annotations

import multiprocessing

import pytest

from experiments.workers import run_all
from tests.experiments import tasks


@pytest.mark.parametrize("jobs", [1, 3])
def test_run_all__does_every_task_once(jobs: int) -> None:
    begun: list[int] = []
    outcomes = list(run_all(tasks.double, [(n,) for n in range(9)], jobs, begun.append))
    assert sorted((o.number, o.result, o.error) for o in outcomes) == [
        (n, 2 * n, "") for n in range(9)
    ]
    assert sorted(begun) == list(range(9))


def test_run_all__nothing_to_do__is_nothing() -> None:
    assert list(run_all(tasks.double, [], 2)) == []


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (tasks.fail_at_three, "ValueError: three is not liked"),
        (tasks.die_at_three, "its process died (SIGKILL)"),
    ],
)
def test_run_all__a_fault_is_its_tasks_alone(function: object, error: str) -> None:
    outcomes = list(run_all(function, [(n,) for n in range(8)], 2))  # type: ignore[arg-type]
    found = {outcome.number: (outcome.result, outcome.error) for outcome in outcomes}
    assert found.pop(3) == (None, error)
    assert found == {n: (2 * n, "") for n in range(8) if n != 3}


def test_run_all__closing_it_stops_the_workers() -> None:
    before = set(multiprocessing.active_children())
    running = run_all(tasks.sleep, [(0.0,), (3600.0,)], 2)
    next(running)
    assert set(multiprocessing.active_children()) - before
    running.close()  # type: ignore[attr-defined]
    assert not set(multiprocessing.active_children()) - before
