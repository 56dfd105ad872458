"""The trace of a run: every frame at every port, and how to find one's way in it.

Times are whole picoseconds of the run's own clock, on which its first packet left at `first_ps`.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from errors import UserError
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.results import Run

OTHER, DATA, ACK = 0, 1, 2
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Trace:
    """What passed each port of a network, and what its hosts had to send.

    `hops` has a row for each frame at each port, ordered by port (`place`) and departure. Ports are
    rows of `port_node`, `port_number` and `port_peer` (the port at the cable's other end, or -1);
    hosts are the first nodes, and have one port; host h is a NIC of machine h % `machines`. Flows
    have a row each; flow f waits for `after[after_first[f] : after_first[f + 1]]`, then for
    `wait_ps`.
    """

    hops: NDArray[np.void]
    nodes: NDArray[np.str_]
    machines: int
    port_node: NDArray[np.int64]
    port_number: NDArray[np.int64]
    port_peer: NDArray[np.int64]
    ipv4: NDArray[np.uint32]
    mac: NDArray[np.uint64]
    delay_ps: int
    gap_ps: int
    picoseconds_per_byte: float
    load: float
    acks: bool
    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    size_bytes: NDArray[np.int64]
    not_before_ps: NDArray[np.int64]
    wait_ps: NDArray[np.int64]
    after_first: NDArray[np.int64]
    after: NDArray[np.int64]
    after_acknowledged: NDArray[np.bool_]
    phase: NDArray[np.str_]
    first_ps: int
    flow_start: NDArray[np.int64]
    flow_delivered: NDArray[np.int64]
    flow_finish: NDArray[np.int64]

    @functools.cached_property
    def arrived(self) -> NDArray[np.int64]:
        """When each hop's frame was queued."""
        return self.hops["arrived_ps"].astype(np.int64)

    @functools.cached_property
    def departure(self) -> NDArray[np.int64]:
        """When each hop's frame had left."""
        return self.hops["departure_ps"].astype(np.int64)

    @functools.cached_property
    def start(self) -> NDArray[np.int64]:
        """When each hop's service began; the event core rounds in the same way."""
        scale = int(self.picoseconds_per_byte * (1 << 24) + 0.5)
        length = (self.hops["bytes"].astype(np.int64) * scale + (1 << 23)) >> 24
        return self.departure - length

    @functools.cached_property
    def first_hop(self) -> NDArray[np.int64]:
        """First row of each port in `hops`, and one past the last."""
        return np.searchsorted(self.hops["place"], np.arange(len(self.port_node) + 1))

    @functools.cached_property
    def _frames(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Rows of `hops` ordered by frame, and their frames as one number each."""
        keys = self._key(self.hops["flow"], self.hops["psn"], self.hops["kind"])
        order = np.lexsort((self.departure, keys))
        return order, keys[order]

    @staticmethod
    def _key(flow: Any, psn: Any, kind: Any) -> Any:
        return (
            (np.asarray(flow, dtype=np.uint64) << np.uint64(26))
            | (np.asarray(psn, dtype=np.uint64) << np.uint64(2))
            | np.asarray(kind, dtype=np.uint64)
        )

    def hops_of(self, flow: int, psn: int, kind: int) -> NDArray[np.int64]:
        """Return the rows of a frame in the order of departures; more than a path if sent again."""
        order, keys = self._frames
        key = self._key(flow, psn, kind)
        return order[np.searchsorted(keys, key) : np.searchsorted(keys, key, side="right")]

    def rows(self, place: int) -> range:
        """Return the rows of a port."""
        return range(int(self.first_hop[place]), int(self.first_hop[place + 1]))

    def link(self, place: int) -> str:
        """Name the link that a port sends on: `e0_1→a0_0`."""
        return f"{self.owner(place)}→{self.owner(int(self.port_peer[place]))}"

    def owner(self, place: int) -> str:
        """Name the node of a port."""
        return str(self.nodes[self.port_node[place]])

    def is_host(self, node: int) -> bool:
        """Tell hosts from switches."""
        return node < len(self.ipv4)

    @functools.cached_property
    def place_of_host(self) -> NDArray[np.int64]:
        """The port of each host."""
        return np.searchsorted(self.port_node, np.arange(len(self.ipv4)))

    @property
    def ends(self) -> NDArray[np.int64]:
        """When each flow was over, -1 if it never was."""
        return self.flow_finish if self.acks else self.flow_delivered


def read_trace(file: Path) -> Trace:
    """Read a trace that `python -m testbed trace` wrote; raises UserError for another file."""
    try:
        with np.load(file) as content:
            found = {field.name: content[field.name] for field in fields(Trace)}
    except (OSError, KeyError, ValueError) as error:
        raise UserError(f"{file}: not a trace: {error}") from error
    for name, value in found.items():
        if value.dtype == np.uint64 and name != "mac":
            found[name] = value.view(np.int64)  # never is -1
    scalars = {name: value.item() for name, value in found.items() if value.ndim == 0}
    return Trace(**{**found, **scalars})


def trace_of(run: Run) -> Trace:
    """Run a virtual run again, in a process of its own, and return its trace.

    Raises UserError for runs of other worlds, which do not come out the same twice, and with what
    the other process says if the run cannot be run again.
    """
    if run.world != VIRTUAL:
        raise UserError(
            f"{run.folder}: it ran in {run.world}, on the real clock, and cannot be run again alike"
        )
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary) / "trace.npz"
        command = [sys.executable, "-m", "testbed", "trace", str(run.folder.resolve()), str(file)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stderr.strip().splitlines() or ["it ended without a word"]
            raise UserError(said[-1].removeprefix("testbed: "))
        return read_trace(file)
