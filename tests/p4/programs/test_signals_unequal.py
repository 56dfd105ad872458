"""SGLB and CONGA where switches have not as many ports up as down, by hand.

Edges have 5 ports down and 2 up (6 and 7), aggregations 3 down and 4 up (4 to 7), cores 3 down.
Pod p has the hosts 15 p to 15 p + 14.
"""

from __future__ import annotations

from typing import Any

import pytest

from testbed.scenario import Scenario
from tests.p4.programs.bench import Bench, bench
from tests.p4.programs.test_signals import (
    DEFAULT_KEY,
    MICROSECOND,
    SLOW,
    key_of,
    receive_with_key,
)

TREE = {"pods": 3.0, "edges": 3.0, "hosts": 5.0, "aggregations": 2.0, "cores": 8.0}
LEAVES = {"edges": 9.0, "hosts": 3.0, "spines": 2.0}


def stand_at(switch: str, scheme: str, **changes: Any) -> Bench:
    return bench(switch, Scenario(**{"scheme": scheme, "network": TREE, **changes}))


def test_sglb__an_edge_hears_of_the_edges_of_its_pod() -> None:
    stand = stand_at("e0_0", "sglb")
    out = receive_with_key(stand, 3 << 4 | 6, 7, "10.2.2.3", "10.0.0.5")
    assert out is not None
    assert (out.port, key_of(out)) == (5, DEFAULT_KEY)
    assert {stand.uplink(0, 14) for _ in range(40)} == {0}
    assert {stand.uplink(0, 9) for _ in range(40)} == {0, 1}
    receive_with_key(stand, 0 << 4 | 3, 6, "10.2.2.3", "10.0.0.5")
    assert {stand.uplink(0, 44) for _ in range(40)} == {1}


def test_sglb__an_edge_does_not_hear_its_hosts() -> None:
    stand = stand_at("e0_0", "sglb")
    receive_with_key(stand, 3 << 4 | 6, 5, "10.0.0.5", "10.0.0.1")
    assert {stand.uplink(0, 14) for _ in range(40)} == {0, 1}


def test_sglb__an_aggregation_hears_cores_by_pod_and_reports_on_its_links() -> None:
    stand = stand_at("a0_1", "sglb")
    out = receive_with_key(stand, 3 << 4 | 7, 6, "10.2.2.3", "10.0.0.1")
    assert key_of(out) != DEFAULT_KEY
    assert {stand.uplink(0, 44) for _ in range(60)} == {0, 1, 3}
    assert {stand.uplink(0, 29) for _ in range(60)} == {0, 1, 2, 3}
    stand.switch.register_write("penalties", slice(0, 4), [1, 2, 3, 5])
    stand.switch.register_write("sampled", 0, stand.now)
    stand.switch.register_write("next_link", 0, 0)
    keys = [key_of(stand.send(44, 0, port=4)) for _ in range(5)]
    assert keys == [0 << 4 | 1, 1 << 4 | 2, 2 << 4 | 3, 3 << 4 | 5, 0 << 4 | 1]


def test_sglb__a_core_reports_on_its_links_down() -> None:
    stand = stand_at("c5", "sglb")
    assert [key_of(stand.send(44, 0, port=3)) >> 4 for _ in range(4)] == [1, 2, 3, 1]


def test_sglb__a_leaf_hears_of_more_leaves_than_it_has_ports() -> None:
    stand = stand_at("e0_0", "sglb", topology="leaf-spine", network=LEAVES)
    receive_with_key(stand, 9 << 4 | 6, 4, "10.0.8.3", "10.0.0.1")
    assert {stand.uplink(0, 26) for _ in range(40)} == {1}
    assert {stand.uplink(0, 23) for _ in range(40)} == {0, 1}


@pytest.mark.parametrize(("switch", "ports"), [("e0_0", 7), ("a0_1", 7), ("c5", 3)])
def test_sglb__every_port_is_sampled(switch: str, ports: int) -> None:
    stand = stand_at(switch, "sglb")
    for _ in range(40):
        stand.now += MICROSECOND
        stand.switch.register_write("given", slice(1, ports + 1), [MICROSECOND] * ports)
        assert stand.send(44 if switch != "e0_0" else 1, 0, port=3) is not None
    assert list(stand.switch.register_read("penalties", slice(1, ports + 1))) == [4] * ports


@pytest.mark.parametrize(("switch", "pod"), [("e0_0", 2), ("e3_0", 5)])
def test_conga__feeds_back_and_avoids_by_edge_of_the_plane(switch: str, pod: int) -> None:
    stand = stand_at(switch, "conga", network={"planes": 2.0, **TREE}, parameters=SLOW)
    here = (pod - 2) * 15  # the first host below; the other is 10.(pod).1.3: edge 7 of its plane
    there, other = (pod * 3 + 1) * 5 + 2, (pod * 3 + 2) * 5
    ends = (f"10.{pod}.1.3", f"10.{pod - 2}.0.1")
    out = receive_with_key(stand, 1 << 11 | 5 << 8 | 1 << 3 | 6, 6, *ends)
    assert key_of(out) == DEFAULT_KEY
    keys = [key_of(stand.send(here, there)) for _ in range(4)]
    assert {key >> 11 for key in keys} == {0}
    assert [key >> 3 & 31 for key in keys] == [0, 1, 0, 1]
    assert [key & 7 for key in keys] == [0, 5, 0, 5]
    assert {stand.uplink(here, other) for _ in range(30)} == {0, 1}


@pytest.mark.parametrize(("switch", "ports"), [("e0_0", 7), ("a0_1", 7), ("c5", 3)])
def test_conga__every_estimator_loses(switch: str, ports: int) -> None:
    stand = stand_at(switch, "conga", parameters=SLOW)
    stand.switch.register_write("discounted", 0, stand.now)
    stand.switch.register_write("estimators", slice(1, ports + 1), [4 << 21] * ports)
    stand.now += round(0.8 * MICROSECOND)  # a period: alpha tau
    out = stand.send(44 if switch != "e0_0" else 1, 0, port=3)
    assert out is not None
    left = list(stand.switch.register_read("estimators", slice(1, ports + 1)))
    del left[out.port - 1]
    assert left == [pytest.approx(3.5 * (1 << 21), rel=1e-3)] * (ports - 1)
