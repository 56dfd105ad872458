"""One switch of a planned network on the bench: frames in by host, uplinks out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from p4.engine import Output, Switch
from testbed.addressing import ipv4_text
from testbed.failures import set_link
from testbed.planning import link_changes, make_plan
from testbed.switches import load_program, rewrite, write_setup
from traffic.flows import Flows
from traffic.frames import Ends
from traffic.framing import ack_frame, data_frame

if TYPE_CHECKING:
    from testbed.scenario import Scenario
    from testbed.topology import Topology

HEADER_BYTES = 70
ENTROPY_AT = 34
GAP_PS = 200
DATA_PS = 41_580
ACK_PS = 640


def no_flows() -> Flows:
    """Flows of a plan of which only the switches are wanted."""
    return Flows.of(*(np.zeros(0, dtype=np.int64) for _ in range(3)))


@dataclass(slots=True)
class Bench:
    """A switch with what the control plane writes, and its own clock in picoseconds."""

    topology: Topology
    switch: Switch
    down: int  # ports that face down
    now: int = 1_000_000
    ports: list[int] = field(default_factory=list)

    def send(
        self,
        source: int,
        destination: int,
        *,
        ack: bool = False,
        entropy: int = 50_000,
        port: int | None = None,
    ) -> Output | None:
        """Let a frame between two hosts arrive; return what comes out, None if it is dropped.

        It comes in at `port`, or at the port of its source.
        """
        nodes = self.topology.nodes
        ends = ipv4_text(nodes[source], self.topology), ipv4_text(nodes[destination], self.topology)
        frame = frame_bytes(*ends, ack=ack, entropy=entropy)
        arrival = source % self.topology.hosts_per_edge + 1 if port is None else port
        out = self.switch.receive(
            arrival, frame[:HEADER_BYTES], now=self.now, length=62 if ack else 4154
        )
        assert len(out) <= 1
        return out[0] if out else None

    def uplink(self, source: int, destination: int, *, ack: bool = False, **given: int) -> int:
        """Send a frame that goes up, and return its uplink from 0."""
        out = self.send(source, destination, ack=ack, **given)
        assert out is not None
        assert out.port > self.down
        return out.port - self.down - 1


def bench(
    name: str, scenario: Scenario, *, failed: tuple[tuple[str, str], ...] = (), seed: int = 1
) -> Bench:
    """Put switch `name` of a scenario's network on the bench, after some links failed."""
    plan = make_plan(scenario, no_flows())
    setup = plan.setups[name]
    program = load_program(plan.programs[name])
    others = {owner: Switch(program) for owner in setup.shared.values()}
    for owner, other in others.items():
        write_setup(other, plan.setups[owner], {})
    switch = Switch(program, seed=seed)
    write_setup(switch, setup, others)
    topology = plan.topology
    for one, other_end in failed:
        topology = set_link(topology, one, other_end, up=False)
    change = link_changes(plan, topology).get(name)
    if change is not None:
        rewrite(switch, change)
    tier = next(node.tier for node in topology.nodes if node.name == name)
    return Bench(topology, switch, topology.downlinks(tier))


def frame_bytes(source: str, destination: str, *, ack: bool, entropy: int) -> bytes:
    """Return a frame whose ICRC does not hold, which no switch looks at."""
    frame = bytearray(_frame(source, destination, ack))
    frame[ENTROPY_AT : ENTROPY_AT + 2] = entropy.to_bytes(2, "big")
    return bytes(frame)


@cache
def _frame(source: str, destination: str, ack: bool) -> bytes:  # noqa: FBT001
    make = ack_frame if ack else data_frame
    return make(Ends(source, destination))
