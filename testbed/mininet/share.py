"""A process's share of the emulated network: the event core on packet sockets, run in real time."""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from testbed.dataplane import NEVER, Dataplane, Ended

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from testbed.plan import Plan


SPIN_AMONG_OTHERS = 8


@dataclass(frozen=True, slots=True)
class Clock:
    """When paper time 0 is on CLOCK_MONOTONIC, how much slower real time is, and when to give up.

    `stuck_ps` is how long nothing may move while flows wait, 0 for ever; `spin_ns` how long before
    its time a departure is waited for without sleeping.
    """

    start_ns: int
    dilation: float
    deadline_ps: int = NEVER
    stuck_ps: int = 0
    spin_ns: int = 10_000


@dataclass(frozen=True, slots=True)
class Records:
    """What a share has to say after a run: rows of the event core's records."""

    flows: NDArray[np.void]
    ports: NDArray[np.void]
    samples: NDArray[np.void]
    pacing: NDArray[np.void]
    totals: dict[str, int]
    arrivals: NDArray[np.void]


def close_all(sockets: list[socket.socket]) -> None:
    """Close packet sockets side by side: the kernel waits a while for each."""
    with ThreadPoolExecutor(max_workers=32) as pool:
        for _ in pool.map(socket.socket.close, sockets):
            pass


class Share:
    """What both roles have in common: one dataplane at a time, its sockets, its clock."""

    def __init__(self) -> None:
        """Start without a network."""
        self.running = False
        self._dataplane: Dataplane | None = None
        self._clock = Clock(0, 1.0)
        self._sockets: list[socket.socket] = []
        self.commands: dict[str, Callable[..., Any]] = {
            "start": self.start,
            "halt": self.halt,
            "processor_ns": time.process_time_ns,
            "now_ps": lambda: self.dataplane.now_ps,
            "message": lambda: self.dataplane.message,
            "totals": lambda: self.dataplane.totals(),  # noqa: PLW0108 - a later network
            "ports": lambda: self.dataplane.ports(),  # noqa: PLW0108 - a later network
            "flows": lambda: self.dataplane.flows(),  # noqa: PLW0108 - a later network
            "records": self.records,
            "set_port": self.set_port,
        }

    @property
    def dataplane(self) -> Dataplane:
        """The present network; raises RuntimeError before the first set-up."""
        if self._dataplane is None:
            raise RuntimeError("nothing has been set up")
        return self._dataplane

    def replace(self, dataplane: Dataplane) -> None:
        """Take a new network in place of the one there was, whose sockets are closed."""
        self.running = False
        if self._dataplane is not None:
            self._dataplane.close()
        close_all(self._sockets)
        self._sockets.clear()
        self._dataplane = dataplane

    def open_socket(self) -> int:
        """Make a packet socket of the present namespace for the network; return its descriptor."""
        handle = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._sockets.append(handle)
        return handle.fileno()

    def take_down(self, plan: Plan, nodes: range) -> None:
        """Take those ports of own nodes down whose links are down in the plan."""
        for link in plan.topology.links:
            for node, port in ((link.lower, link.lower_port), (link.upper, link.upper_port)):
                if not link.up and node in nodes:
                    self.set_port(node, port, up=False)

    def start(self, clock: Clock) -> None:
        """Start to run at the clock's paper time 0."""
        self._clock = clock
        self.running = True

    def halt(self) -> None:
        """Stop a run that has not ended by itself."""
        self.running = False

    def advance(self, control: int) -> str | None:
        """Run until the control channel wants something (None) or the run ends (how)."""
        clock = self._clock
        ended = self.dataplane.run_real(
            start_ns=clock.start_ns,
            dilation=clock.dilation,
            deadline_ps=clock.deadline_ps,
            stuck_ps=clock.stuck_ps,
            spin_ns=self._spin_ns(),
            control=control,
        )
        if ended is Ended.CONTROL:
            return None
        self.running = False
        return ended.name.lower()

    def _spin_ns(self) -> int:
        """Wait longer without sleeping where other programs may keep us from waking up in time."""
        first_in_line = os.sched_getscheduler(0) == os.SCHED_FIFO
        return self._clock.spin_ns if first_in_line else SPIN_AMONG_OTHERS * self._clock.spin_ns

    def records(self, from_ps: int, to_ps: int) -> Records:
        """Return all records; queue means are over the given paper times."""
        dataplane = self.dataplane
        return Records(
            dataplane.flows(),
            dataplane.ports(from_ps, to_ps),
            dataplane.samples(),
            dataplane.pacing(),
            dataplane.totals(),
            dataplane.arrivals(),
        )

    def set_port(self, node: int, port: int, *, up: bool) -> None:
        """Take a port down or up."""
        self.dataplane.set_port(node, port, up=up)
