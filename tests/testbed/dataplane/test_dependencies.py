"""Steps that wait for others: random graphs on idle links, against a replay in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from errors import UserError
from testbed.dataplane import ACKNOWLEDGED, Ended
from tests.testbed.dataplane.network import Program, flows, star

if TYPE_CHECKING:
    from collections.abc import Callable

FRAME_PS, FRAME_GAP_PS, DELAY_PS, ACK_PS = 41_580, 41_780, 500_000, 640
FLIGHT_PS = 2 * (FRAME_PS + DELAY_PS)  # of one frame through the star
HOSTS = 6


@dataclass
class Steps:
    """A graph as it is drawn: per step its ends, packets, what it waits for, delay and start.

    Host h is a NIC of machine h mod `machines`.
    """

    machines: int = HOSTS
    ends: list[tuple[int, int]] = field(default_factory=list)
    packets: list[int] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    delay: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        counts = np.array([len(before) for before in self.after])
        return {
            "after_first": np.cumsum(counts) - counts,
            "after_count": counts,
            "delay_ps": self.delay,
            "start_ps": self.start,
        }

    def begins(self) -> list[int]:
        """When each step begins if every message finds idle links."""
        begin: list[int] = []
        for step, (source, _) in enumerate(self.ends):
            times = [0]
            for other in self.after[step]:
                sent = begin[other] + max(0, self.packets[other] - 1) * FRAME_GAP_PS
                there = self.packets[other] > 0 and self.at(self.ends[other][1]) == self.at(source)
                times.append(sent + there * FLIGHT_PS)
            begin.append(max(self.start[step], max(times) + self.delay[step]))
        return begin

    def at(self, host: int) -> int:
        """Which machine a host is a NIC of."""
        return host % self.machines

    def meet(self, begin: list[int]) -> bool:
        """Whether two messages are on a link at the same time."""
        for end in (0, 1):
            for host in range(HOSTS):
                busy = sorted(
                    (begin[step], begin[step] + self.packets[step] * FRAME_GAP_PS)
                    for step, ends in enumerate(self.ends)
                    if ends[end] == host and self.packets[step]
                )
                if any(one[1] > two[0] for one, two in pairwise(busy)):
                    return True
        return False


@st.composite
def graphs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Steps:
    steps = Steps(machines=draw(st.sampled_from([HOSTS, HOSTS, 3, 2])))
    times = st.integers(0, 10**9)
    for step in range(draw(st.integers(1, 20))):
        source = draw(st.integers(0, HOSTS - 1))
        others = [host for host in range(HOSTS) if steps.at(host) != steps.at(source)]
        destination = draw(st.sampled_from([source, *others]))
        here = [
            other for other in range(step) if steps.at(source) in map(steps.at, steps.ends[other])
        ]
        steps.ends.append((source, destination))
        steps.packets.append(0 if source == destination else draw(st.integers(1, 5)))
        steps.after.append(draw(st.lists(st.sampled_from(here), max_size=4)) if here else [])
        steps.delay.append(draw(times))
        steps.start.append(draw(times))
    return steps


def of_machines(machines: int) -> dict[str, Any]:
    """Settings of a network whose hosts are NICs of so many machines; its shape is not used."""
    planes = HOSTS // machines
    counts = {"planes": planes, "edges": 2, "hosts": 1, "spines": 1}
    return {} if planes == 1 else {"topology": "leaf-spine", "network": counts}


@given(graphs())
@settings(max_examples=300, deadline=None)
def test_random_graph__completes_exactly_at_its_critical_path(
    program: Program, steps: Steps
) -> None:
    begin = steps.begins()
    assume(not steps.meet(begin))
    network = star(program, HOSTS, acks=False, **of_machines(steps.machines))
    rows = [
        (*ends, 4096 * packets) for ends, packets in zip(steps.ends, steps.packets, strict=True)
    ]
    network.dataplane.add_flows(
        flows(rows, **steps.columns()), after=[other for after in steps.after for other in after]
    )
    assert network.dataplane.run_virtual() is Ended.DONE
    found = network.dataplane.flows()
    message = found["packets"] > 0
    assert found["start_ps"][message].tolist() == np.array(begin)[message].tolist()
    lasting = np.where(message, (np.array(steps.packets) - 1) * FRAME_GAP_PS + FLIGHT_PS, 0)
    assert found["delivered_ps"].tolist() == (begin + lasting).tolist()
    network.dataplane.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_join__begins_after_the_last_of_all_and_its_computation(
    program: Program, threads: int
) -> None:
    network = star(program, 4, acks=False)
    rows = [(0, 3, 4096), (1, 3, 8192), (2, 3, 4096), (3, 0, 4096)]
    waits = {"after_first": [0] * 4, "after_count": [0, 0, 0, 3], "delay_ps": [0, 0, 0, 7_000]}
    starts = {"start_ps": [0, 900_000, 200_000, 1_000]}
    network.dataplane.add_flows(flows(rows, **waits, **starts), after=[0, 1, 2])
    assert network.dataplane.run_virtual(threads=threads) is Ended.DONE
    *first, last = network.dataplane.flows()
    assert last["start_ps"] == max(flow["delivered_ps"] for flow in first) + 7_000
    network.dataplane.close()


def test_what_another_nic_gets_or_sends__is_waited_for_at_that_moment(program: Program) -> None:
    """NICs 0 and 3 are one machine: 3 begins when 0 has got its message, not a window later."""
    network = star(program, HOSTS, acks=False, **of_machines(3))
    rows = [(1, 0, 4096), (3, 4, 2 * 4096), (0, 2, 4096), (5, 4, 9 * 4096)]
    waits = {"after_first": [0, 0, 1, 2], "after_count": [0, 1, 1, 0]}
    network.dataplane.add_flows(flows(rows, **waits), after=[0, 1])
    assert network.dataplane.run_virtual() is Ended.DONE
    first, second, third, _ = network.dataplane.flows()
    assert second["start_ps"] == first["delivered_ps"] == FLIGHT_PS
    assert third["start_ps"] == second["start_ps"] + FRAME_GAP_PS
    network.dataplane.close()


@pytest.mark.parametrize("flag", [0, ACKNOWLEDGED])
def test_own_flow__is_waited_for_until_sent_or_until_acknowledged(
    program: Program, flag: int
) -> None:
    network = star(program, 3)
    rows = [(0, 1, 3 * 4096), (0, 2, 4096)]
    waits = {"after_first": [0, 0], "after_count": [0, 1]}
    network.dataplane.add_flows(flows(rows, **waits), after=[0 | flag])
    assert network.dataplane.run_virtual() is Ended.DONE
    first, second = network.dataplane.flows()
    assert second["start_ps"] == (first["finish_ps"] if flag else 3 * FRAME_GAP_PS)
    assert first["finish_ps"] == 2 * FRAME_GAP_PS + FLIGHT_PS + 2 * (ACK_PS + DELAY_PS)
    network.dataplane.close()


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ([1], "not before it in the list"),
        ([0], "does not end or begin at its source"),
    ],
)
def test_wrong_waits__are_named(program: Program, after: list[int], message: str) -> None:
    network = star(program, 4)
    waits = {"after_first": [0, 0], "after_count": [0, 1]}
    with pytest.raises(UserError, match=f"flow 1: .*{message}"):
        network.dataplane.add_flows(flows([(0, 1, 1), (2, 3, 1)], **waits), after=after)
    network.dataplane.close()
