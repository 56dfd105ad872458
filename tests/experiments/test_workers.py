from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from experiments.workers import run_all
from tests.experiments import tasks

if TYPE_CHECKING:
    from collections.abc import Callable


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
        (tasks.die_at_three, "its process died, and once more when it ran alone"),
    ],
)
def test_run_all__a_fault_is_its_tasks_alone(function: object, error: str) -> None:
    outcomes = list(run_all(function, [(n,) for n in range(8)], 2))  # type: ignore[arg-type]
    found = {outcome.number: (outcome.result, outcome.error) for outcome in outcomes}
    assert found.pop(3) == (None, error)
    assert found == {n: (2 * n, "") for n in range(8) if n != 3}


def test_run_all__a_process_that_is_killed_once__costs_nothing(tmp_path: Path) -> None:
    outcomes = list(run_all(tasks.die_once, [(n, tmp_path / "died") for n in range(6)], 2))
    assert sorted((o.number, o.result, o.error) for o in outcomes) == [
        (n, 2 * n, "") for n in range(6)
    ]


def test_run_all__closing_it_stops_the_workers(tmp_path: Path) -> None:
    running = run_all(tasks.sleep, [(tmp_path, 0.0), (tmp_path, 3600.0)], 2)
    next(running)
    wait_for(lambda: bool(list(tmp_path.glob("3600 *"))))
    running.close()  # type: ignore[attr-defined]
    (asleep,) = tmp_path.glob("3600 *")
    wait_for(lambda: not Path("/proc", asleep.name.split()[1]).exists())


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
