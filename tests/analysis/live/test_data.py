"""What the page knows of runs: the same queues and ways that the result files have."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from analysis.figures.style import looks_of
from analysis.live.data import FRAMES, embedded, place_of
from analysis.results import read_paths, read_run
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import make_topology
from testbed.virtual import run

if TYPE_CHECKING:
    from pathlib import Path


def content_of(folder: Path, scenario: Scenario) -> dict[str, Any]:
    run(plan_for(scenario), folder)
    found = read_run(folder)
    packed = embedded([found], looks_of([found], {}))
    content: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return content


def test_embedded__has_the_longest_queue_and_all_packets(tmp_path: Path) -> None:
    content = content_of(tmp_path, Scenario(scheme="ecmp", message_bytes=1 << 19))
    found = read_run(tmp_path)
    assert len(content["links"]) == len(found.links) == 96
    (shown,) = content["runs"]
    assert len(content["times"]) == FRAMES + 1
    longest = max(max(link[1::2], default=0) for link in shown["queues"])
    assert longest == pytest.approx(found.links["max_queue_bytes"].max() / 1000, abs=0.1)
    paths = read_paths(tmp_path)
    assert sum(sum(way[1::2]) for way in shown["ways"].values()) == paths["packets"].sum()
    named = zip(found.links["node"], found.links["peer"], found.links["data_packets"], strict=True)
    for node, peer, packets in named:
        ends = [content["nodes"][end][0] for end in content["links"][0]]
        if ends == [node, peer]:
            carried = [way[1] for way in shown["ways"].values() if way[0] == 0]
            assert sum(carried) == packets


def test_embedded__large_networks_are_folded_by_pods(tmp_path: Path) -> None:
    scenario = Scenario(k=10, message_bytes=1 << 18)
    content = content_of(tmp_path, scenario)
    assert content["folded"]
    assert len(content["nodes"]) == 3 * scenario.k + scenario.k // 2
    assert len(content["links"]) == 2 * scenario.k * (2 + scenario.k // 2)
    found = read_run(tmp_path)
    ways = content["runs"][0]["ways"]
    assert sum(sum(way[1::2]) for way in ways.values()) == found.links["data_packets"].sum()


@pytest.mark.parametrize(("name", "k"), [("fat-tree", 4), ("fat-tree", 16), ("leaf-spine", 4),
                                         ("leaf-spine", 32)])  # fmt: skip
def test_place_of__fills_every_tier_without_holes(name: str, k: int) -> None:
    scenario = Scenario(topology="fat-tree" if name == "fat-tree" else "leaf-spine", k=k)
    places = {place_of(node.name, scenario) for node in make_topology(name, k).nodes}
    for tier in {place.tier for place in places}:
        orders = sorted(place.order for place in places if place.tier == tier)
        assert orders == list(range(len(orders)))


def test_embedded__runs_without_time_series_have_no_living_part(tmp_path: Path) -> None:
    run(plan_for(Scenario(message_bytes=10_000)), tmp_path, sample_ps=0)
    found = read_run(tmp_path)
    assert embedded([found], looks_of([found], {})) == ""
