"""No run in virtual time is below the floor, and no bound that is shown above the CCT.

The scenarios are those of all schemes and workloads in the two smallest networks. The examples
given by hand are runs that an earlier floor called INVALID, or whose increase was negative.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from analysis import metrics
from analysis.fidelity import judge
from analysis.floor import floor
from analysis.messages import messages_of
from analysis.results import read_run
from errors import UserError
from testbed import hosts, schemes, virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

STEP = {
    "server": 2, "jobs": 2, "replicas": 2, "placement": "random", "parameters": 60_000,
    "tokens": 2, "tflops": 0.1,
}  # fmt: skip
EXPERT_STEP = {
    "server": 2, "model": "235b-a22b", "parameters": 30_000, "tokens": 1, "tflops": 100,
}  # fmt: skip
WORKLOADS: tuple[dict[str, Any], ...] = (
    {"workload": "permutation"},
    {"workload": "interpod"},
    {"workload": "all-to-all"},
    {"workload": "moe", "workload_options": {"server": 2}},
    {"workload": "fsdp", "workload_options": {"server": 2, "steps": 2}},
    {"workload": "ring", "workload_options": {"placement": "random"}},
    {"workload": "double-tree"},
    {"workload": "moe", "workload_options": {"server": 2, "pass": "both", "expert_us": 1}},
    {"workload": "moe", "workload_options": {"server": 2, "pass": "both"}},
    {"workload": "training-step", "workload_options": STEP},
    {"workload": "training-step", "workload_options": EXPERT_STEP},
)
CHUNKED = ("ring", "double-tree")  # a message of so many parts as hosts
SIZES = (1, 35, 36, 37, 100, 4095, 4096, 4097, 8192, 12289, 30_000, 65_536, 100_000)


def check(scenario: Scenario, folder: Path) -> None:
    try:
        plan = plan_for(scenario)
    except UserError as error:  # so few bytes to experts that each falls on the server's own
        if "no message between hosts" not in str(error):
            raise
        return
    virtual.run(plan, folder, threads=1, sample_ps=0)
    run = read_run(folder)
    lowest = floor(run.scenario, messages_of(run.scenario, run.steps)) / 1000
    assert lowest <= metrics.cct_us(run) + 1e-9
    assert judge(run).verdict == "VALID"
    assert metrics.cct_increase(run) >= -1e-12
    assert 0 < metrics.utilisation(run) <= 1 + 1e-9
    assert 0 < metrics.peak_utilisation(run) <= 1


@profile(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    scheme=st.sampled_from(schemes.names()),
    topology=st.sampled_from(["fat-tree", "leaf-spine"]),
    work=st.sampled_from(WORKLOADS),
    size=st.sampled_from(SIZES),
    load=st.sampled_from([1.0, 0.99, 0.9, 0.5, 0.1]),
    payload=st.sampled_from([4096, 1500, 256]),
    ack_bytes=st.sampled_from([64, 512]),
    rate=st.sampled_from([800.0, 100.0, 333.0]),
    delay=st.sampled_from([500.0, 50.0, 5000.0]),
    acks=st.booleans(),
    seed=st.integers(0, 1 << 30),
)
def test_every_run__takes_the_floor_at_least(  # noqa: PLR0917 - hypothesis passes names
    tmp_path: Path,
    scheme: str,
    topology: Any,
    work: dict[str, Any],
    size: int,
    load: float,
    payload: int,
    ack_bytes: int,
    rate: float,
    delay: float,
    acks: bool,  # noqa: FBT001
    seed: int,
) -> None:
    assume(topology == "fat-tree" or work["workload"] != "interpod")
    assume(size >= 16 or work["workload"] not in CHUNKED)
    scenario = Scenario(
        scheme=scheme,
        topology=topology,
        message_bytes=size,
        load=load,
        payload_bytes=payload,
        ack_bytes=ack_bytes,
        rate_gbps=rate,
        delay_ns=delay,
        acks=acks or hosts.entropy(schemes.find(scheme).entropy).needs_ecn,
        seed=seed,
        **work,
    )
    check(scenario, tmp_path)


SPLIT = Scenario(scheme="ethereal", message_bytes=4096)
RING = Scenario(
    k=6, workload="ring", workload_options={"placement": "random"}, message_bytes=300_001
)
EXPERTS = Scenario(k=8, workload="moe", workload_options={"server": 4}, message_bytes=65_536)


@pytest.mark.parametrize(
    "scenario",
    [
        SPLIT,
        replace(SPLIT, message_bytes=8192, load=0.5),
        replace(RING, scheme="rsq"),
        RING,
        replace(EXPERTS, topology="leaf-spine", k=4, load=0.5, workload_options={"server": 2}),
        replace(EXPERTS, seed=732),
        replace(EXPERTS, seed=524),
    ],
    ids=lambda scenario: f"{scenario.scheme}-{scenario.workload}-{scenario.seed}-{scenario.load}",
)
def test_runs_that_a_former_floor_refused__are_valid(scenario: Scenario, tmp_path: Path) -> None:
    check(scenario, tmp_path)
