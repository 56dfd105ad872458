"""A process's share of the emulated network: the event core on packet sockets, run in real time."""

from __future__ import annotations

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from testbed.dataplane import NEVER, Dataplane, Ended
from testbed.linkage import Linkage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from p4.engine import Switch
    from testbed.plan import Plan


SPIN_AMONG_OTHERS = 8
NO_CONTROL = -1


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
        self._linkage: Linkage | None = None
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
            "take_late": self.take_late,
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
        self._linkage = None
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

    def follow_links(self, plan: Plan, nodes: range, switches: Mapping[str, Switch]) -> None:
        """Take ports of own nodes down whose links are down in the plan, now or during the run."""
        self._linkage = Linkage(plan, self.dataplane, switches, nodes)
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
        while True:
            event_ps = self._linkage.next_ps if self._linkage else NEVER
            ended = self._run_until(min(self._clock.deadline_ps, event_ps), control)
            if ended is Ended.CONTROL:
                return None
            passed = event_ps >= self._clock.deadline_ps
            if self._linkage is None or ended is not Ended.DEADLINE or passed:
                break
            self._linkage.step()
        self.running = False
        return ended.name.lower()

    def take_late(self) -> dict[str, int]:
        """After a run that is done, take the frames that have come since; return the totals."""
        self._run_until(self._clock.deadline_ps, NO_CONTROL)
        return self.dataplane.totals()

    def _run_until(self, deadline_ps: int, control: int) -> Ended:
        clock = self._clock
        return self.dataplane.run_real(
            start_ns=clock.start_ns,
            dilation=clock.dilation,
            deadline_ps=deadline_ps,
            stuck_ps=clock.stuck_ps,
            spin_ns=self._spin_ns(),
            control=control,
        )

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
