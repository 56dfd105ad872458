"""Plans run in virtual time end to end: P4 programs, hosts, results."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.fidelity import judge
from analysis.metrics import cct_us
from analysis.results import read_queues, read_run
from errors import UserError
from testbed import virtual
from testbed.planning import make_plan, plan_for
from testbed.scenario import Scenario, from_toml
from testbed.virtual.memory import check_memory, memory_needed
from traffic.flows import Flows
from traffic.waits import waits_for_one

FILES = {
    "scenario.toml",
    "manifest.json",
    "flows.csv",
    "links.csv",
    "arrivals.csv",
    "paths.csv.gz",
    "queues.csv.gz",
}


def pair(scheme: str, k: int = 4) -> Scenario:
    return Scenario(scheme=scheme, k=k)


@pytest.mark.parametrize("scheme", ["ofan", "ecmp", "drb", "ethereal", "reps"])
def test_lone_pair__meets_the_papers_bound(tmp_path: Path, scheme: str) -> None:
    """The first host and the last, one message each way: LB - Tg (paper App. A)."""
    scenario = pair(scheme)
    ends = np.array([0, 15])
    plan = make_plan(scenario, Flows.of(ends, ends[::-1], np.full(2, scenario.message_bytes)))
    outcome = virtual.run(plan, tmp_path)
    assert outcome.ended == "done"
    cct = cct_us(read_run(tmp_path))
    assert 17.05674 - 1e-6 <= cct < 17.05674 * 1.005


def test_permutation__gives_a_valid_folder(tmp_path: Path) -> None:
    scenario = Scenario(scheme="ofan", message_bytes=1 << 18)
    virtual.run(plan_for(scenario), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert from_toml(tmp_path / "scenario.toml") == scenario
    run = read_run(tmp_path)
    verdict = judge(run)
    assert verdict.verdict == "VALID", verdict.reason
    assert run.flows["start_ns"].min() == 0
    assert (run.flows["finish_ns"] > run.flows["delivered_ns"]).all()
    queues = read_queues(tmp_path)
    biggest = queues.groupby(["node", "port"])["queue_bytes"].max()
    links = run.links.set_index(["node", "port"])["max_queue_bytes"]
    assert (biggest <= links.loc[biggest.index]).all()
    assert biggest.max() == links.max()


def test_same_seed__gives_the_same_bytes_for_any_threads(tmp_path: Path) -> None:
    plan = plan_for(Scenario(scheme="rsq", k=6, message_bytes=100_000))
    for name, threads in (("one", 1), ("again", 1), ("two", 2)):
        virtual.run(plan, tmp_path / name, threads=threads)
    for name in FILES - {"manifest.json"}:
        first = (tmp_path / "one" / name).read_bytes()
        assert (tmp_path / "again" / name).read_bytes() == first
        assert (tmp_path / "two" / name).read_bytes() == first


def test_other_seed__gives_another_run(tmp_path: Path) -> None:
    for seed in (1, 2):
        plan = plan_for(Scenario(scheme="rsq", message_bytes=100_000, seed=seed))
        virtual.run(plan, tmp_path / str(seed))
    one, other = ((tmp_path / seed / "flows.csv").read_bytes() for seed in ("1", "2"))
    assert one != other


@pytest.mark.parametrize("scheme", ["drb", "ofan", "pofan"])
def test_rotation__keeps_edge_uplinks_within_its_bound(tmp_path: Path, scheme: str) -> None:
    """At most w + 1 packets (paper App. D, F.4, H)."""
    scenario = Scenario(scheme=scheme, k=8, acks=False, message_bytes=1 << 19)
    virtual.run(plan_for(scenario), tmp_path)
    links = read_run(tmp_path).links
    uplinks = links[links["stage"] == "E-A"]
    assert 1 <= uplinks["max_queue_packets"].max() <= 4 + 1


def test_dependent_flows__wait_in_the_fabric(tmp_path: Path) -> None:
    hosts = np.array([0, 5, 10, 15])
    after = waits_for_one(np.array([-1, 0, 1]))
    chain = Flows.of(hosts[:-1], hosts[1:], np.full(3, 50_000), after=after)
    virtual.run(make_plan(Scenario(scheme="ofan"), chain), tmp_path)
    flows = read_run(tmp_path).flows
    assert (flows["start_ns"].to_numpy()[1:] >= flows["delivered_ns"].to_numpy()[:-1]).all()


def test_small_buffers__lose_frames_and_leave_the_run_stuck(tmp_path: Path) -> None:
    scenario = Scenario(scheme="ecmp", buffer_bytes=20_000, message_bytes=1 << 19)
    outcome = virtual.run(plan_for(scenario), tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert outcome.ended == manifest["ended"] == "stuck"
    assert manifest["conservation"]["dropped"]["queue"] > 0
    assert "flows wait" in manifest["message"]
    assert read_run(tmp_path).flows["finish_ns"].isna().any()


def test_interrupt__leaves_what_there_is(tmp_path: Path) -> None:
    def interrupt(_share: float) -> None:
        raise KeyboardInterrupt

    plan = plan_for(Scenario(scheme="ofan"))
    with pytest.raises(KeyboardInterrupt):
        virtual.run(plan, tmp_path, progress=interrupt)
    assert read_run(tmp_path).manifest["ended"] == "interrupted"


def test_progress__ends_at_one(tmp_path: Path) -> None:
    shares: list[float] = []
    plan = plan_for(Scenario(scheme="ofan", message_bytes=50_000))
    virtual.run(plan, tmp_path, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_memory__is_asked_for_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_for(Scenario(scheme="ofan"))
    assert 100e6 < memory_needed(plan) < 1e9
    check_memory(plan)
    monkeypatch.setattr("testbed.virtual.memory.available", lambda: 1000)
    with pytest.raises(UserError, match="k = 4 with 16 hosts needs about"):
        check_memory(plan)


def test_samples__are_fewer_for_larger_networks() -> None:
    small = plan_for(Scenario(scheme="ofan"))
    large = plan_for(Scenario(scheme="ofan", k=32))
    assert virtual.suitable_sample_ps(small) == 100_000
    assert virtual.suitable_sample_ps(large) == 0
    assert virtual.suitable_threads(small) == 1


@pytest.mark.parametrize("recovery", ["selective", "none"])
def test_link_that_fails_in_a_run__is_recovered_from(tmp_path: Path, recovery: str) -> None:
    """Frames are lost until the control plane reacts; with recovery they arrive all the same."""
    scenario = Scenario(
        scheme="ofan",
        recovery=recovery,
        link_events=("10:a0_0-e0_0:down", "11:c1-a2_1:down"),
        reaction_us=5.0,
    )
    outcome = virtual.run(plan_for(scenario), tmp_path)
    run = read_run(tmp_path)
    assert run.manifest["conservation"]["dropped"]["down"] > 0
    flows = run.flows
    if recovery == "none":
        assert outcome.ended == "stuck"
        return
    assert outcome.ended == "done"
    assert flows["retransmitted"].sum() > 0
    down = run.links[(run.links["node"] == "e0_0") & (run.links["peer"] == "a0_0")]
    other = run.links[(run.links["node"] == "e0_0") & (run.links["peer"] == "a0_1")]
    assert down["drops"].sum() > 0
    assert other["packets"].sum() > 1.2 * down["packets"].sum(), "the survivor takes over"


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("10:e0_0-a0_0", "write TIME:NODE-NODE:down"),
        ("x:e0_0-a0_0:down", "write TIME"),
        ("10:e0_0-a1_0:down", "no such link"),
        ("-1:e0_0-a0_0:down", "the time is"),
    ],
)
def test_wrong_link_event__is_named(tmp_path: Path, event: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        virtual.run(plan_for(Scenario(link_events=(event,))), tmp_path)
