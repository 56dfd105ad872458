"""Traces of virtual runs, and the explanations read from them."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis import causes, explain
from analysis.causes import PACING, PROPAGATION, RETRANSMISSION, WINDOW
from analysis.results import read_run
from analysis.trace import Trace, read_trace
from errors import UserError
from testbed import schemes
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.virtual import run, trace
from traffic import workloads

EXAMPLES = int(os.environ.get("OFAN_EXAMPLES", "25"))
WORKLOADS = tuple(workload.name for workload in workloads.WORKLOADS)
OPTIONS: dict[str, dict[str, Any]] = {
    "training-step": {"server": 2, "parameters": 50_000, "tokens": 5, "tflops": 1}
}
"""Of workloads that do not go by the size of a message."""
LEAVES = {"planes": 2.0, "edges": 4.0, "hosts": 2.0, "spines": 2.0}
NETWORKS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"k": 6},
    {"topology": "leaf-spine"},
    {"topology": "leaf-spine", "k": 6},
    {"topology": "leaf-spine", "network": LEAVES},
    {"topology": "leaf-spine", "network": LEAVES, "spread": "rotate"},
    {"topology": "leaf-spine", "network": LEAVES, "spread": "rail"},
)

FAT_TREE = {"pods": 3.0, "edges": 2.0, "hosts": 2.0, "aggregations": 2.0, "cores": 4.0}
LEAF_SPINE = {"edges": 4.0, "hosts": 2.0, "spines": 3.0}
LINKS = {
    "fat-tree": ("h0-e0_0", "h7-e1_1", "e0_0-a0_0", "e2_1-a2_0", "a0_0-c0", "a1_1-c3"),
    "leaf-spine": ("h1-e0_0", "h6-e0_3", "e0_0-c0", "e0_2-c1"),
}
RATES, DELAYS = (50.0, 333.0, 400.0, 1600.0), (1.001, 37.5, 500.0, 2999.999)

TRANSPORTS: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"cca": "dctcp"},
    {"cca": "nscc", "ecn_bytes": 20_000},
    {"cca": "swift", "loss": 0.01},
    {"recovery": "go-back-n", "loss": 0.02},
    {"recovery": "selective", "buffer_bytes": 20_000},
    {"recovery": "selective", "buffer_bytes": 12_000, "trim": True, "ack_priority": True},
    {"recovery": "go-back-n", "buffer_bytes": 12_000, "trim": True},
)


def traced(scenario: Scenario, folder: Path) -> Trace:
    plan = plan_for(scenario)
    file = folder / "trace.npz"
    run(plan, folder, sample_ps=0, trace=lambda done: trace.write(file, plan, done))
    return read_trace(file)


@st.composite
def uneven(draw: st.DrawFn) -> dict[str, Any]:
    """Networks whose links differ in rate and delay, tier by tier and some one by one."""
    topology = draw(st.sampled_from(("fat-tree", "leaf-spine")))
    network = dict(FAT_TREE if topology == "fat-tree" else LEAF_SPINE)
    tiers = ("edge", "core") if topology == "fat-tree" else ("edge",)
    where = (*tiers, *draw(st.lists(st.sampled_from(LINKS[topology]), unique=True)))
    for kind, values in (("rate_gbps", RATES), ("delay_ns", DELAYS)):
        for each in where:
            if (value := draw(st.none() | st.sampled_from(values))) is not None:
                network[f"{kind}.{each}"] = value
    return {"topology": topology, "network": network}


@st.composite
def scenarios(
    draw: st.DrawFn,
    networks: st.SearchStrategy[dict[str, Any]] = st.sampled_from(NETWORKS),  # noqa: B008
) -> Scenario:
    workload, transport = draw(st.sampled_from(WORKLOADS)), draw(st.sampled_from(TRANSPORTS))
    return Scenario(
        scheme=draw(st.sampled_from(schemes.names())),
        seed=draw(st.integers(1, 1000)),
        **draw(networks),
        delay_ns=draw(st.sampled_from((500.0, 37.5, 3000.0))),
        rate_gbps=draw(st.sampled_from((800.0, 100.0, 333.0))),
        payload_bytes=draw(st.sampled_from((4096, 1000))),
        acks=draw(st.booleans()) or bool(transport),
        workload=workload,
        workload_options=OPTIONS.get(workload, {}),
        message_bytes=draw(st.integers(100, 60_000)),
        load=draw(st.sampled_from((1.0, 1.0, 0.9, 0.31))),
        failures=draw(st.sampled_from((0.0, 0.0, 0.05))),
        **transport,
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario=scenarios() | scenarios(uneven()), data=st.data())
def test_parts__cover_the_time_from_the_first_packet_to_a_flows_end(
    scenario: Scenario, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = traced(scenario, Path(folder))
        except UserError:
            return  # too few hosts, links cut off, REPS without ACKs
    if not len(found.ends):
        return
    delays = {
        found.link(place): delay
        for place, delay in enumerate(found.port_delay_ps.tolist())
        if found.port_peer[place] >= 0
    }
    flows = {int(found.ends.argmax()), data.draw(st.integers(0, len(found.ends) - 1))}
    for flow in flows:
        parts = causes.causes(found, flow)
        whole = int(found.ends[flow]) - found.first_ps
        assert sum(part.end - part.begin for part in parts) == max(whole, 0)
        assert all(part.end > part.begin for part in parts)
        assert all(one.end == other.begin for one, other in itertools.pairwise(parts))
        assert not parts or (parts[0].begin, parts[-1].end) == (found.first_ps, found.ends[flow])
        kinds = Counter(part.what for part in parts)
        if scenario.cca == "none" and scenario.recovery is None:
            assert not kinds[WINDOW] + kinds[RETRANSMISSION], "no host has windows, nothing is lost"
            assert found.load < 1 or not kinds[PACING]
        assert all(
            part.end - part.begin == delays[part.where]
            for part in parts
            if part.what == PROPAGATION and part.begin > found.first_ps
        )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario=scenarios(uneven()))
def test_start__is_when_a_frame_had_come_and_the_one_before_it_was_over(scenario: Scenario) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = traced(scenario, Path(folder))
        except UserError:
            return
    last = dict[int, int]()
    for row in range(min(len(found.hops), 20_000)):
        place = int(found.hops["place"][row])
        assert found.start(row) == max(int(found.arrived[row]), last.get(place, 0))
        last[place] = found.free(row)


@pytest.mark.parametrize("threads", [1, 3])
def test_hops__are_ordered_by_port_and_departure(threads: int, tmp_path: Path) -> None:
    found = list[Any]()
    run(
        plan_for(Scenario(scheme="rsq", message_bytes=100_000)),
        tmp_path,
        threads=threads,
        sample_ps=0,
        trace=lambda done: found.extend((done.hops(), done.hops())),
    )
    hops, more = found
    assert (hops == hops[np.lexsort((hops["departure_ps"], hops["place"]))]).all()
    assert len(hops) == read_run(tmp_path).links["packets"].sum()
    assert not len(more), "they are told once"


def test_trace__has_each_frame_at_each_port_as_links_csv_counts_them(tmp_path: Path) -> None:
    found = traced(Scenario(scheme="rsq", message_bytes=50_000), tmp_path)
    links = read_run(tmp_path).links
    counts = Counter(
        (found.owner(int(place)), int(found.port_number[place])) for place in found.hops["place"]
    )
    named = zip(links["node"], links["port"], links["packets"], strict=True)
    assert counts == Counter({(node, port): int(count) for node, port, count in named if count})


def test_queues_by_trace__are_the_longest_of_links_csv(tmp_path: Path) -> None:
    found = traced(Scenario(scheme="ecmp", message_bytes=100_000), tmp_path)
    links = read_run(tmp_path).links.set_index(["node", "port"])
    for place in np.unique(found.hops["place"]):
        rows = found.rows(int(place))
        hops = slice(rows.start, rows.stop)
        size = found.hops["bytes"][hops].astype(int)
        times = np.concatenate((found.departure[hops], found.arrived[hops]))
        changes = np.concatenate((-size, size))
        longest = np.cumsum(changes[np.lexsort((changes, times))]).max()
        key = (found.owner(int(place)), int(found.port_number[place]))
        assert longest == links.loc[key, "max_queue_bytes"]


def test_tracing__changes_nothing(tmp_path: Path) -> None:
    scenario = Scenario(scheme="reps", message_bytes=100_000)
    traced(scenario, tmp_path / "traced")
    run(plan_for(scenario), tmp_path / "plain", sample_ps=0)
    for name in ("flows.csv", "links.csv"):
        contents = [(tmp_path / each / name).read_bytes() for each in ("traced", "plain")]
        assert contents[0] == contents[1]


SLOW_CORE = FAT_TREE | {"rate_gbps.core": 333.0, "rate_gbps.h3-e0_1": 50.0, "delay_ns.core": 1500.0}


@pytest.mark.parametrize("fields", [{}, {"network": SLOW_CORE}])
def test_explain__names_what_was_in_the_way(fields: dict[str, Any], tmp_path: Path) -> None:
    scenario = Scenario(scheme="ecmp", message_bytes=1 << 18, **fields)
    run(plan_for(scenario), tmp_path, sample_ps=0)
    found = explain.explain(read_run(tmp_path))
    content = json.loads(explain.as_json(found))
    assert sum(part["ps"] for part in content["parts"]) == content["whole_ps"]
    assert content["whole_ns"] == pytest.approx(read_run(tmp_path).flows["finish_ns"].max())
    queued = [part for part in content["parts"] if part["what"] == "queueing"]
    assert queued
    assert all(part["behind"] for part in queued)
    ways = [hop["link"].split("→") for hop in content["last_packet"]]
    assert all(one[1] == other[0] for one, other in itertools.pairwise(ways))
    words = explain.in_words(found)
    assert f"Flow {content['flow']}, h{content['source']} → h{content['destination']}," in words
    assert queued[0]["where"] in words
    assert explain.drawn(found, tmp_path / "why").stat().st_size > 10_000


def test_record__refuses_a_run_that_does_not_come_out_again(tmp_path: Path) -> None:
    run(plan_for(Scenario(message_bytes=10_000)), tmp_path, sample_ps=0)
    flows = tmp_path / "flows.csv"
    flows.write_text(flows.read_text().replace("0,", "1,", 1))
    with pytest.raises(UserError, match="came out differently"):
        trace.record(tmp_path, tmp_path / "trace.npz")
    assert not (tmp_path / "trace.npz").exists()


def test_record__says_how_much_memory_a_trace_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("testbed.virtual.trace.available", lambda: 10**6)
    with pytest.raises(UserError, match="GB of memory"):
        trace.check_room(plan_for(replace(Scenario(), message_bytes=1 << 20)))
