from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traffic.collectives.fsdp import shard_bytes
from traffic.request import Request
from traffic.workloads import make


def request(hosts: int = 1024, message: int = 4096, **options: Any) -> Request:
    rng = np.random.default_rng(1)
    return Request(hosts, 8, 64, message, rng, options)


@pytest.mark.parametrize("placement", ["random", "contiguous", "rail"])
def test_fsdp__a_step_is_a_permutation_within_ranks(placement: str) -> None:
    flows = make("fsdp", request(steps=3, placement=placement))
    for step in np.split(flows.destination, 3):
        assert sorted(step) == list(range(1024))
    own = flows.source.reshape(3, 128, 8)
    if placement == "rail":
        assert np.all(own // 8 % 8 == np.arange(8))  # a rank's edges
    else:
        assert np.all(own % 8 == np.arange(8))
    assert np.array_equal(flows.destination.reshape(3, 128, 8), np.roll(own, -1, axis=1))


def test_fsdp__contiguous__follows_the_servers() -> None:
    flows = make("fsdp", request(placement="contiguous"))
    assert np.array_equal(flows.destination, (flows.source + 8) % 1024)


def test_fsdp__a_step_waits_for_the_predecessors_and_for_its_own() -> None:
    flows = make("fsdp", request(hosts=32, server=8, steps="full", layers=2))
    assert len(flows) == 2 * 3 * 32
    for row in range(32, len(flows)):
        before = flows.after.of(row)
        assert np.all(before // 32 == row // 32 - 1)
        assert flows.source[row] in flows.source[before]
        assert flows.source[row] in flows.destination[before]
    assert flows.phases[flows.phase[-1]] == "layer 1"


@pytest.mark.parametrize(
    ("model", "sizes", "packets"),
    [
        ("8b", "paper", 119),
        ("70b", "paper", 418),
        ("405b", "paper", 1533),
        ("8b", "nominal", 119.2),
        ("70b", "nominal", 417.2),
        ("405b", "nominal", 1532.7),
        ("8b", "layer", 104.0),
        ("70b", "layer", 408.0),
        ("405b", "layer", 1520.0),
    ],
)
def test_shard_bytes__are_the_papers_and_the_models(model: str, sizes: str, packets: float) -> None:
    found = shard_bytes(request(model=model, sizes=sizes)) / 4096
    assert found == pytest.approx(packets, abs=0.06)


def test_fsdp__backward__overlaps_collectives_with_computation() -> None:
    gpus, steps, layers = 16, 3, 4
    options: dict[str, Any] = {
        "server": 4,
        "steps": "full",
        "layers": layers,
        "layer_us": 7,
        "pass": "backward",
    }
    flows = make("fsdp", request(hosts=gpus, **options))
    assert len(flows) == gpus * layers * (2 * steps + 1)
    names = [flows.phases[phase].rsplit(" ", 1) for phase in flows.phase]
    before: dict[str, set[str]] = {}
    for row in range(len(flows)):
        name = " ".join(names[row])
        before.setdefault(name, set())
        waited = {" ".join(names[other]) for other in flows.after.of(row)}
        before[name] |= waited - {name}
    assert before["compute 3"] == {"AllGather 3"}
    assert before["compute 1"] == {"AllGather 1", "compute 2"}
    assert before["AllGather 1"] == {"AllGather 2", "compute 3"}  # fetched while 2 is computed
    assert before["ReduceScatter 1"] == {"compute 1", "ReduceScatter 2"}
    assert np.all(flows.delay_ps[flows.computes] == 7_000_000)
