from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import UserError
from traffic.workloads import WORKLOADS, make

if TYPE_CHECKING:
    from traffic.flows import Flows


def flows_of(
    name: str, k: int = 4, message: int = 1 << 20, seed: int = 1, **options: object
) -> Flows:
    """Make a workload on a fat tree of parameter k."""
    half = k // 2
    return make(
        name,
        hosts=2 * half**3,
        hosts_per_edge=half,
        hosts_per_pod=half**2,
        message_bytes=message,
        options=options,  # type: ignore[arg-type]
        rng=np.random.default_rng(seed),
    )


def assert_sound(flows: Flows, hosts: int) -> None:
    """Check what every workload promises: hosts that exist, nobody to itself, waits that end."""
    assert np.all((flows.source >= 0) & (flows.source < hosts))
    assert np.all((flows.destination >= 0) & (flows.destination < hosts))
    assert np.all(flows.source != flows.destination)
    assert np.all(flows.size_bytes > 0)
    row, awaited = flows.after.row, flows.after.flow
    assert np.all(awaited < row)
    ends_there = flows.destination[awaited] == flows.source[row]
    assert np.all(ends_there | (flows.source[awaited] == flows.source[row]))


@given(st.integers(2, 8), st.integers(0, 2**32))
def test_permutation__is_a_derangement(half: int, seed: int) -> None:
    flows = flows_of("permutation", 2 * half, seed=seed)
    hosts = 2 * half**3
    assert_sound(flows, hosts)
    assert sorted(flows.destination) == list(range(hosts))


def test_permutation__is_uniform_over_derangements() -> None:
    rng = np.random.default_rng(1)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(3600):
        flows = make(
            "permutation",
            hosts=4,
            hosts_per_edge=2,
            hosts_per_pod=4,
            message_bytes=1,
            options={},
            rng=rng,
        )
        seen[tuple(flows.destination.tolist())] = seen.get(tuple(flows.destination.tolist()), 0) + 1
    assert len(seen) == 9  # all derangements of 4
    assert all(abs(count - 400) < 100 for count in seen.values())


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_interpod__leaves_no_message_in_its_pod(half: int, seed: int) -> None:
    flows = flows_of("interpod", 2 * half, seed=seed)
    assert sorted(flows.destination) == list(range(2 * half**3))
    assert np.all(flows.source // half**2 != flows.destination // half**2)


def test_interpod__one_pod__refuses() -> None:
    with pytest.raises(UserError, match="2 pods"):
        make(
            "interpod",
            hosts=8,
            hosts_per_edge=2,
            hosts_per_pod=8,
            message_bytes=1,
            options={},
            rng=np.random.default_rng(1),
        )


def test_all_to_all__has_every_pair_once() -> None:
    flows = flows_of("all-to-all", 6)
    hosts = 54
    assert_sound(flows, hosts)
    pairs = set(zip(flows.source.tolist(), flows.destination.tolist(), strict=True))
    assert len(pairs) == len(flows) == hosts * (hosts - 1)


def test_all_to_all__starts_at_different_receivers() -> None:
    flows = flows_of("all-to-all", 6)
    first = flows.destination[::53]
    assert len(set(first.tolist())) > 54 / 2


def test_all_to_all__constant_host_size_shares_the_message() -> None:
    flows = flows_of("all-to-all", 4, message=1500, constant="host")
    assert np.all(flows.size_bytes == 100)


def test_make__is_fast_at_scale() -> None:
    begin = time.process_time()
    assert len(flows_of("permutation", 64)) == 65_536
    assert len(flows_of("interpod", 64)) == 65_536
    assert len(flows_of("all-to-all", 16)) == 1024 * 1023
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_make__same_generator_state_gives_the_same_flows(workload: object) -> None:
    name = workload.name  # type: ignore[attr-defined]
    one, two = flows_of(name, 4, seed=7), flows_of(name, 4, seed=7)
    assert_sound(one, 16)
    for column in ("source", "destination", "size_bytes", "start_ps", "delay_ps", "phase"):
        assert np.array_equal(getattr(one, column), getattr(two, column))
    assert np.array_equal(one.after.first, two.after.first)
    assert np.array_equal(one.after.flow, two.after.flow)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("permutatoin", {}, "permutatoin"),
        ("permutation", {"skew": 2}, "no option 'skew'"),
        ("all-to-all", {"constant": "pod"}, "constant is 'pod'"),
        ("moe", {"skew": 0.5}, "skew is 0.5"),
        ("moe", {"skew": "much"}, "must be a number"),
        ("moe", {"server": 5}, "servers of 5"),
        ("moe", {"slots": 1.5}, "whole number"),
        ("fsdp", {"placement": "rail", "server": 27, "k": 6}, "rails need edges"),
    ],
)
def test_make__wrong_request__says_what(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        flows_of(name, **options)  # type: ignore[arg-type]


def test_make__no_bytes__refuses() -> None:
    with pytest.raises(UserError, match="message is 0 B"):
        flows_of("permutation", message=0)


def test_moe__skew_and_volume_are_the_papers() -> None:
    flows = flows_of("moe", 8, message=491_520_000)
    assert_sound(flows, 128)
    received = np.bincount(flows.destination, flows.size_bytes)
    assert received.max() / received.mean() == pytest.approx(1.48, rel=0.02)
    assert flows.size_bytes.sum() / 128 == pytest.approx(491_520_000, rel=0.01)
    assert len(flows) == 128 * 15
    assert np.all(flows.source % 8 == flows.destination % 8)
    assert np.all(flows.source // 8 != flows.destination // 8)


def test_moe__replication_evens_the_skew_out() -> None:
    flows = flows_of("moe", 8, message=491_520_000, slots=2)
    received = np.bincount(flows.destination, flows.size_bytes)
    assert received.max() / received.mean() < 1.13


def test_fsdp__a_step_is_a_permutation_within_ranks() -> None:
    flows = flows_of("fsdp", 16, steps=3)
    assert_sound(flows, 1024)
    for step in np.split(flows.destination, 3):
        assert sorted(step) == list(range(1024))
    assert np.all(flows.source % 8 == flows.destination % 8)


def test_fsdp__rails_spread_a_servers_gpus_over_edges() -> None:
    flows = flows_of("fsdp", 16, placement="rail", order="in-order")
    assert_sound(flows, 1024)
    first_server = flows.source[:8]
    assert len(set((first_server // 8).tolist())) == 8


def test_ring__carries_every_chunk_around() -> None:
    message = 1000
    flows = flows_of("ring", 4, message=message)
    assert_sound(flows, 16)
    assert len(flows) == 2 * 15 * 16
    sent = np.bincount(flows.source, flows.size_bytes)
    assert sent.sum() == 2 * 15 * message
    assert np.all(np.abs(sent - 2 * message * 15 / 16) <= 15)
