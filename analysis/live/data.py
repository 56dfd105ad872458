"""What the living part of the page knows of comparable runs: network, queues over time, ways."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from analysis.metrics import cct_us
from analysis.results import read_paths, read_queues
from testbed.scenario import variant
from testbed.scenario.files import PATHS, QUEUES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from analysis.figures.style import Look
    from analysis.results import Run
    from testbed.scenario import Scenario

WHOLE_HOSTS = 128  # networks of more hosts, or of more ports between switches, are folded
WHOLE_LINKS = 256
FRAMES = 160  # moments that the clock shows
MOST_SCHEMES = 8
MOST_FLOWS = 20_000  # of all runs: beyond, ways are left out
NODE = re.compile(r"([heac])(\d+)(?:_(\d+))?")
TIERS = {"h": 0, "e": 1, "a": 2, "c": 3}


@dataclass(frozen=True, slots=True)
class Place:
    """A node as it is drawn: its name, its tier from below, and its place in the tier's order."""

    name: str
    tier: int
    order: int


def embedded(runs: Sequence[Run], looks: Mapping[str, Look]) -> str:
    """Return what the page needs of comparable runs, as compressed JSON in base64; '' if nothing.

    Each scheme is shown by its first run that has a queue time series.
    """
    shown: dict[str, tuple[Run, pd.DataFrame]] = {}
    for run in runs:
        name, there = variant(run.scenario), (run.folder / QUEUES).exists()
        if there and name not in shown and len(shown) < MOST_SCHEMES:
            samples = read_queues(run.folder)
            if len(samples):
                shown[name] = (run, samples)
    if not shown:
        return ""
    chosen = [(look, *shown[name]) for name, look in looks.items() if name in shown]
    text = json.dumps(_content(chosen), separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")


def _content(chosen: Sequence[tuple[Look, Run, pd.DataFrame]]) -> dict[str, Any]:
    first = chosen[0][1]
    places = {
        name: place_of(name, first.scenario)
        for name in dict.fromkeys([*first.links["node"], *first.links["peer"]])
    }
    drawn = sorted(set(places.values()), key=lambda place: (place.tier, place.order))
    number = {place: at for at, place in enumerate(drawn)}
    ends = [
        (number[places[node]], number[places[peer]])
        for node, peer in zip(first.links["node"], first.links["peer"], strict=True)
    ]
    links = sorted(set(ends))
    end_us = max(cct_us(run) for _, run, _ in chosen)
    with_ways = sum(len(run.flows) for _, run, _ in chosen) <= MOST_FLOWS
    return {
        "folded": folded(first.scenario),
        "nodes": [[place.name, place.tier, place.order] for place in drawn],
        "links": [list(link) for link in links],
        "times": [round(end_us * at / FRAMES, 4) for at in range(FRAMES + 1)],
        "runs": [
            {
                "label": look.label,
                "color": look.color,
                "run": run.name,
                "cct": round(cct_us(run), 4),
                "queues": _queues(samples, _rows(run, ends, links), len(links), end_us),
                "busy": _busy(run, ends, links),
                "flows": _flows(run) if with_ways else [],
                "ways": _ways(run, ends, links) if with_ways else {},
            }
            for look, run, samples in chosen
        ],
    }


def folded(scenario: Scenario) -> bool:
    """Tell whether a network is too large to be drawn node by node."""
    shape = scenario.shape
    links = (shape.switch_ports - shape.hosts) // 2
    return shape.hosts > WHOLE_HOSTS or links > WHOLE_LINKS


def place_of(name: str, scenario: Scenario) -> Place:
    """Return where a node is drawn: itself, or what it is folded into in a large network."""
    match = NODE.fullmatch(name)
    assert match, name
    kind, first = match[1], int(match[2])
    second = int(match[3] or 0)
    tier, shape = TIERS[kind], scenario.shape
    in_pod = shape.edges_per_pod if kind == "e" else shape.edge_uplinks
    order = first if kind in "hc" else first * in_pod + second
    if not folded(scenario):
        return Place(name, tier, order)
    if shape.levels == 2:
        leaves, spines = max(shape.edges // 8, 1), max(shape.cores // 4, 1)
        edge = order // shape.hosts_per_edge if kind == "h" else order
        group = order // spines if kind == "c" else edge // leaves
        return Place(f"{_WORDS[kind]}, group {group}", tier, group)
    group = {"h": order // shape.hosts_per_pod, "c": order // shape.edge_uplinks}.get(kind, first)
    of = "group" if kind == "c" else "pod"
    return Place(f"{_WORDS[kind]}, {of} {group}", tier, group)


_WORDS = {"h": "hosts", "e": "edge switches", "a": "aggregation switches", "c": "core switches"}


def _rows(run: Run, ends: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]]) -> pd.Series:
    """Return the drawn link of each port, by node and port."""
    place = {link: at for at, link in enumerate(links)}
    keys = pd.MultiIndex.from_frame(run.links[["node", "port"]])
    return pd.Series([place[end] for end in ends], index=keys)


def _queues(samples: pd.DataFrame, rows: pd.Series, links: int, end_us: float) -> list[list[float]]:
    """Return for each drawn link its changes: frame, KB, frame, KB… of its longest queue."""
    keys = pd.MultiIndex.from_frame(samples[["node", "port"]])
    port = pd.factorize(keys)[0]
    frame = np.ceil(samples["time_ns"].to_numpy() / 1000 / end_us * FRAMES).clip(0, FRAMES)
    table = pd.DataFrame(
        {"port": port, "frame": frame.astype(int), "size": samples["queue_bytes"].to_numpy()}
    )
    levels = np.zeros((port.max(initial=-1) + 1, FRAMES + 1))
    _hold(levels, table.groupby(["port", "frame"])["size"].agg(["max", "last"]).reset_index())
    first = np.unique(port, return_index=True)[1]
    link = rows.loc[keys[first]].to_numpy() if len(first) else np.zeros(0, dtype=int)
    longest = np.zeros((links, FRAMES + 1))
    np.maximum.at(longest, link, levels)
    return [_changes(series / 1000) for series in longest]


def _hold(levels: NDArray[np.float64], changes: pd.DataFrame) -> None:
    """Fill in frames: the longest queue of a frame with samples, else what was sampled last."""
    ports = changes["port"].to_numpy()
    for port in np.unique(ports):
        own = changes[ports == port]
        at = own["frame"].to_numpy()
        places = np.searchsorted(at, np.arange(levels.shape[1]), side="right") - 1
        last = own["last"].to_numpy()
        levels[port] = np.where(places >= 0, last[places], 0)
        levels[port, at] = own["max"].to_numpy()


def _changes(series: NDArray[np.float64]) -> list[float]:
    rounded = np.round(series, 1)
    at = np.flatnonzero(np.diff(rounded, prepend=0.0))
    return [float(value) for pair in zip(at, rounded[at], strict=True) for value in pair]


def _busy(
    run: Run, ends: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]]
) -> list[float]:
    """Return the share of the CCT that each drawn link was sending, its ports' mean."""
    share = run.links["busy_ns"].to_numpy() / 1000 / cct_us(run)
    mean = pd.Series(share).groupby(_rows(run, ends, links).to_numpy()).mean()
    return [round(float(mean[at]), 4) for at in range(len(links))]


def _flows(run: Run) -> list[list[float]]:
    columns = run.flows[["flow", "src", "dst", "packets", "start_ns", "delivered_ns"]]
    return [
        [int(flow), int(src), int(dst), int(packets), round(start / 1000, 3), round(end / 1000, 3)]
        for flow, src, dst, packets, start, end in columns.itertuples(index=False)
    ]


def _ways(
    run: Run, ends: Sequence[tuple[int, int]], links: Sequence[tuple[int, int]]
) -> dict[str, list[int]]:
    """Return for each flow the drawn links it took and its data packets there: link, packets…."""
    if not (run.folder / PATHS).exists():
        return {}
    paths = read_paths(run.folder)
    link = _rows(run, ends, links).loc[pd.MultiIndex.from_frame(paths[["node", "port"]])]
    table = paths.assign(link=link.to_numpy()).groupby(["flow", "link"])["packets"].sum()
    found: dict[str, list[int]] = {}
    for flow, at, packets in table.reset_index().itertuples(index=False):
        found.setdefault(str(flow), []).extend((int(at), int(packets)))
    return found
