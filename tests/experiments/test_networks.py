"""Networks of the user's own, of any shape: no run is below the floor, and every packet is counted.

The floor has to be of use as well: where uplinks are few it is what they need, and schemes that
spread evenly come near it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from analysis import metrics
from analysis.fidelity import judge
from analysis.floor import floor
from analysis.messages import messages_of
from analysis.results import Run, read_paths, read_run
from errors import UserError
from testbed import hosts, schemes, virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.scenario.shape import Shape

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
    planes = draw(st.sampled_from([1, 1, 2, 3]))
    several: dict[str, Any] = {}
    if planes > 1:
        counts["planes"] = planes
        several["spread"] = draw(st.sampled_from(["stripe", "rotate", "rail"]))
    if draw(st.booleans()):
        counts |= {"spines": draw(size)}
        own = draw(speeds(("edge",), ("e0_1-c0",), hosts_of(counts, 1)))
        return {"topology": "leaf-spine", "network": counts | own, **several}
    counts |= {"pods": draw(st.integers(2, 4)), "aggregations": draw(st.integers(1, 3))}
    counts |= {"edges": draw(st.integers(1, 3)), "cores": counts["aggregations"] * draw(size)}
    links = ("e0_0-a0_0", "a1_0-c0")
    own = draw(speeds(("edge", "core"), links, hosts_of(counts, counts["pods"])))
    return {"topology": "fat-tree", "network": counts | own, **several}


def hosts_of(counts: dict[str, int], pods: int) -> tuple[str, ...]:
    """List the links of all hosts of the first plane."""
    edges = [f"e{pod}_{edge}" for pod in range(pods) for edge in range(counts["edges"])]
    hosts = range(len(edges) * counts["hosts"])
    return tuple(f"h{host}-{edges[host // counts['hosts']]}" for host in hosts)


@st.composite
def speeds(
    draw: st.DrawFn, tiers: tuple[str, ...], links: tuple[str, ...], hosts: tuple[str, ...]
) -> dict[str, float]:
    """Draw rates and delays for some tiers and links; half of the networks have none."""
    if draw(st.booleans()):
        return {}
    rates = st.sampled_from([50.0, 100.0, 333.0, 800.0, 1600.0])
    delays = st.sampled_from([5.0, 50.0, 500.0, 3000.0])
    any_of_them = st.sampled_from((*tiers, *links)) | st.sampled_from(hosts)
    names = st.lists(any_of_them, unique=True, max_size=12)
    return {
        **{f"rate_gbps.{name}": draw(rates) for name in draw(names)},
        **{f"delay_ns.{name}": draw(delays) for name in draw(names)},
    }


@st.composite
def unequal_networks(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the fields of a scenario of a network with some switch of unequal ports up and down."""
    size, several = st.integers(1, 4), st.integers(2, 4)
    hosts, edges = draw(size), draw(several)
    if draw(st.booleans()):
        spines = draw(several.filter(lambda spines: spines != hosts))
        counts = {"edges": edges, "hosts": hosts, "spines": spines}
        return {"topology": "leaf-spine", "network": counts}
    aggregations, above = draw(st.integers(1, 3)), draw(size)
    assume((hosts, edges) != (aggregations, above))
    counts = {"pods": draw(several), "edges": edges, "hosts": hosts}
    counts |= {"aggregations": aggregations, "cores": aggregations * above}
    return {"topology": "fat-tree", "network": counts}


def can_run(scenario: Scenario) -> bool:
    """Tell whether a scheme's program knows the rates, and rails leave messages between hosts."""
    try:
        plan_for(scenario)
    except UserError as error:
        if not re.search("one rate for all|no message between hosts", str(error)):
            raise
        return False
    return True


def measured(scenario: Scenario, folder: Path) -> Run:
    virtual.run(plan_for(scenario), folder, threads=1, sample_ps=0)
    return read_run(folder)


@profile(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    network=networks(),
    scheme=st.sampled_from(schemes.names()),
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
    assume(scenario.shape.hosts_per_plane > 1)
    assume(can_run(scenario))
    run = measured(scenario, tmp_path)
    lowest = floor(run.scenario, messages_of(run.scenario, run.steps)) / 1000
    assert lowest <= metrics.cct_us(run) + 1e-9
    assert judge(run).verdict == "VALID"
    assert metrics.cct_increase(run) >= -1e-12
    counts = run.manifest["conservation"]
    assert counts["sent"] == counts["delivered"]
    assert counts["delivered"] == run.flows["packets"].sum() * (1 + scenario.acks)
    assert 0 < metrics.utilisation(run) <= 1 + 1e-9


@profile(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    network=unequal_networks(),
    scheme=st.sampled_from(["conga", "sglb"]),
    seed=st.integers(0, 1 << 30),
)
def test_schemes_that_measure_ports_down__use_every_path_of_an_unequal_network(
    tmp_path: Path, network: dict[str, Any], scheme: str, seed: int
) -> None:
    packets = 400 // int(network["network"]["hosts"]) ** 2  # times pairs of hosts of two edges
    scenario = Scenario(
        scheme, workload="all-to-all", message_bytes=packets * 4096, seed=seed, **network
    )
    virtual.run(plan_for(scenario), tmp_path, threads=1)
    run = read_run(tmp_path)
    counts = run.manifest["conservation"]
    assert counts["sent"] == counts["delivered"] == 2 * run.flows["packets"].sum()
    shape, ways = scenario.shape, read_paths(tmp_path).merge(run.flows, on="flow")
    nodes_used: dict[tuple[int, int], set[str]] = defaultdict(set)
    for source, destination, node in zip(ways["src"], ways["dst"], ways["node"], strict=True):
        edges = (source // shape.hosts_per_edge, destination // shape.hosts_per_edge)
        nodes_used[edges].add(node)
    assert len(nodes_used) >= shape.edges * (shape.edges - 1)
    for edges, used in nodes_used.items():
        assert turning_points(shape, *edges) <= used


def turning_points(shape: Shape, source: int, destination: int) -> set[str]:
    """Return the switches that turn paths between two edges downwards, one for each path."""
    if source == destination:
        return set()
    pod = source // shape.edges_per_pod
    if shape.levels == 3 and pod == destination // shape.edges_per_pod:
        return {f"a{pod}_{number}" for number in range(shape.edge_uplinks)}
    return {f"c{number}" for number in range(shape.paths)}


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


@pytest.mark.parametrize("own", ["rate_gbps.h1-e0_0", "delay_ns.h1-e0_0"])
def test_one_slow_host_among_fast_ones__has_a_floor_near_what_it_takes(
    own: str, tmp_path: Path
) -> None:
    """What it sends and receives is all there is to wait for: data, and a few ACKs between."""
    value = 20.0 if own.startswith("rate") else 90_000.0
    counts = {"edges": 3.0, "hosts": 3.0, "spines": 3.0, own: value}
    run = measured(Scenario("ofan", topology="leaf-spine", network=counts), tmp_path)
    assert metrics.cct_us(run) > (400 if value == 20 else 180)
    assert 0 <= metrics.cct_increase(run) < 0.03
    assert metrics.utilisation(run) > 0.1


def test_one_packet__takes_what_each_link_on_its_way_takes(tmp_path: Path) -> None:
    """A full frame of 4,158 B and an ACK of 64 B over links of 100, 200, 400, 800, 200, 100 Gb/s.

    There is one path; two of its links have rates or delays of their own.
    """
    network = {
        "pods": 2.0, "edges": 1.0, "hosts": 1.0, "aggregations": 1.0, "cores": 1.0,
        "rate_gbps.edge": 200.0, "rate_gbps.core": 400.0, "rate_gbps.a1_0-c0": 800.0,
        "delay_ns.core": 900.0, "delay_ns.a1_0-e1_0": 70.0,
    }  # fmt: skip
    message = tmp_path / "one.csv"
    message.write_text("src,dst,bytes\n0,1,4096\n", encoding="utf-8")
    scenario = Scenario("ofan", network=network, rate_gbps=100, delay_ns=300, workload=str(message))
    run = measured(scenario, tmp_path / "run")
    delays = 300 + 300 + 900 + 900 + 70 + 300
    per_byte = sum(8 / rate for rate in (100, 200, 400, 800, 200, 100))
    taken = 2 * delays + (4096 + 62 + 64) * per_byte
    assert metrics.cct_us(run) * 1000 == pytest.approx(taken, abs=0.01)
    assert floor(run.scenario, messages_of(run.scenario, run.steps)) <= taken
    busy = run.links.set_index(["node", "peer"])["busy_ns"]
    assert busy["a1_0", "c0"] == pytest.approx(64 * 8 / 800, abs=0.001)
    assert busy["c0", "a1_0"] == pytest.approx(4158 * 8 / 800, abs=0.001)


def test_slow_cores__are_what_the_increase_is_measured_against(tmp_path: Path) -> None:
    network = {**OVERSUBSCRIBED, "cores": 4.0, "rate_gbps.core": 400.0}
    run = measured(Scenario("ofan", network=network, workload="interpod"), tmp_path)
    eight_messages = 8 * (1 << 20) * 8 / (4 * 400)
    assert metrics.cct_us(run) * 1000 > eight_messages
    assert metrics.cct_increase(run) < 0.03
