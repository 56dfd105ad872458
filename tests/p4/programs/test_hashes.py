"""The schemes that draw lots: ECMP under the hosts' entropy, RSQ, and paths named by hosts."""

from collections import Counter

import numpy as np
import pytest

from testbed.scenario import Scenario
from tests.p4.programs.bench import bench

PACKETS = 1200


def deviation(counts: list[int]) -> float:
    """Return how far counts are from equal, in standard deviations of a fair draw."""
    total, cells = sum(counts), len(counts)
    expected = total / cells
    chi_square = sum((count - expected) ** 2 / expected for count in counts)
    return float((chi_square - (cells - 1)) / np.sqrt(2 * (cells - 1)))


def test_a_flow_keeps_its_path_under_ecmp() -> None:
    stand = bench("e0_0", Scenario(k=12, scheme="ecmp"))
    for entropy in range(20):
        assert len({stand.uplink(0, 431, entropy=entropy) for _ in range(5)}) == 1


@pytest.mark.parametrize("scheme", ["ecmp", "rsq"])
def test_entropy_or_lots_spread_packets_evenly(scheme: str) -> None:
    stand = bench("e0_0", Scenario(k=12, scheme=scheme))
    taken = Counter(stand.uplink(0, 431, entropy=entropy) for entropy in range(PACKETS))
    assert deviation([taken[uplink] for uplink in range(6)]) < 4


@pytest.mark.parametrize("scheme", ["ecmp", "rsq"])
def test_survivors_of_failures_share_evenly(scheme: str) -> None:
    failed = (("e0_0", "a0_2"), ("e0_0", "a0_3"))
    stand = bench("e0_0", Scenario(k=12, scheme=scheme), failed=failed)
    taken = Counter(stand.uplink(0, 431, entropy=entropy) for entropy in range(PACKETS))
    assert set(taken) == {0, 1, 4, 5}
    assert deviation(list(taken.values())) < 4


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_tiers_choose_independently(seed: int) -> None:
    scenario = Scenario(k=8, scheme="ecmp", seed=seed)
    edge, aggregation = bench("e0_0", scenario), bench("a0_1", scenario)
    pairs = Counter(
        (edge.uplink(0, 127, entropy=entropy), aggregation.uplink(0, 127, entropy=entropy))
        for entropy in range(PACKETS)
    )
    assert deviation([pairs[a, b] for a in range(4) for b in range(4)]) < 4


def test_switches_have_random_numbers_of_their_own() -> None:
    scenario = Scenario(k=12, scheme="rsq")
    one, same, other = (bench("e0_0", scenario, seed=seed) for seed in (1, 1, 2))
    draws = [[stand.uplink(0, 431) for _ in range(40)] for stand in (one, same, other)]
    assert draws[0] == draws[1] != draws[2]


@pytest.mark.parametrize("k", [4, 6, 12])
def test_packets_follow_the_path_that_their_host_names(k: int) -> None:
    scenario = Scenario(k=k, scheme="drb")
    edge, aggregation = bench("e0_0", scenario), bench("a0_1", scenario)
    w, last = k // 2, k**3 // 4 - 1
    for core in range(w * w):
        assert edge.uplink(0, last, entropy=core) == core % w
        assert aggregation.uplink(0, last, entropy=core) == core // w
    for turn in range(w):
        assert edge.uplink(0, w, entropy=turn) == turn


def test_a_path_that_leads_nowhere_is_replaced() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="drb"), failed=(("e0_0", "a0_1"),))
    assert [stand.uplink(0, 53, entropy=core) for core in range(3)] == [0, 2, 2]
    aggregation = bench("a0_1", Scenario(k=6, scheme="drb"))
    assert aggregation.uplink(0, 53, entropy=40_000) == 0
