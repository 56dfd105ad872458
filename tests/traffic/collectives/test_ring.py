from __future__ import annotations

import numpy as np
import pytest

from traffic.collectives.ring import (
    Steps,
    all_gather_steps,
    all_reduce_steps,
    reduce_scatter_steps,
)
from traffic.request import Request
from traffic.workloads import make


def carried_out(steps: Steps, held: np.ndarray) -> np.ndarray:
    """Carry a ring's steps out on integers `held[rank, chunk]`: sums add up, copies replace."""
    ranks = len(held)
    held = held.copy()
    for step, shift in enumerate(steps.shift):
        chunk = (np.arange(ranks) + shift) % ranks
        sent = held[np.arange(ranks), chunk]
        following = (np.arange(ranks) + 1) % ranks
        adds = steps.phases[steps.phase[step]] == "reduce-scatter"
        held[following, chunk] = sent + (held[following, chunk] if adds else 0)
        if step + 1 < len(steps.sums):  # whoever sends it on has to add first
            assert steps.sums[step + 1] == adds
    return held


@pytest.mark.parametrize("ranks", range(2, 65))
def test_steps__leave_exact_sums_where_they_belong(ranks: int) -> None:
    rng = np.random.default_rng(ranks)
    values = rng.integers(-(2**40), 2**40, (ranks, ranks))
    total = values.sum(axis=0)
    assert np.array_equal(carried_out(all_reduce_steps(ranks), values), np.tile(total, (ranks, 1)))
    scattered = carried_out(reduce_scatter_steps(ranks), values)
    assert np.array_equal(np.diag(scattered), total)
    own = np.where(np.eye(ranks, dtype=bool), total, 0)
    assert np.array_equal(carried_out(all_gather_steps(ranks), own), np.tile(total, (ranks, 1)))


def test_ring__carries_every_chunk_around() -> None:
    flows = make("ring", Request(16, 2, 4, 1000, np.random.default_rng(1)))
    assert len(flows) == 2 * 15 * 16
    sent = np.bincount(flows.source, flows.size_bytes)
    assert sent.sum() == 2 * 15 * 1000
    assert np.all(np.abs(sent - 2 * 1000 * 15 / 16) <= 15)
    assert flows.phases == ("reduce-scatter", "all-gather")


def test_ring__waits_for_the_predecessor_and_for_its_own() -> None:
    flows = make("ring", Request(4, 2, 4, 4000, np.random.default_rng(1)))
    for row in range(4, len(flows)):
        before = flows.after.of(row)
        assert sorted(flows.source[before].tolist()) == sorted(
            [int(flows.source[row]), (int(flows.source[row]) - 1) % 4]
        )
        assert np.all(before // 4 == row // 4 - 1)


def test_ring__of_a_few_bytes__sends_at_least_one_each() -> None:
    flows = make("ring", Request(16, 2, 4, 8, np.random.default_rng(1)))
    assert flows.size_bytes.min() == flows.size_bytes.max() == 1


def test_ring__of_large_buffers__goes_in_rounds_of_chunks() -> None:
    flows = make("ring", Request(4, 2, 4, 10_000, np.random.default_rng(1), {"chunk": 1000}))
    assert flows.size_bytes.max() <= 1000
    assert flows.size_bytes.sum() == 2 * 3 * 10_000
    assert len(flows) == 3 * 2 * 3 * 4


def test_ring__in_groups__stays_within_them() -> None:
    flows = make("ring", Request(16, 2, 4, 4000, np.random.default_rng(1), {"group": 4}))
    assert np.all(flows.source // 4 == flows.destination // 4)


def test_ring__costs_are_those_of_who_sends() -> None:
    options: dict[str, float | str] = {"alpha_ns": 100, "reduce_ps_per_byte": 2}
    options["slow"] = "2:0.25"
    flows = make("ring", Request(4, 2, 4, 4000, np.random.default_rng(1), options))
    sums = np.repeat([0, 1, 1, 1, 0, 0], 4)
    slower = np.where(flows.source == 2, 4, 1)
    assert np.array_equal(flows.delay_ps, 100_000 + 2 * 1000 * sums * slower)


def test_broadcast__passes_chunks_on_in_order() -> None:
    flows = make("broadcast", Request(4, 2, 4, 10_000, np.random.default_rng(1), {"chunk": 4000}))
    assert flows.size_bytes.reshape(3, 3).T.tolist() == [[3333, 3333, 3334]] * 3
    assert flows.source.tolist() == [0, 1, 2] * 3
    assert [sorted(flows.after.of(row).tolist()) for row in range(5)] == [[], [0], [1], [0], [1, 3]]
