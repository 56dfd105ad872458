"""Networks of the user's own, of any shape: no run is below the floor, and every packet is counted.

The floor has to be of use as well: where uplinks are few it is what they need, and schemes that
spread evenly come near it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from analysis import metrics
from analysis.fidelity import judge
from analysis.floor import floor
from analysis.messages import messages_of
from analysis.results import Run, read_run
from testbed import hosts, schemes, virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

ANY_SHAPE = [scheme.name for scheme in schemes.SCHEMES if not scheme.square]
WORKLOADS: tuple[dict[str, Any], ...] = (
    {"workload": "permutation"},
    {"workload": "all-to-all"},
    {"workload": "ring", "workload_options": {"placement": "random"}},
    {"workload": "double-tree"},
)
OVERSUBSCRIBED = {"pods": 4.0, "edges": 2.0, "hosts": 4.0, "aggregations": 2.0, "cores": 2.0}


@st.composite
def networks(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the fields of a scenario that say its network."""
    size = st.integers(1, 4)
    counts = {"edges": draw(st.integers(2, 4)), "hosts": draw(size)}
    if draw(st.booleans()):
        counts |= {"spines": draw(size)}
        return {"topology": "leaf-spine", "network": counts}
    counts |= {"pods": draw(st.integers(2, 4)), "aggregations": draw(st.integers(1, 3))}
    counts |= {"edges": draw(st.integers(1, 3)), "cores": counts["aggregations"] * draw(size)}
    return {"topology": "fat-tree", "network": counts}


def measured(scenario: Scenario, folder: Path) -> Run:
    virtual.run(plan_for(scenario), folder, threads=1, sample_ps=0)
    return read_run(folder)


@profile(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    network=networks(),
    scheme=st.sampled_from(ANY_SHAPE),
    work=st.sampled_from(WORKLOADS),
    size=st.sampled_from((36, 4096, 4097, 30_000, 100_000)),
    load=st.sampled_from([1.0, 0.9, 0.1]),
    payload=st.sampled_from([4096, 1500]),
    acks=st.booleans(),
    seed=st.integers(0, 1 << 30),
)
def test_no_run_is_below_the_floor__and_no_packet_is_lost(  # noqa: PLR0917 - hypothesis
    tmp_path: Path,
    network: dict[str, Any],
    scheme: str,
    work: dict[str, Any],
    size: int,
    load: float,
    payload: int,
    acks: bool,  # noqa: FBT001
    seed: int,
) -> None:
    scenario = Scenario(
        scheme=scheme,
        message_bytes=size,
        load=load,
        payload_bytes=payload,
        acks=acks or hosts.entropy(schemes.find(scheme).entropy).needs_ecn,
        seed=seed,
        **network,
        **work,
    )
    assume(scenario.hosts > 1)
    run = measured(scenario, tmp_path)
    lowest = floor(run.scenario, messages_of(run.scenario, run.steps)) / 1000
    assert lowest <= metrics.cct_us(run) + 1e-9
    assert judge(run).verdict == "VALID"
    assert metrics.cct_increase(run) >= -1e-12
    counts = run.manifest["conservation"]
    assert counts["sent"] == counts["delivered"]
    assert counts["delivered"] == run.flows["packets"].sum() * (1 + scenario.acks)
    assert 0 < metrics.utilisation(run) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("topology", "network"),
    [
        ("fat-tree", OVERSUBSCRIBED),
        ("fat-tree", {**OVERSUBSCRIBED, "cores": 8.0, "aggregations": 1.0}),
        ("leaf-spine", {"edges": 4.0, "hosts": 6.0, "spines": 2.0}),
    ],
)
def test_even_spreading_comes_near_the_floor_of_an_oversubscribed_network(
    topology: Any, network: dict[str, float], tmp_path: Path
) -> None:
    run = measured(Scenario("ofan", topology=topology, network=network), tmp_path)
    whole = sum(run.flows["bytes"]) / run.scenario.hosts / 100  # ns that a host alone needs
    assert metrics.cct_us(run) * 1000 > 1.3 * whole
    assert metrics.cct_increase(run) < 0.03
