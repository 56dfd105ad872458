from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import UserError
from traffic.request import Request
from traffic.workloads import WORKLOADS, Workload, make

if TYPE_CHECKING:
    from traffic.flows import Flows


def flows_of(
    name: str, k: int = 4, message: int = 1 << 20, seed: int = 1, **options: object
) -> Flows:
    """Make a workload on a fat tree of parameter k."""
    half = k // 2
    rng = np.random.default_rng(seed)
    request = Request(2 * half**3, half, half**2, message, rng, options)  # type: ignore[arg-type]
    return make(name, request)


def assert_sound(flows: Flows, hosts: int) -> None:
    """Check what every workload promises: hosts that exist, nobody to itself, waits that end."""
    assert np.all((flows.source >= 0) & (flows.source < hosts))
    assert np.all((flows.destination >= 0) & (flows.destination < hosts))
    assert np.all((flows.size_bytes > 0) == (flows.source != flows.destination))
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
        flows = make("permutation", Request(4, 2, 4, 1, rng))
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
        make("interpod", Request(8, 2, 8, 1, np.random.default_rng(1)))


def test_all_to_all__has_every_pair_once() -> None:
    flows = flows_of("all-to-all", 6)
    hosts = 54
    assert_sound(flows, hosts)
    pairs = set(zip(flows.source.tolist(), flows.destination.tolist(), strict=True))
    assert len(pairs) == len(flows) == hosts * (hosts - 1)


def test_all_to_all__circular__goes_around_from_different_receivers() -> None:
    receivers = flows_of("all-to-all", 6).destination.reshape(54, 53)
    assert len(set(receivers[:, 0].tolist())) > 54 / 2
    distance = (receivers - np.arange(54)[:, None]) % 54
    assert np.all(np.diff(distance, axis=1) % 53 == 1)


def test_all_to_all__random__has_an_order_for_every_sender() -> None:
    receivers = flows_of("all-to-all", 6, order="random").destination.reshape(54, 53)
    distance = (receivers - np.arange(54)[:, None]) % 54
    assert np.all(np.sort(distance, axis=1) == np.arange(1, 54))
    assert len({tuple(row) for row in distance.tolist()}) == 54


def test_all_to_all__in_groups__stays_within_them() -> None:
    flows = flows_of("all-to-all", 4, group=4)
    assert len(flows) == 16 * 3
    assert np.all(flows.source // 4 == flows.destination // 4)


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
        ("moe", {"balanced": 2, "server": 4}, "balanced is 2"),
        ("incast", {"senders": 16}, "need 17 hosts; there are 16"),
        ("ring", {"group": 3}, "do not make groups of 3"),
        ("ring", {"slow": "3"}, "HOST:SPEED"),
        ("ring", {"slow": "16:0.5"}, "host 16 is not one of 16"),
        ("ring", {"alpha_ns": -1}, "alpha_ns is -1"),
        ("ring", {"k": 64}, "8,589,803,520 messages; 16,777,216 can be told apart"),
        ("halving-doubling", {"k": 6}, "power of two of hosts, not 54"),
        ("fsdp", {"server": 4, "layers": "all"}, "option model"),
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


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("message", [500_000, 3 << 20])
def test_volume__is_what_is_made(workload: Workload, message: int) -> None:
    half = 2
    request = Request(16, half, half**2, message, np.random.default_rng(1))
    if workload.name in ("moe", "fsdp"):
        request = replace(request, options={"server": 4})
    told, flows = workload.volume(request), make(workload.name, request)
    assert told.messages == len(flows)
    assert told.total_bytes == pytest.approx(flows.size_bytes.sum(), rel=0.02)


def test_permutation__with_background__keeps_the_permutation() -> None:
    alone, loaded = flows_of("permutation"), flows_of("permutation", background=3)
    assert np.array_equal(loaded.destination[:16], alone.destination)
    assert np.bincount(loaded.source[16:]).tolist() == [3] * 16
    assert [loaded.phases[phase] for phase in (loaded.phase[0], loaded.phase[16])] == [
        "",
        "background",
    ]
    assert_sound(loaded, 16)


def test_incast__is_staggered_and_nobody_has_two_roles() -> None:
    flows = flows_of("incast", 4, senders=7, receivers=2, stagger_ns=250)
    assert_sound(flows, 16)
    assert len({*flows.source.tolist(), *flows.destination.tolist()}) == 16
    assert np.bincount(flows.destination).max() == 7
    assert sorted(set(flows.start_ps.tolist())) == [250_000 * turn for turn in range(7)]
