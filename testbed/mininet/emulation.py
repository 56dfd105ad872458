"""A running fabric with its two real-time processes: plans are loaded into it and run."""

from __future__ import annotations

import dataclasses
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

from testbed.mininet import interfaces, network
from testbed.mininet.share import Clock, Records
from testbed.mininet.worker import Worker
from testbed.results import first_packet_ps, last_packet_ps

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from testbed.plan import Plan
    from testbed.topology import Topology

ENGINE, TRAFFIC = "testbed.mininet.engine", "testbed.mininet.traffic"
LEAD_NS = 30_000_000
STUCK_SECONDS = 2.0
STUCK_ROUND_TRIPS = 5
POLL_SECONDS = 0.5
LOOK_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Measured:
    """What the two processes recorded in one run: how it ended, and what each has to say.

    `stop` is what interrupted it, if anything did.
    """

    ended: str
    message: str
    hosts: Records
    switches: Records
    start_ns: int
    wall_seconds: float
    stop: KeyboardInterrupt | None = None

    def pass_on(self) -> None:
        """Raise what interrupted the run, if anything did."""
        if self.stop is not None:
            raise self.stop


class Served(Protocol):
    """Whatever runs the switches: a worker process, or what answers as one."""

    def ask(self, command: str, *arguments: Any, **options: Any) -> Any:
        """Call one of its commands."""

    def require_alive(self) -> None:
        """Raise WorkerError if it has died."""

    def stop(self) -> None:
        """End it."""


class Emulation:
    """A fabric and its processes, a context manager; must be made inside a sandbox."""

    def __init__(self, topology: Topology, mtu: int) -> None:
        """Start the network and the engine and traffic processes.

        Raises UserError or WorkerError.
        """
        self.fabric = self.start_network(topology, mtu)
        self.topology = topology
        self.mtu = mtu
        self._patience_ps = 0
        cores = sorted(os.sched_getaffinity(0))
        self.engine = self.start_engine(cores[0])
        self.traffic = Worker(TRAFFIC, cores[1 % len(cores)])

    def start_network(self, topology: Topology, mtu: int) -> network.Fabric:
        """Start hosts, links, and the nodes that stand for switches."""
        return network.start(topology, mtu)

    def start_engine(self, core: int) -> Served:
        """Start what runs the switches."""
        return Worker(ENGINE, core)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes and the network."""
        self.engine.stop()
        self.traffic.stop()
        self.fabric.stop()

    def fits(self, plan: Plan) -> bool:
        """Tell whether this fabric can run a plan: the same nodes and links, frames that fit."""
        own = [dataclasses.replace(link, up=True) for link in self.topology.links]
        wanted = [dataclasses.replace(link, up=True) for link in plan.topology.links]
        return (
            self.topology.nodes == plan.topology.nodes
            and own == wanted
            and network.mtu_for(plan.scenario) <= self.mtu
        )

    def load(self, plan: Plan) -> None:
        """Set both processes up for a plan, all state fresh, and links up or down as it says."""
        for number, link in enumerate(plan.topology.links):
            if link.up != self.topology.links[number].up:
                interfaces.set_link(self.fabric.pairs[number], up=link.up)
        self.topology = plan.topology
        scenario = plan.scenario
        sample_ps = scenario.serialisation_ps(scenario.data_frame_bytes)
        self.engine.ask("setup", plan, sample_ps)
        self.load_traffic(plan, sample_ps)

    def load_traffic(self, plan: Plan, sample_ps: int = 0) -> None:
        """Set only the hosts up, with the plan's flows."""
        self._patience_ps = patience_ps(plan)
        processes = [self.fabric.host_process(host) for host in range(plan.topology.hosts)]
        self.traffic.ask("setup", plan, processes, sample_ps)

    def run(self, dilation: float, *, spin_ns: int | None = None) -> Measured:
        """Run the loaded plan to its end, and stop the switches.

        KeyboardInterrupt ends it early, as `interrupted`. Raises WorkerError if a process dies.
        """
        clock = self.clock(dilation, spin_ns)
        self.engine.ask("start", clock)
        begun = time.monotonic()
        ended, stop = self.run_traffic(clock)
        message = self.traffic.ask("message") if ended == "stuck" else ""
        if ended == "done":
            self._await_late(dilation)
        self.engine.ask("halt")
        flows = self.traffic.ask("flows")
        window = (first_packet_ps(flows), last_packet_ps(flows))
        return Measured(
            ended,
            message,
            self.traffic.ask("records", *window),
            self.engine.ask("records", *window),
            clock.start_ns,
            time.monotonic() - begun,
            stop,
        )

    def _await_late(self, dilation: float) -> None:
        """Let frames arrive that are on their way although all is acknowledged, and count them.

        Where hosts recover, an ACK may tell of packets whose own ACKs are still behind it, and a
        packet may have been sent again that was only late.
        """
        seconds = min(self._patience_ps * dilation / 1e12, STUCK_SECONDS)
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            hosts = self.traffic.ask("take_late")
            made = hosts["sent"] + self.copied_less_dropped() - dropped(hosts)
            if made <= hosts["delivered"]:
                return
            time.sleep(LOOK_SECONDS)

    def copied_less_dropped(self) -> int:
        """Return how many frames more the switches have sent on than hosts have sent."""
        totals = self.engine.ask("totals")
        return int(totals["copied"]) - dropped(totals)

    def clock(self, dilation: float, spin_ns: int | None = None) -> Clock:
        """Return a clock that starts in a moment."""
        spin: dict[str, Any] = {} if spin_ns is None else {"spin_ns": spin_ns}
        return Clock(
            start_ns=time.monotonic_ns() + LEAD_NS,
            dilation=dilation,
            stuck_ps=max(round(STUCK_SECONDS * 1e12 / dilation), self._patience_ps),
            **spin,
        )

    def run_traffic(self, clock: Clock) -> tuple[str, KeyboardInterrupt | None]:
        """Let the hosts send until all flows are done; return how it ended, and by what."""
        self.traffic.ask("start", clock)
        try:
            while (ended := self.traffic.wait_for_end(POLL_SECONDS)) is None:
                self.engine.require_alive()
        except KeyboardInterrupt as stop:
            self.traffic.ask("halt")
            return "interrupted", stop
        return ended, None


def dropped(totals: Mapping[str, int]) -> int:
    """Return the drops in the fields of a struct dp_totals."""
    places = sum(number for name, number in totals.items() if name.startswith("dropped_"))
    return places + totals["socket_drops"]


def patience_ps(plan: Plan) -> int:
    """Return how long nothing may move, in paper time, before a run counts as stuck.

    That is several times what a packet and its ACK take, and the longest pause of a slow sender.
    """
    scenario = plan.scenario
    slot_ps = scenario.serialisation_ps(scenario.data_frame_bytes + scenario.gap_bytes)
    hops = 4 * plan.topology.levels
    round_trip_ps = max(hops * (scenario.delay_ns * 1000 + slot_ps), 2 * scenario.round_trip_ps)
    return round(STUCK_ROUND_TRIPS * (round_trip_ps + slot_ps / plan.load))
