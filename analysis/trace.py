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
from typing import TYPE_CHECKING

import numpy as np

from analysis.lookup import Lookup
from errors import UserError
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from analysis.results import Run

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Trace:
    """What passed each port of a network, and what its hosts had to send.

    `hops` has a row for each frame at each port, ordered by port (`place`) and departure. Ports are
    rows of `port_node`, `port_number` and `port_peer` (the port at the cable's other end, or -1),
    with the delay and the rate of their links; hosts are the first nodes, and have one port; host h
    is a NIC of machine h % `machines`. Flows have a row each; flow f waits for
    `after[after_first[f] : after_first[f + 1]]`, then for `wait_ps`.
    """

    hops: NDArray[np.void]
    nodes: NDArray[np.str_]
    machines: int
    port_node: NDArray[np.int64]
    port_number: NDArray[np.int64]
    port_peer: NDArray[np.int64]
    port_delay_ps: NDArray[np.int64]
    port_picoseconds_per_byte: NDArray[np.float64]
    ipv4: NDArray[np.uint32]
    mac: NDArray[np.uint64]
    gap_bytes: int
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

    @property
    def arrived(self) -> NDArray[np.int64]:
        """When each hop's frame was queued."""
        return self.hops["arrived_ps"].view(np.int64)

    @functools.cached_property
    def departure(self) -> NDArray[np.int64]:
        """When each hop's frame had left; side by side, as searching wants it."""
        return self.hops["departure_ps"].astype(np.int64)

    def start(self, row: int) -> int:
        """Return when a hop's service began."""
        return int(self.departure[row]) - self._lasts(row, int(self.hops["bytes"][row]))

    def reached(self, row: int) -> int:
        """Return when a hop's frame was at the other end of its link."""
        return int(self.departure[row]) + int(self.port_delay_ps[self.hops["place"][row]])

    def free(self, row: int) -> int:
        """Return when a hop's port could serve the next frame."""
        return int(self.departure[row]) + self._lasts(row, self.gap_bytes)

    def _lasts(self, row: int, size_bytes: int) -> int:
        """Return how long bytes take on a hop's link; the event core rounds in the same way."""
        per_byte = float(self.port_picoseconds_per_byte[self.hops["place"][row]])
        return (size_bytes * int(per_byte * (1 << 24) + 0.5) + (1 << 23)) >> 24

    @functools.cached_property
    def first_hop(self) -> NDArray[np.int64]:
        """First row of each port in `hops`, and one past the last."""
        place = self.hops["place"]
        return np.searchsorted(place, np.arange(len(self.port_node) + 1, dtype=place.dtype))

    @functools.cached_property
    def first_port(self) -> NDArray[np.int64]:
        """First port of each node, and one past the last."""
        return np.searchsorted(self.port_node, np.arange(len(self.nodes) + 1))

    @functools.cached_property
    def lookup(self) -> Lookup:
        """Finds frames in the trace."""
        return Lookup(self)

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
