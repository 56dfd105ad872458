"""Result folders made up for tests: plausible numbers that no world has produced."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from testbed.scenario import FIELDS, Scenario, to_toml
from testbed.scenario.files import ARRIVAL_COLUMNS, FLOW_COLUMNS, LINK_COLUMNS, QUEUE_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

DATA_NS, SLOT_NS = 41.58, 41.78
SCENARIO: dict[str, Any] = {field.name: field.default for field in FIELDS} | {
    "workload": "interpod"
}


def write_run(folder: Path, *, delay: float = 0.0, world: str = "virtual", **changes: Any) -> Path:
    """Write a run whose flows end `delay` microseconds after the bound, in all files there are."""
    scenario = SCENARIO | changes
    rng = np.random.default_rng(scenario["seed"])
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(to_toml(Scenario(**scenario)), encoding="utf-8")
    flows = _flows(scenario, delay, rng)
    flows.to_csv(folder / "flows.csv", index=False)
    links = _links(scenario, delay, world, rng)
    links.to_csv(folder / "links.csv", index=False)
    _arrivals(flows).to_csv(folder / "arrivals.csv", index=False)
    _queues(links, float(flows["finish_ns"].max()), rng, folder)
    manifest = _manifest(scenario, world, int(links["packets"].sum()))
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def change_manifest(folder: Path, **changes: Any) -> None:
    """Overwrite keys of a run's manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(manifest), encoding="utf-8")


def change_table(path: Path, **columns: Any) -> None:
    """Overwrite columns of one of a run's tables."""
    table = pd.read_csv(path)
    table.assign(**columns).to_csv(path, index=False)


def _flows(scenario: dict[str, Any], delay: float, rng: np.random.Generator) -> pd.DataFrame:
    half = scenario["k"] // 2
    hosts = 2 * half**3
    packets = -(-scenario["message_bytes"] // 4096)
    start = rng.random(hosts) * SLOT_NS
    start -= start.min()
    in_turn = max(0, packets - 78)
    sent = start + packets * SLOT_NS + in_turn * 0.84
    late = 1000 * delay * rng.random(hosts)
    late[0] = 1000 * delay
    delivered = sent + 3000 + 5 * DATA_NS + late
    flows = pd.DataFrame(
        {
            "flow": np.arange(hosts),
            "src": np.arange(hosts),
            "dst": (np.arange(hosts) + half**2) % hosts,
            "bytes": scenario["message_bytes"],
            "packets": packets,
            "subflows": 1,
            "start_ns": start,
            "delivered_ns": delivered,
            "finish_ns": delivered + 3000 + 6 * 0.64 + 0.2,
            "not_before_ns": 0.0,
            "after": "",
            "delay_ns": 0.0,
            "phase": "",
            **dict.fromkeys(("lost", "retransmitted", "duplicates", "timeouts", "marks"), 0),
        }
    )
    return flows.reindex(columns=list(FLOW_COLUMNS), fill_value=0).round(3)


def _arrivals(flows: pd.DataFrame) -> pd.DataFrame:
    """Spread each flow's frames evenly until its delivery."""
    rows = -(-int(flows["delivered_ns"].max()) // 1000)
    middle = (np.arange(rows) + 0.5) * 1000
    first = flows["delivered_ns"] - flows["packets"] * SLOT_NS
    busy = sum(
        (middle > a) & (middle < b) for a, b in zip(first, flows["delivered_ns"], strict=True)
    )
    data = np.asarray(busy) * 1000 * 4158 / SLOT_NS
    arrivals = pd.DataFrame({"time_ns": middle - 500, "data_bytes": data, "ack_bytes": data / 65})
    return arrivals.astype(ARRIVAL_COLUMNS)


def _cables(k: int) -> list[tuple[str, int, str, str]]:
    """List the directed links of a fat tree: node, port, peer, stage."""
    half = k // 2
    up = []
    for pod in range(k):
        for edge in range(half):
            for i in range(half):
                host = f"h{(pod * half + edge) * half + i}"
                up.append((host, 0, f"e{pod}_{edge}", i + 1, "H-E", "E-H"))
                up.append((f"e{pod}_{edge}", half + 1 + i, f"a{pod}_{i}", edge + 1, "E-A", "A-E"))
        for j in range(half):
            for i in range(half):
                core = f"c{i * half + j}"
                up.append((f"a{pod}_{j}", half + 1 + i, core, pod + 1, "A-C", "C-A"))
    directed = [(low, port, high, way) for low, port, high, _, way, _ in up]
    return directed + [(high, port, low, way) for low, _, high, port, _, way in up]


def _links(
    scenario: dict[str, Any], delay: float, world: str, rng: np.random.Generator
) -> pd.DataFrame:
    cables = pd.DataFrame(_cables(scenario["k"]), columns=["node", "port", "peer", "stage"])
    number = len(cables)
    packets = scenario["message_bytes"] // 4096
    down = cables["stage"].isin(["C-A", "A-E"]).to_numpy()
    data = packets + np.rint(20 * delay * rng.random(number) * np.where(down, 1, 0.1)).astype(int)
    longest = 2 + np.rint(20 * delay * rng.random(number) * np.where(down, 1, 0.2)).astype(int)
    mean = longest * 0.3 * rng.random(number)
    gaps = 0 if world == "virtual" else data - 1
    table = cables.assign(
        packets=2 * data,
        bytes=data * (4158 + 64),
        data_packets=data,
        data_bytes=data * 4158,
        ack_packets=data,
        drops=0,
        data_drops=0,
        ack_drops=0,
        trims=0,
        marks=0,
        busy_ns=data * SLOT_NS,
        max_queue_bytes=longest * 4158,
        max_queue_packets=longest,
        mean_queue_bytes=mean * 4158,
        mean_queue_packets=mean,
        sending_queue_bytes=mean * 4158,
        sending_queue_packets=mean,
        gaps=gaps,
        gaps_within_10pct=gaps,
        gaps_within_25pct=gaps,
        gaps_within_frame=gaps,
        late_max_ns=0.0,
    )
    return table[list(LINK_COLUMNS)]


def _queues(links: pd.DataFrame, end_ns: float, rng: np.random.Generator, folder: Path) -> None:
    frames = []
    times = np.linspace(0, end_ns, 60)
    for _, link in links[links["stage"] != "H-E"].iterrows():
        shape = np.clip(np.minimum(times, end_ns - times) / end_ns * 2, 0, 1)
        longest = float(link["max_queue_packets"])
        queued = np.rint(longest * shape * rng.random(len(times))).astype(int)
        frames.append(
            pd.DataFrame(
                {
                    "time_ns": times,
                    "node": link["node"],
                    "port": link["port"],
                    "stage": link["stage"],
                    "queue_bytes": queued * 4158,
                    "queue_packets": queued,
                }
            )
        )
    table = pd.concat(frames)[list(QUEUE_COLUMNS)].sort_values("time_ns", kind="stable")
    with gzip.open(folder / "queues.csv.gz", "wt", encoding="utf-8") as out:
        table.round(3).to_csv(out, index=False)


def _manifest(scenario: dict[str, Any], world: str, packets: int) -> dict[str, Any]:
    real = world != "virtual"
    return {
        "world": world,
        "scheme": scenario["scheme"],
        "seed": scenario["seed"],
        "dilation": 20_000.0 if real else 1.0,
        "versions": {"python": "3", "gcc": "12"},
        "commit": "0000000",
        "machine": "made up",
        "wall_seconds": 1.5,
        "ended": "done",
        "conservation": {"sent": packets, "delivered": packets, "dropped": {}, "left": 0},
        "noise_packets": 0,
        "processor_share": {"switches": 0.4, "hosts": 0.2} if real else {},
        "pacing": {"h0": {"late_p99_ns": 5.0, "offered": 1.0, "achieved": 0.999}} if real else {},
        "start_skew_ns": SLOT_NS if real else 0.0,
    }
