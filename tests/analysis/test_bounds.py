from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.bounds import (
    Messages,
    attainable,
    cct_bound,
    data_only_packets,
    floor,
    hops_between,
    host_bound,
    messages_of,
    optimal_payload,
    permutation_bound,
)
from testbed.scenario import Scenario, TopologyName

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
    alone = {"after": "", "not_before_ns": 0.0, "delay_ns": 0.0}
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


def test_attainable__is_one_gap_less() -> None:
    assert attainable(17056.94, PAPER) == pytest.approx(17056.74)
    assert attainable(100.0, PAPER, acks=False) == 100.0


def test_permutation_bound__one_packet_is_its_way_there_and_back() -> None:
    there = 6 * (500 + 41.58)
    assert permutation_bound(PACKET, PAPER, acks=False) == pytest.approx(there)
    assert permutation_bound(PACKET, PAPER) == pytest.approx(there + 6 * (500 + 0.64) + 0.2)


@given(
    st.integers(1, 1 << 22),
    st.integers(1, 1 << 16),
    st.sampled_from([2, 4, 6]),
    st.floats(0.05, 1),
    st.booleans(),
)
def test_permutation_bound__grows_with_bytes_hops_and_falls_with_load(
    size: int, more: int, hops: int, load: float, acks: object
) -> None:
    def bound(size: int, hops: int, load: float) -> float:
        return permutation_bound(size, PAPER, hops=hops, load=load, acks=bool(acks))

    assert bound(size + more, hops, load) >= bound(size, hops, load) - 1e-6
    assert bound(size, hops + 2, load) > bound(size, hops, load)
    assert bound(size, hops, load / 2) >= bound(size, hops, load) - 1e-6
    if acks:
        alone = permutation_bound(size, PAPER, hops=hops, load=load, acks=False)
        assert bound(size, hops, load) > alone


@given(st.integers(1, 1 << 21))
def test_permutation_bound__a_short_last_packet_costs_what_it_is(size: int) -> None:
    full = -(-size // PACKET) * PACKET
    shorter = permutation_bound(full, PAPER) - permutation_bound(size, PAPER)
    assert -1e-6 <= shorter <= PAPER.time_ns(full - size) * 6 + 1e-6


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


def test_cct_bound__permutation_takes_its_furthest_messages() -> None:
    where = Scenario()
    near_and_far = messages([0, 1, 4, 8], [1, 0, 8, 4], 1 << 20, where)
    assert cct_bound(where, near_and_far) == pytest.approx(17056.94)
    assert floor(where, near_and_far) == pytest.approx(17056.74)
    near = messages([0, 1], [1, 0], 1 << 20, where)
    assert cct_bound(where, near) < 17056.94


def test_cct_bound__who_sends_more_than_it_receives__its_acks_hold_up_nothing() -> None:
    where = Scenario(workload="moe")
    uneven = messages([0, 8], [8, 0], [400 * PACKET, 100 * PACKET], where)
    data = 399 * 41.78 + 41.58 + 3000 + 5 * 41.58
    assert cct_bound(where, uneven) == pytest.approx(data + 3000 + 6 * 0.64 + 0.2)
    assert floor(where, uneven) == pytest.approx(data + 3000 + 6 * 0.64)


def test_host_bound__of_a_permutation_is_appendix_a() -> None:
    where = Scenario()
    shift = messages(list(range(16)), [(host + 4) % 16 for host in range(16)], 1 << 20, where)
    assert host_bound(where, shift, 6) == pytest.approx(permutation_bound(1 << 20, PAPER))


def test_cct_bound__all_to_all_counts_all_that_a_host_sends() -> None:
    where = Scenario(workload="all-to-all")
    pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
    everyone = messages([a for a, _ in pairs], [b for _, b in pairs], 16 * PACKET, where)
    assert cct_bound(where, everyone) == pytest.approx(permutation_bound(15 * 16 * PACKET, PAPER))
    assert floor(where, everyone) < cct_bound(where, everyone)


def test_cct_bound__incast_is_the_receivers_link() -> None:
    where = Scenario(workload="incast.cm")
    incast = messages([4, 5, 4, 5], [0, 0, 0, 0], PACKET, where)
    there = 3 * 41.78 + 41.58 + 3000 + 5 * 41.58
    assert cct_bound(where, incast) == pytest.approx(there + 3000 + 6 * 0.64 + 0.2)


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
