"""Writes the result folder of a run: the same files for all worlds, see docs/architecture.md.

The scenario is written when a run begins, the queue time series as it goes, all else in the end: a
folder without a manifest is that of a run that was killed.
"""

from __future__ import annotations

import json
import platform
import subprocess
import tomllib
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from testbed.dataplane import NEVER, settings_of
from testbed.dataplane.settings import constants
from testbed.scenario import to_toml
from testbed.scenario.files import (
    ARRIVAL_COLUMNS,
    ARRIVALS,
    CAPTURE,
    FLOW_COLUMNS,
    FLOWS,
    LINK_COLUMNS,
    LINKS,
    MANIFEST,
    PATH_COLUMNS,
    PATHS,
    QUEUE_COLUMNS,
    QUEUES,
    SCENARIO,
    TRANSPORT,
)
from testbed.tables import write_csv
from testbed.topology import adjacency, stage
from testbed.watching import transport_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from testbed.plan import Plan
    from testbed.topology import Topology
    from traffic.waits import Waits

PICOSECONDS = 1000  # per nanosecond
ARRIVAL_PS = 1_000_000  # DP_ARRIVAL_PS
COUNTED = ("lost", "retransmitted", "duplicates", "timeouts", "marks")
DROP_PLACES = {
    "program": "dropped_program",
    "queue": "dropped_queue",
    "down": "dropped_down",
    "loss": "dropped_loss",
    "host": "dropped_host",
    "header": "dropped_header",
    "socket": "socket_drops",
}
ROOT = Path(__file__).resolve().parent.parent


DATA = 1  # kind of struct dp_hop


@dataclass(frozen=True, slots=True)
class Records:
    """What the event core has to say after a run.

    `flows` are rows of struct dp_flow_record, `ports` of struct dp_port_record for every port of
    the network, `totals` the fields of struct dp_totals, `arrivals` rows of struct dp_arrivals.
    """

    flows: NDArray[np.void]
    ports: NDArray[np.void]
    totals: Mapping[str, int]
    arrivals: NDArray[np.void]


@dataclass(frozen=True, slots=True)
class PortNames:
    """What result files call each port, in the order of the event core's ports.

    `row` is a port's place in that order by its node's number: first[node] + port.
    """

    first: NDArray[np.int64]
    node: NDArray[np.object_]
    port: NDArray[np.int64]
    peer: NDArray[np.object_]
    stage: NDArray[np.object_]
    cabled: NDArray[np.bool_]


@dataclass(slots=True)
class ResultFolder:
    """One run's folder, from the first file to the last."""

    path: Path
    plan: Plan
    ports: PortNames = field(init=False)
    _sampled: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        """Make the folder, empty it of an earlier run's files, and write the scenario."""
        self.path.mkdir(parents=True, exist_ok=True)
        for name in (MANIFEST, FLOWS, LINKS, ARRIVALS, QUEUES, PATHS, TRANSPORT, CAPTURE):
            (self.path / name).unlink(missing_ok=True)
        text = to_toml(self.plan.scenario)
        (self.path / SCENARIO).write_text(text, encoding="utf-8")
        self.ports = port_names(self.plan.topology)

    def add_samples(self, samples: NDArray[np.void], first_ps: int) -> None:
        """Append queue samples, rows of struct dp_sample; `first_ps` is when the run's first packet
        left.
        """  # noqa: D205
        rows = self.ports.first[samples["node"]] + samples["port"]
        table = pd.DataFrame(
            {
                "time_ns": _since(samples["time_ps"], first_ps),
                "node": self.ports.node[rows],
                "port": samples["port"],
                "stage": self.ports.stage[rows],
                "queue_bytes": samples["queue_bytes"],
                "queue_packets": samples["queue_packets"],
            },
            columns=list(QUEUE_COLUMNS),
        )
        write_csv(self.path / QUEUES, table, append=self._sampled)
        self._sampled = True

    def add_paths(self, hops: NDArray[np.void]) -> None:
        """Write how many data packets of each flow passed each port, from rows of struct dp_hop."""
        data = hops[hops["kind"] == DATA]
        keys = data["flow"].astype(np.int64) * len(self.ports.node) + data["place"]
        found, packets = np.unique(keys, return_counts=True)
        rows = found % len(self.ports.node)
        table = pd.DataFrame(
            {
                "flow": found // len(self.ports.node),
                "node": self.ports.node[rows],
                "port": self.ports.port[rows],
                "packets": packets,
            },
            columns=list(PATH_COLUMNS),
        )
        write_csv(self.path / PATHS, table)

    def add_watched(self, rows: NDArray[np.void], first_ps: int) -> None:
        """Write what happened to watched flows, from rows of struct dp_watched."""
        write_csv(self.path / TRANSPORT, transport_table(self.plan, rows, first_ps))

    def finish(self, records: Records, manifest: Mapping[str, Any]) -> None:
        """Write flows, links and, last, the manifest with what the world adds to it."""
        first_ps = first_packet_ps(records.flows)
        write_csv(self.path / FLOWS, _flow_table(self.plan, records.flows, first_ps))
        write_csv(self.path / LINKS, _link_table(self.plan, self.ports, records.ports))
        write_csv(self.path / ARRIVALS, _arrival_table(records.arrivals, first_ps))
        scenario = self.plan.scenario
        common = {
            "scheme": scenario.scheme,
            "seed": scenario.seed,
            "versions": versions(),
            "commit": commit(),
            "machine": machine(),
            "conservation": conservation(records.totals),
            "noise_packets": records.totals["noise"],
            "congestion_constants": constants(settings_of(self.plan)),
        }
        text = json.dumps({**common, **manifest}, indent=2) + "\n"
        write_whole(self.path / MANIFEST, text)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is whole or, as on a full disk, what it was before."""
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def first_packet_ps(flows: NDArray[np.void]) -> int:
    """Return when the first packet of a run began to leave, 0 if none has."""
    started = flows["start_ps"][(flows["start_ps"] != NEVER) & (flows["packets"] > 0)]
    return int(started.min()) if len(started) else 0


def last_packet_ps(flows: NDArray[np.void]) -> int:
    """Return when the last message that finished did so: with all of them, the end of the CCT."""
    finished = flows["finish_ps"][(flows["finish_ps"] != NEVER) & (flows["packets"] > 0)]
    return int(finished.max()) if len(finished) else 0


def conservation(totals: Mapping[str, int]) -> dict[str, Any]:
    """Return where all frames are, as the manifest has it."""
    dropped = {place: totals[name] for place, name in DROP_PLACES.items()}
    kept = {name: totals[name] for name in ("sent", "copied", "delivered", "left", "trimmed")}
    return {**kept, "dropped": dropped}


def port_names(topology: Topology) -> PortNames:
    """Name all ports of a network."""
    around = adjacency(topology)
    names = np.array([node.name for node in topology.nodes], dtype=np.object_)
    tiers = [node.tier for node in topology.nodes]
    counts = np.diff(around.first)
    node = np.repeat(np.arange(len(names)), counts)
    kinds = {(a, b): stage(a, b) for a in set(tiers) for b in set(tiers)}
    stages = [
        kinds[tiers[here], tiers[there]] if there >= 0 else ""
        for here, there in zip(node.tolist(), around.peer.tolist(), strict=True)
    ]
    return PortNames(
        first=around.first,
        node=names[node],
        port=np.arange(len(node)) - around.first[node],
        peer=np.where(around.peer >= 0, names[around.peer], ""),
        stage=np.array(stages, dtype=np.object_),
        cabled=around.peer >= 0,
    )


@cache
def versions() -> dict[str, str]:
    """Return the versions that a result may depend on."""
    return {
        "testbed": own_version(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "gcc": _gcc(),
    }


@cache
def own_version() -> str:
    """Return this software's version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


@cache
def commit() -> str:
    """Return the commit that this tree is at, `+` if it was changed, empty outside of git.

    Takes no lock and refreshes nothing: the repository may be another user's.
    """
    own = ("git", "--no-optional-locks", "-C", str(ROOT))
    name = _output(*own, "describe", "--always", "--abbrev=12") or ""
    changed = _output(*own, "status", "--porcelain", "--untracked-files=no")
    return name + ("+" if changed else "")


def machine() -> dict[str, Any]:
    """Return what the machine is: system, processor, cores."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": models[0] if models else platform.processor(),
        "cores": len(models) or None,
    }


def _gcc() -> str:
    return _output("gcc", "-dumpfullversion") or ""


def _output(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _since(times_ps: NDArray[np.uint64], first_ps: int) -> NDArray[np.float64]:
    """Turn times into nanoseconds since the first packet; NaN for times that never came."""
    elapsed = (times_ps.astype(np.int64) - first_ps) / PICOSECONDS
    return np.where(times_ps == NEVER, np.nan, elapsed)


def _flow_table(plan: Plan, records: NDArray[np.void], first_ps: int) -> pd.DataFrame:
    flows = plan.flows
    alone = flows.after.count == 0
    not_before = np.maximum(flows.start_ps, np.where(alone, flows.delay_ps, 0))
    return pd.DataFrame(
        {
            "flow": np.arange(len(records)),
            "src": flows.source,
            "dst": flows.destination,
            "bytes": flows.size_bytes,
            "packets": records["packets"],
            "subflows": 1 if plan.paths is None else plan.paths.subflows,
            "start_ns": _since(records["start_ps"], first_ps),
            "delivered_ns": _since(records["delivered_ps"], first_ps),
            "finish_ns": _since(records["finish_ps"], first_ps),
            "not_before_ns": (not_before - first_ps) / PICOSECONDS,
            "after": _lists(flows.after),
            "delay_ns": flows.delay_ps / PICOSECONDS,
            "phase": np.array(flows.phases, dtype=np.object_)[flows.phase],
            **{name: records[name] for name in COUNTED},
        },
        columns=list(FLOW_COLUMNS),
    )


def _lists(waits: Waits) -> list[str]:
    """Return the flows that each row waits for, separated by spaces."""
    if not len(waits.flow):
        return [""] * len(waits.count)
    numbers = waits.flow.astype(str).tolist()
    return [" ".join(numbers[begin:end]) for begin, end in pairwise(waits.first.tolist())]


def _arrival_table(records: NDArray[np.void], first_ps: int) -> pd.DataFrame:
    """Return what all hosts received, a row a bin; `time_ns` is where the bin begins."""
    begins = np.arange(len(records), dtype=np.int64) * ARRIVAL_PS
    made = {"time_ns": (begins - first_ps) / PICOSECONDS}
    columns = {name: made[name] if name in made else records[name] for name in ARRIVAL_COLUMNS}
    return pd.DataFrame(columns)


def _link_table(plan: Plan, names: PortNames, records: NDArray[np.void]) -> pd.DataFrame:
    rows = np.flatnonzero(names.cabled)
    ports = records[rows]
    made = {
        "node": names.node[rows],
        "port": names.port[rows],
        "peer": names.peer[rows],
        "stage": names.stage[rows],
        "busy_ns": ports["bytes"] * (_per_byte(plan, names)[rows] / PICOSECONDS),
        "late_max_ns": ports["late_max_ps"] / PICOSECONDS,
    }
    columns = {name: made[name] if name in made else ports[name] for name in LINK_COLUMNS}
    return pd.DataFrame(columns)


def _per_byte(plan: Plan, names: PortNames) -> NDArray[np.float64]:
    """Return the picoseconds that a byte takes at each port."""
    speeds = plan.scenario.speeds
    if speeds.uniform:
        return np.full(len(names.node), plan.scenario.picoseconds_per_byte)
    return np.array(
        [
            speeds.between(node, peer).picoseconds_per_byte if peer else 0.0
            for node, peer in zip(names.node, names.peer, strict=True)
        ]
    )
