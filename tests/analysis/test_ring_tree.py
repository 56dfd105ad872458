from __future__ import annotations

import pytest

from analysis.ring_tree import (
    best_tree_time,
    bus_bandwidth,
    crossover,
    fit,
    ring_time,
    tree_depth,
    tree_time,
)
from traffic.collectives.double_tree import depth, first_tree

ALPHA, BETA = 10e-6, 1 / 25e9
KIB, MIB = 2**10, 2**20
CROSSOVER = {  # microseconds of tree and ring by ranks and bytes
    16: {KIB: (81, 300), MIB: (307, 379), 4 * MIB: (712, 615), 16 * MIB: (2026, 1558)},
    64: {
        KIB: (121, 1260),
        16 * MIB: (2234, 2581),
        32 * MIB: (3896, 3902),
        64 * MIB: (7042, 6545),
    },
}


@pytest.mark.parametrize("ranks", range(2, 129))
def test_tree_depth__is_that_of_the_tree(ranks: int) -> None:
    assert tree_depth(ranks) == depth(first_tree(ranks))


def test_ring_time__is_latency_and_bandwidth() -> None:
    assert ring_time(0, 16, ALPHA, BETA) == pytest.approx(30 * ALPHA)
    assert ring_time(MIB, 16, 0, BETA) == pytest.approx(2 * MIB * BETA * 15 / 16)


def test_tree_time__one_chunk_walks_up_and_down() -> None:
    assert tree_time(2000, 14, ALPHA, BETA, 1000) == pytest.approx(8 * (ALPHA + 4000 * BETA))


def test_best_tree_time__approaches_the_rings_bandwidth() -> None:
    size = 2.0**36
    assert best_tree_time(size, 64, ALPHA, BETA) == pytest.approx(2 * size * BETA, rel=0.01)


def test_crossover__moves_with_the_ranks() -> None:
    """16 MiB favour the ring at 16 ranks and the tree at 64."""
    for ranks, ring_wins in ((16, True), (64, False)):
        ring, tree = (time(16 * MIB, ranks, ALPHA, BETA) for time in (ring_time, best_tree_time))
        assert (ring < tree) == ring_wins
    small, large = crossover(16, ALPHA, BETA), crossover(64, ALPHA, BETA)
    assert small is not None
    assert large is not None
    assert small < 16 * MIB < large


@pytest.mark.parametrize(("ranks", "size"), [(n, size) for n in CROSSOVER for size in CROSSOVER[n]])
def test_times__are_those_of_the_worked_example(ranks: int, size: int) -> None:
    tree, ring = CROSSOVER[ranks][size]
    assert best_tree_time(size, ranks, ALPHA, BETA) * 1e6 == pytest.approx(tree, abs=1)
    assert ring_time(size, ranks, ALPHA, BETA) * 1e6 == pytest.approx(ring, abs=1)


def test_fit__finds_what_made_the_times() -> None:
    sizes = [8.0 * 4**power for power in range(14)]
    times = [ring_time(size, 16, 3e-6, 1 / 50e9) for size in sizes]
    alpha, beta = fit(sizes, times, 16)
    assert alpha == pytest.approx(3e-6)
    assert beta == pytest.approx(1 / 50e9)


def test_bus_bandwidth__of_a_perfect_ring_is_the_links() -> None:
    assert bus_bandwidth(MIB, ring_time(MIB, 16, 0, BETA), 16) == pytest.approx(25e9)
