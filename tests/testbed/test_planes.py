"""Networks of several planes in virtual time, against networks of one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from analysis.fidelity import judge
from analysis.results import read_run
from testbed import schemes, virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.results import Run
    from testbed.scenario.scenario import SpreadName

TREE = {"pods": 4.0, "edges": 2.0, "hosts": 2.0, "aggregations": 2.0, "cores": 4.0}
LEAVES = {"edges": 4.0, "hosts": 2.0, "spines": 2.0}
TIMES = ["start_ns", "delivered_ns", "finish_ns"]


def measured(scenario: Scenario, folder: Path, threads: int = 1) -> Run:
    virtual.run(plan_for(scenario), folder, threads=threads, sample_ps=0)
    return read_run(folder)


def planes(network: dict[str, float], number: int) -> dict[str, float]:
    return {"planes": float(number), **network}


@pytest.mark.parametrize("scheme", ["drb", "ethereal"])  # nothing of them depends on the switch
def test_one_plane_of_several__is_as_if_it_were_alone(tmp_path: Path, scheme: str) -> None:
    alone = Scenario(scheme=scheme, network=TREE, message_bytes=100_000)
    among = replace(alone, network=planes(TREE, 3), spread="rotate")  # one message a host: plane 0
    expected = measured(alone, tmp_path / "alone").flows[TIMES]
    pd.testing.assert_frame_equal(measured(among, tmp_path / "among").flows[TIMES], expected)


def test_stripe__gives_each_plane_the_same_packets(tmp_path: Path) -> None:
    scenario = Scenario(scheme="ofan", network=planes(TREE, 2), message_bytes=16 * 4096)
    links = measured(scenario, tmp_path).links
    cores = links[links["stage"] == "C-A"]
    first = cores["node"].isin(["c0", "c1", "c2", "c3"])
    assert cores[first]["data_packets"].sum() == cores[~first]["data_packets"].sum() > 0


@pytest.mark.parametrize("scheme", schemes.names())
@pytest.mark.parametrize("spread", ["stripe", "rotate", "rail"])
def test_every_scheme__delivers_in_each_plane(
    tmp_path: Path, scheme: str, spread: SpreadName
) -> None:
    network = LEAVES if spread == "rotate" else TREE
    scenario = Scenario(
        scheme=scheme,
        topology="leaf-spine" if spread == "rotate" else "fat-tree",
        network=planes(network, 2),
        workload="all-to-all",
        message_bytes=10_000,
        spread=spread,
    )
    run = measured(scenario, tmp_path)
    verdict = judge(run)
    assert verdict.verdict == "VALID", verdict.reason
    counts = run.manifest["conservation"]
    assert counts["sent"] == counts["delivered"] == 2 * run.flows["packets"].sum()
    used = run.links[run.links["data_packets"] > 0]
    assert {"c0", f"c{scenario.shape.cores - 1}"} <= set(used["node"])


@pytest.mark.parametrize("spread", ["stripe", "rotate", "rail"])
def test_nothing_begins_before_what_it_waits_for__at_whichever_nic(
    tmp_path: Path, spread: SpreadName
) -> None:
    scenario = Scenario(
        scheme="ofan",
        network=planes(TREE, 2),
        workload="ring",
        message_bytes=1 << 20,
        spread=spread,
    )
    steps = measured(scenario, tmp_path / "one").steps
    pd.testing.assert_frame_equal(steps, measured(scenario, tmp_path / "two", threads=2).steps)
    source, destination = steps["src"].to_numpy(), steps["dst"].to_numpy()
    start, delivered = steps["start_ns"].to_numpy(), steps["delivered_ns"].to_numpy()
    awaited = [(row, int(each)) for row, text in enumerate(steps["after"]) for each in text.split()]
    rows, before = np.array(awaited).T
    received = source[rows] % 16 == destination[before] % 16
    assert (received | (source[rows] % 16 == source[before] % 16)).all()
    rows, before = rows[received], before[received]
    assert (start[rows] >= delivered[before]).all()
    crossing = (source[rows] != destination[before]).any()
    assert crossing or spread == "rail"
