"""Result files: one folder a run, the same files from all worlds (docs/architecture.md)."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from testbed.dataplane import NEVER
from testbed.topology import adjacency, stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from testbed.plan import Plan
    from testbed.topology import Topology

SCENARIO, MANIFEST, FLOWS, LINKS, QUEUES = (
    "scenario.toml",
    "manifest.json",
    "flows.csv",
    "links.csv",
    "queues.csv.gz",
)
FLOW_HEADER = "flow,src,dst,bytes,packets,start_ns,delivered_ns,finish_ns"
QUEUE_HEADER = "time_ns,node,port,stage,queue_bytes,queue_packets"
COUNTED = (
    "packets",
    "bytes",
    "data_packets",
    "data_bytes",
    "ack_packets",
    "drops",
    "marks",
)
LONGEST = ("max_queue_bytes", "max_queue_packets")
MEAN = ("mean_queue_bytes", "mean_queue_packets")
GAPS = ("gaps", "gaps_within_10pct", "gaps_within_25pct", "gaps_within_frame")
LINK_HEADER = ",".join(
    ("node", "port", "peer", "stage", *COUNTED, "busy_ns", *LONGEST, *MEAN, *GAPS, "late_max_ns")
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a world measured: the event core's records of all nodes, and its manifest's entries.

    `flows` are rows of dp_flow_record in flow order, `ports` of dp_port_record of all ports,
    `samples` of dp_sample. `manifest` holds what is known besides the scenario; `conservation`
    must be among its keys.
    """

    ended: str
    flows: NDArray[np.void]
    ports: NDArray[np.void]
    samples: NDArray[np.void]
    manifest: Mapping[str, Any] = field(default_factory=dict)


def begin(folder: Path, plan: Plan) -> None:
    """Make a run's folder with its scenario, before the run; raises OSError if it cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)
    (folder / SCENARIO).write_text(plan.scenario.to_toml(), encoding="utf-8")


def finish(folder: Path, plan: Plan, outcome: Outcome, world: str) -> None:
    """Write all that is known after a run; the manifest, which tells a finished run, comes last."""
    origin = first_departure_ps(outcome.flows)
    _write(folder / FLOWS, FLOW_HEADER, _flow_rows(plan, outcome.flows, origin))
    _write(folder / LINKS, LINK_HEADER, _link_rows(plan, outcome.ports))
    _write(folder / QUEUES, QUEUE_HEADER, _queue_rows(plan.topology, outcome.samples, origin))
    scenario = plan.scenario
    manifest = {
        "world": world,
        "scheme": scenario.scheme,
        "seed": scenario.seed,
        "ended": outcome.ended,
        **outcome.manifest,
    }
    text = json.dumps(manifest, indent=2) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def first_departure_ps(flows: NDArray[np.void]) -> int:
    """Return when the first packet left, in the world's paper time; 0 if none did."""
    started = flows["start_ps"][flows["start_ps"] != NEVER]
    return int(started.min()) if len(started) else 0


def last_completion_ps(flows: NDArray[np.void], otherwise: int) -> int:
    """Return when the last flow finished; `otherwise` if one of them has not."""
    finished = flows["finish_ps"]
    return int(finished.max()) if len(finished) and finished.max() != NEVER else otherwise


def conservation(totals: Mapping[str, int], *, left: int | None = None) -> dict[str, Any]:
    """Arrange dp_totals as the manifest has them; `left` replaces the frames still under way."""
    prefix = "dropped_"
    places = {
        name.removeprefix(prefix): count
        for name, count in totals.items()
        if name.startswith(prefix)
    }
    return {
        "sent": totals["sent"],
        "copied": totals["copied"],
        "delivered": totals["delivered"],
        "dropped": {**places, "socket": totals["socket_drops"]},
        "left": totals["left"] if left is None else left,
    }


def _flow_rows(plan: Plan, records: NDArray[np.void], origin: int) -> Iterable[str]:
    flows = plan.flows
    for number, record in enumerate(records):
        times = (_ns(record[name], origin) for name in ("start_ps", "delivered_ps", "finish_ps"))
        ends = f"{flows.source[number]},{flows.destination[number]},{flows.size_bytes[number]}"
        yield f"{number},{ends},{record['packets']},{','.join(times)}"


def _link_rows(plan: Plan, records: NDArray[np.void]) -> Iterable[str]:
    topology, scenario = plan.topology, plan.scenario
    cables = adjacency(topology)
    for record in records:
        node, port = int(record["node"]), int(record["port"])
        peer = cables.beyond(node, port)
        if peer < 0:
            continue
        counted = ",".join(str(record[name]) for name in COUNTED)
        queued = ",".join(
            (*(str(record[name]) for name in LONGEST), *(f"{record[name]:.3f}" for name in MEAN))
        )
        gaps = ",".join(str(record[name]) for name in GAPS)
        busy = int(record["bytes"]) * scenario.picoseconds_per_byte / 1000
        yield (
            f"{_port(topology, node, port, peer)},{counted},{busy:.3f},{queued},{gaps},"
            f"{int(record['late_max_ps']) / 1000:.3f}"
        )


def _queue_rows(topology: Topology, samples: NDArray[np.void], origin: int) -> Iterable[str]:
    cables = adjacency(topology)
    for sample in samples:
        node, port = int(sample["node"]), int(sample["port"])
        peer = cables.beyond(node, port)
        way = stage(topology.nodes[node].tier, topology.nodes[peer].tier)
        length = f"{sample['queue_bytes']},{sample['queue_packets']}"
        yield f"{_ns(sample['time_ps'], origin)},{topology.nodes[node].name},{port},{way},{length}"


def _port(topology: Topology, node: int, port: int, peer: int) -> str:
    here, there = topology.nodes[node], topology.nodes[peer]
    return f"{here.name},{port},{there.name},{stage(here.tier, there.tier)}"


def _ns(time_ps: np.uint64, origin: int) -> str:
    return "" if int(time_ps) == NEVER else f"{(int(time_ps) - origin) / 1000:.3f}"


def _write(path: Path, header: str, rows: Iterable[str]) -> None:
    text = "\n".join((header, *rows)) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), compresslevel=3, mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
