from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from errors import UserError
from traffic.collectives.moe.exchange import from_counts, from_tokens
from traffic.request import Request
from traffic.workloads import make

if TYPE_CHECKING:
    from traffic.flows import Flows

PAPER_BYTES = 491_520_000  # 8,000 tokens a GPU, 8 copies of 8,192 B, 15 of 16 leave the server


def request(hosts: int = 128, message: int = PAPER_BYTES, seed: int = 1, **options: Any) -> Request:
    rng = np.random.default_rng(seed)
    return Request(hosts, 4, 16, message, rng, options)


def passes(which: str) -> dict[str, Any]:
    return {"pass": which}


def skew(flows: Flows) -> float:
    received = np.bincount(flows.destination, flows.size_bytes)
    return float(received.max() / received.mean())


@pytest.mark.parametrize("seed", range(1, 6))
def test_moe__has_the_papers_skew_with_and_without_replicas(seed: int) -> None:
    assert skew(make("moe", request(seed=seed))) == pytest.approx(1.48, rel=0.01)
    assert skew(make("moe", request(seed=seed, slots=2))) == pytest.approx(1.13, rel=0.01)


def test_moe__sends_the_papers_volume_between_ranks_of_servers() -> None:
    flows = make("moe", request())
    assert flows.size_bytes.sum() / 128 == pytest.approx(PAPER_BYTES, rel=0.01)
    assert len(flows) == 128 * 15
    assert np.all(flows.source % 8 == flows.destination % 8)
    assert np.all(flows.source // 8 != flows.destination // 8)
    assert np.all(flows.size_bytes % 8192 == 0)


@pytest.mark.parametrize("wanted", [1.05, 1.2, 1.48])
def test_moe__skews_can_be_chosen(wanted: float) -> None:
    assert skew(make("moe", request(skew=wanted))) == pytest.approx(wanted, rel=0.01)


def test_moe__merged_copies_of_even_routing_are_0_825_of_all() -> None:
    """8 different of 128 experts on 16 servers are on 6.18 other servers, not on 7.5."""
    options: dict[str, Any] = {"skew": 1.0001, "balanced": 1.0, "order": "circular"}
    message = PAPER_BYTES // 20
    every = make("moe", request(message=message, **options))
    once = make("moe", request(message=message, **options, merge="yes"))
    share = once.size_bytes.sum() / every.size_bytes.sum()
    assert share == pytest.approx(6.18 / 7.5, rel=0.01)


def test_moe__combine_is_dispatch_turned_around() -> None:
    there = make("moe", request(**passes("dispatch")))
    back = make("moe", request(combine_bytes=4096, **passes("combine")))
    pairs = {
        (source, destination): size
        for source, destination, size in zip(
            there.source, there.destination, there.size_bytes, strict=True
        )
    }
    assert len(back) == len(there)
    for source, destination, size in zip(
        back.source, back.destination, back.size_bytes, strict=True
    ):
        assert 2 * size == pairs[destination, source]


def test_moe__both__combines_when_all_has_arrived_and_experts_are_done() -> None:
    flows = make("moe", request(hosts=16, message=10**7, server=4, expert_us=5, **passes("both")))
    dispatch, work, combine = (flows.phase == phase for phase in range(3))
    assert work.sum() == 16
    assert np.all(flows.delay_ps[work] == 5_000_000)
    for row in np.flatnonzero(work).tolist():
        host = flows.source[row]
        arriving = np.flatnonzero(dispatch & (flows.destination == host))
        assert np.array_equal(flows.after.of(row), arriving)
    for row in np.flatnonzero(combine).tolist():
        (waited,) = flows.after.of(row)
        assert work[waited]
        assert flows.source[waited] == flows.source[row]


def test_from_counts__sums_the_experts_of_a_server() -> None:
    counts = np.zeros((8, 8))
    counts[0] = [1, 2, 3, 4, 5, 6, 7, 8]
    flows = from_counts(request(hosts=8, server=4, dispatch_bytes=10, order="circular"), counts)
    assert (flows.source.tolist(), flows.destination.tolist()) == ([0], [4])
    there = make_layout_bytes(counts, seed=1)
    assert flows.size_bytes.tolist() == [there]


def make_layout_bytes(counts: np.ndarray, seed: int) -> int:
    gpu_of = np.random.default_rng(seed).permutation(np.arange(8))
    return int(10 * counts[0][gpu_of >= 4].sum())


def test_from_tokens__counts_and_merges() -> None:
    gpu, experts = np.array([0, 0, 0]), np.array([[0, 1], [2, 3], [4, 5]])
    whole = from_tokens(request(hosts=8, server=2, dispatch_bytes=1, experts=8), gpu, experts)
    once = from_tokens(
        request(hosts=8, server=2, dispatch_bytes=1, experts=8, merge="yes"), gpu, experts
    )
    gpu_of = np.random.default_rng(1).permutation(np.arange(8))
    servers = gpu_of[experts] // 2
    assert whole.size_bytes.sum() == (servers != 0).sum()
    assert once.size_bytes.sum() == sum(len(set(row) - {0}) for row in servers.tolist())


def test_exchange__experts_that_do_not_divide__refuses() -> None:
    with pytest.raises(UserError, match="12 experts do not divide among 8 GPUs"):
        from_counts(request(hosts=8, server=4), np.ones((8, 12)))
