from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.bounds import (
    cct_bound,
    data_only_packets,
    optimal_payload,
    permutation_bound,
)
from analysis.floor import floor
from analysis.messages import Messages, messages_of
from testbed.scenario import Scenario, TopologyName
from testbed.scenario.distances import hops_between

PAPER = Scenario()
PACKET = 4096


def messages(
    source: list[int],
    destination: list[int],
    size: int | list[int],
    where: Scenario,
    **columns: object,
) -> Messages:
    ends = {"src": source, "dst": destination, "bytes": size}
    alone = {"after": "", "not_before_ns": 0.0, "delay_ns": 0.0, "subflows": 1}
    return messages_of(where, pd.DataFrame({**ends, **alone, **columns}))


@pytest.mark.parametrize(
    ("packets", "microseconds"),
    [
        (64, 8.88566),
        (78, 9.47058),
        (128, 11.60158),
        (256, 17.05694),
        (512, 27.96766),
        (1024, 49.78910),
    ],
)
def test_permutation_bound__is_appendix_a(packets: int, microseconds: float) -> None:
    assert permutation_bound(packets * PACKET, PAPER) / 1000 == pytest.approx(
        microseconds, abs=1e-8
    )


def test_permutation_bound__two_levels() -> None:
    assert permutation_bound(1 << 20, PAPER, hops=4) / 1000 == pytest.approx(14.99434, abs=1e-8)


def test_data_only_packets__is_the_papers() -> None:
    assert data_only_packets(PAPER) == 78
    assert data_only_packets(PAPER, hops=4) == 52


def test_permutation_bound__one_packet_is_its_way_there_and_back_and_a_gap() -> None:
    way = 6 * (500 + 41.58) + 6 * (500 + 0.64)
    assert permutation_bound(PACKET, PAPER) == pytest.approx(way + 0.2)


@settings(deadline=None)
@given(st.integers(1, 1 << 22), st.integers(1, 1 << 16), st.sampled_from([2, 4]))
def test_permutation_bound__grows_with_bytes_and_hops(size: int, more: int, hops: int) -> None:
    bound = permutation_bound(size, PAPER, hops)
    assert permutation_bound(size + more, PAPER, hops) >= bound - 1e-6
    assert permutation_bound(size, PAPER, hops + 2) > bound


@settings(deadline=None)
@given(st.integers(1, 4000), st.sampled_from([2, 4, 6]))
def test_permutation_bound__is_above_the_floor_by_less_than_acks_leave_open(
    packets: int, hops: int
) -> None:
    """The floor lets ACKs wait for late data; that saves 2 % of their time, and a slot or two."""
    ends = {2: (0, 1), 4: (0, 2), 6: (0, 15)}[hops]
    both = messages([*ends], [*ends[::-1]], packets * PACKET, Scenario())
    above = permutation_bound(packets * PACKET, PAPER, hops) - floor(Scenario(), both)
    assert 0.2 - 1e-6 <= above <= 0.2 + 0.021 * packets * 0.84 + 2 * 0.84


@pytest.mark.parametrize(
    ("topology", "pair", "hops"),
    [
        ("fat-tree", (0, 1), 2),
        ("fat-tree", (0, 2), 4),
        ("fat-tree", (3, 4), 6),
        ("leaf-spine", (0, 1), 2),
        ("leaf-spine", (0, 7), 4),
    ],
)
def test_hops_between__counts_links(
    topology: TopologyName, pair: tuple[int, int], hops: int
) -> None:
    found = hops_between(np.array(pair[:1]), np.array(pair[1:]), Scenario(topology=topology))
    assert found.tolist() == [hops]


SHIFT = [(host + 4) % 16 for host in range(16)]


def test_cct_bound__permutation_is_the_published_one_for_its_furthest() -> None:
    where = Scenario()
    near_and_far = messages([0, 1, 4, 8], [1, 0, 8, 4], 1 << 20, where)
    assert cct_bound(where, near_and_far) == pytest.approx(17056.94)
    near = messages([0, 1], [1, 0], 1 << 20, where)
    assert cct_bound(where, near) == pytest.approx(permutation_bound(1 << 20, PAPER, 2))


@pytest.mark.parametrize(
    "changes", [{"load": 0.9}, {"acks": False}, {"payload_bytes": 3000}], ids=str
)
def test_cct_bound__what_appendix_a_is_not_about__has_the_floor(changes: dict[str, Any]) -> None:
    where = Scenario(**changes)
    shift = messages(list(range(16)), SHIFT, 1 << 20, where)
    assert cct_bound(where, shift) == floor(where, shift)


def test_cct_bound__of_uneven_messages_is_the_floor() -> None:
    where = Scenario(workload="moe")
    uneven = messages([0, 8], [8, 0], [400 * PACKET, 100 * PACKET], where)
    assert cct_bound(where, uneven) == floor(where, uneven)
    one_way = messages([0, 4], [4, 8], PACKET, where)
    assert cct_bound(where, one_way) == floor(where, one_way)


def test_cct_bound__of_an_all_to_all_is_the_floor() -> None:
    where = Scenario(workload="all-to-all")
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    everyone = messages([a for a, _ in pairs], [b for _, b in pairs], 16 * PACKET, where)
    assert cct_bound(where, everyone) == floor(where, everyone)


def test_cct_bound__rings_add_their_rounds() -> None:
    where = Scenario(workload="ring")
    one_round = list(range(16))
    before = [str(step * 16 + (host - 1) % 16) for step in range(2) for host in one_round]
    after = [""] * 16 + before
    following = [(host + 1) % 16 for host in one_round] * 3
    ring = messages(one_round * 3, following, PACKET, where, after=after)
    far, middle, near = (hops * (500 + 41.58) for hops in (6, 4, 2))
    # Three rounds from host 1: to the other edge of the pod, to its neighbour, to the next pod.
    assert cct_bound(where, ring) == pytest.approx(middle + near + far + 6 * (500 + 0.64))


def test_cct_bound__of_a_join_is_its_later_branch_with_the_computation() -> None:
    where = Scenario(workload="double-tree")
    near, far = (hops * (500 + 41.58) for hops in (2, 6))
    join = messages([1, 8, 0], [0, 0, 1], PACKET, where, after=["", "", "0 1"], delay_ns=7_000.0)
    assert cct_bound(where, join) == pytest.approx(far + 7_000 + near + 2 * (500 + 0.64))


def test_cct_bound__knows_computations_and_what_a_host_sends_first() -> None:
    where = Scenario(workload="step")
    near = 2 * 500 + 41.58
    steps = messages(
        [0, 0, 0],
        [1, 0, 1],
        [3 * PACKET, 0, PACKET],
        where,
        after=["", "0", "0 1"],
        delay_ns=[0.0, 9_000.0, 0.0],
    )
    # The computation begins when the third frame is sent; a message needs no computation's ACK.
    begins = 2 * 41.78 + 9_000
    assert cct_bound(where, steps) == pytest.approx(begins + near + 41.58 + 2 * (500 + 0.64))


def test_optimal_payload__is_theorem_6() -> None:
    assert round(optimal_payload(512 * 1024)) == 2073
    assert round(optimal_payload(4 * 1024**2)) == 5865
    assert optimal_payload(4e6) == pytest.approx(math.sqrt(82 * 4e6 / 10))
