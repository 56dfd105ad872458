"""The paper's theorems and exact values, against what virtual time gives."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from analysis.bounds import permutation_bound
from analysis.theory import exact_queue, growth, sources
from experiments.points import run_point
from testbed.scenario import Scenario, to_toml

if TYPE_CHECKING:
    from pathlib import Path

PACKET = 4096


@cache
def row(scheme: str, **fields: Any) -> dict[str, Any]:
    """The row of a run between pods without ACKs, unless the fields say otherwise."""
    settings: dict[str, Any] = {"k": 8, "workload": "interpod", "acks": False} | fields
    found = run_point(to_toml(Scenario(scheme=scheme, **settings)))
    assert found["verdict"] == "VALID", found["reason"]
    return found


def queues(scheme: str, stage: str, packets: tuple[int, ...], which: str = "max") -> list[float]:
    """Queues of a stage for several messages, means of three seeds."""
    return [
        sum(
            row(scheme, message_bytes=number * PACKET, seed=seed)[f"{which}_queue_packets {stage}"]
            for seed in (1, 2, 3)
        )
        / 3
        for number in packets
    ]


@pytest.mark.parametrize("hosts", [(0, 15), (15, 0)])
def test_one_flow_alone__takes_the_bound_and_no_less(
    tmp_path: Path, hosts: tuple[int, int]
) -> None:
    """Two hosts that send to each other over idle links: Appendix A's example."""
    matrix = tmp_path / "pair.cm"
    one, other = hosts
    lines = ["Nodes 16", "Connections 2", f"{one}->{other} start 0", f"{other}->{one} start 0"]
    matrix.write_text("\n".join(lines), encoding="utf-8")
    scenario = Scenario(scheme="ofan", k=4, workload=str(matrix))
    taken = 1000 * run_point(to_toml(scenario))["cct_us"]
    bound = permutation_bound(1 << 20, Scenario())
    assert taken >= bound - Scenario().gap_ns - 1e-3
    assert taken <= bound * 1.001 + 41.78  # the two start within one packet's time of each other


@pytest.mark.parametrize("scheme", ["drb", "ofan", "pofan"])
@pytest.mark.parametrize("packets", [64, 512])
def test_edge_uplinks__hold_at_most_w_plus_1_packets(scheme: str, packets: int) -> None:
    for seed in (1, 2, 3):
        found = row(scheme, message_bytes=packets * PACKET, seed=seed)
        assert found["max_queue_packets E-A"] <= 4 + 1


def test_edge_uplinks__under_ethereal_hold_at_most_a_packet_a_core() -> None:
    for seed in (1, 2, 3):
        assert row("ethereal", seed=seed)["max_queue_packets E-A"] <= 16 + 1


@pytest.mark.parametrize("scheme", ["simple_rr", "jsq"])
def test_edge_uplinks__under_synchronised_schemes_hold_one_packet(scheme: str) -> None:
    for seed in (1, 2, 3):
        assert row(scheme, seed=seed)["max_queue_packets E-A"] <= 1


@pytest.mark.parametrize("scheme", ["simple_rr", "jsq"])
def test_downlinks__under_synchronised_schemes_grow_with_the_message(scheme: str) -> None:
    sizes = (64, 256, 1024)
    fit = growth(list(sizes), queues(scheme, "A-E", sizes))
    assert fit.exponent == pytest.approx(1, abs=0.15)


def test_random_spraying__grows_with_the_root_of_the_message() -> None:
    sizes = (256, 1024, 4096)
    for stage in ("E-A", "A-E"):
        means = queues("rsq", stage, sizes, "mean")
        assert growth(list(sizes), means).exponent == pytest.approx(0.5, abs=0.15)
        assert all(mean >= 2 / 15 * size**0.5 for mean, size in zip(means, sizes, strict=True))


@pytest.mark.parametrize("scheme", ["drb", "ethereal", "pofan", "ofan"])
def test_rotation__keeps_queues_whatever_the_message(scheme: str) -> None:
    sizes = (256, 2048)
    for stage in ("E-A", "A-C", "C-A", "A-E"):
        fit = growth(list(sizes), queues(scheme, stage, sizes, "mean"))
        assert abs(fit.exponent) < 0.15, stage


@pytest.mark.parametrize("scheme", ["drb", "ethereal", "pofan", "ofan"])
def test_rotation__balances_all_stages(scheme: str) -> None:
    found = row(scheme, message_bytes=1024 * PACKET)
    for stage in ("E-A", "A-C", "C-A", "A-E"):
        assert found[f"overload {stage}"] < 0.03, stage


def test_drb__mean_queue_of_edge_uplinks_is_the_models() -> None:
    measured = sum(
        row("drb", workload="permutation", message_bytes=2048 * PACKET, seed=seed)[
            "mean_queue_packets E-A"
        ]
        for seed in (1, 2, 3)
    )
    assert measured / 3 == pytest.approx(exact_queue(sources("drb", 8)["E-A"]), rel=0.1)
