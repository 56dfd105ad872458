"""Ports against a few lines of Python that serve the same frames one by one."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.dataplane import Ended
from tests.testbed.dataplane.network import Program, balance, flows, star

if TYPE_CHECKING:
    from collections.abc import Sequence

PAYLOAD, HEADER, GAP, BYTE_PS = 4096, 62, 20, 10


@dataclass
class Frame:
    arrived: int
    size: int
    departure: int = 0
    marked: bool = False


@dataclass
class Queue:
    """A FIFO with byte-exact service; frames count until their last bit has left."""

    limit: int = 0
    threshold: int = 0
    frames: list[Frame] = field(default_factory=list)
    free_at: int = 0
    drops: int = 0
    longest: int = 0
    most: int = 0

    def arrive(self, time: int, size: int) -> None:
        waiting = [frame for frame in self.frames if frame.departure > time]
        queued = sum(frame.size for frame in waiting)
        if self.limit and queued + size > self.limit:
            self.drops += 1
            return
        frame = Frame(time, size, max(time, self.free_at) + size * BYTE_PS)
        self.free_at = frame.departure + GAP * BYTE_PS
        self.frames.append(frame)
        self.longest = max(self.longest, queued + size)
        self.most = max(self.most, len(waiting) + 1)

    def marks(self) -> int:
        count = 0
        for frame in self.frames:
            start = frame.departure - frame.size * BYTE_PS
            queued = sum(
                other.size
                for other in self.frames
                if other.departure > start and (other.arrived < start or other is frame)
            )
            count += self.threshold > 0 and queued > self.threshold
        return count

    def mean(self, until: int) -> float:
        return sum(frame.size * (frame.departure - frame.arrived) for frame in self.frames) / until


def sizes(message: int) -> list[int]:
    full, rest = divmod(message, PAYLOAD)
    return [PAYLOAD + HEADER] * full + ([rest + HEADER] if rest else [])


def arrivals(
    messages: "Sequence[int]", phases: "Sequence[int]", delay: int
) -> list[tuple[int, int, int]]:
    """(time, port, bytes) of all frames at a switch whose hosts send without pause."""
    found = []
    for port, (message, phase) in enumerate(zip(messages, phases, strict=True), 1):
        begin = phase
        for size in sizes(message):
            found.append((begin + size * BYTE_PS + delay, port, size))
            begin += (size + GAP) * BYTE_PS
    return sorted(found)


senders = st.lists(
    st.tuples(st.integers(1, 60_000), st.integers(0, 200_000)), min_size=1, max_size=5
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    senders,
    st.sampled_from([0, 5_000, 13_000]),
    st.sampled_from([0, 4_200, 9_000]),
    st.sampled_from([1_000, 30_000, 500_000]),
)
def test_port__serves_as_a_fifo_does(
    program: Program, sent: list[tuple[int, int]], limit: int, threshold: int, delay: int
) -> None:
    messages, phases = [message for message, _ in sent], [phase for _, phase in sent]
    network = star(
        program,
        len(sent) + 1,
        acks=False,
        buffer_bytes=limit or None,
        ecn_bytes=threshold,
        delay_ns=delay / 1000,
    )
    last = len(sent)
    network.dataplane.add_flows(
        flows([(i, last, message) for i, message in enumerate(messages)], start_ps=phases)
    )
    ended = network.dataplane.run_virtual()

    queue = Queue(limit, threshold)
    for time, _port, size in arrivals(messages, phases, delay):
        queue.arrive(time, size)
    until = network.dataplane.now_ps
    port = network.dataplane.ports(0, until)[last + 1 + last + 1]
    assert (port["node"], port["port"]) == (last + 1, last + 1)
    assert port["packets"] == len(queue.frames)
    assert port["drops"] == queue.drops
    assert port["max_queue_bytes"] == queue.longest
    assert port["max_queue_packets"] == queue.most
    assert port["marks"] == queue.marks()
    assert port["queue_packets"] == 0
    assert balance(network.dataplane.totals()) == 0
    if ended is Ended.DONE:
        assert port["mean_queue_bytes"] == pytest.approx(queue.mean(until))
        delivered = network.dataplane.flows()["delivered_ps"].max()
        assert delivered == max(frame.departure for frame in queue.frames) + delay
    else:
        assert ended is Ended.STUCK
        assert queue.drops > 0
    network.dataplane.close()


def test_held_frames__wait_and_leave_like_final_ones(
    program: Program, held_program: Program
) -> None:
    records = []
    for variant in (program, held_program):
        network = star(variant, 5, ecn_bytes=9_000, buffer_bytes=40_000, acks=False)
        rows = [(i, 4, 100_000) for i in range(4)]
        network.dataplane.add_flows(flows(rows, start_ps=np.arange(4) * 7_000))
        network.dataplane.run_virtual()
        totals = network.dataplane.totals()
        assert balance(totals) == 0
        records.append((network.dataplane.flows(), network.dataplane.ports(), totals))
        network.dataplane.close()
    assert (records[0][0] == records[1][0]).all()
    assert records[0][2] == records[1][2]
    for name in records[0][1].dtype.names or ():
        np.testing.assert_allclose(records[0][1][name], records[1][1][name], err_msg=name)


def test_held_frames__are_charged_for_what_leaves(growing_program: Program) -> None:
    network = star(growing_program, 2, acks=False)
    network.dataplane.add_flows(flows([(0, 1, 3 * PAYLOAD)]))
    network.dataplane.run_virtual()
    port = network.dataplane.ports()[2 + 2]
    assert port["bytes"] == 3 * (PAYLOAD + HEADER + 8)
    assert port["queue_bytes"] == 0
    network.dataplane.close()


def test_samples__tell_the_maximum_of_each_interval(program: Program) -> None:
    network = star(program, 3, acks=False, sample_ps=100_000)
    network.dataplane.add_flows(flows([(0, 2, 40_960), (1, 2, 40_960)]))
    network.dataplane.run_virtual()
    samples = network.dataplane.samples()
    out = samples[(samples["node"] == 3) & (samples["port"] == 3)]
    assert (np.diff(out["time_ps"].astype(np.int64)) > 0).all()
    assert (out["time_ps"] % 100_000 == 0).all()
    assert out["queue_packets"].max() == network.dataplane.ports()[3 + 3]["max_queue_packets"]
    assert len(network.dataplane.samples()) == 0
    network.dataplane.close()


def test_incast__leaves_all_queues_empty(program: Program) -> None:
    """Long quiet stretches between departures: senders keep up with what receivers take."""
    network = star(program, 41, load=0.3)
    rows = [(i, 40, 400 * PAYLOAD) for i in range(40)] + [(40, i, 40 * PAYLOAD) for i in range(40)]
    network.dataplane.add_flows(flows(rows, start_ps=np.arange(80) * 521))
    assert network.dataplane.run_virtual() is Ended.DONE
    ports = network.dataplane.ports()
    assert ports["max_queue_packets"].max() <= 40 * 400
    assert (ports["queue_packets"] == 0).all()
    assert (ports["queue_bytes"] == 0).all()
    network.dataplane.close()


def test_shared_buffer__leaves_a_queue_alpha_times_what_is_free(program: Program) -> None:
    """One queue, alpha 1: it fills half. Two at once: a third each. Host NICs are not of it."""
    shared = 100 * 4158
    for receivers, share in ((1, 1 / 2), (2, 1 / 3)):
        network = star(program, 8, shared_bytes=shared, alpha=1.0, acks=False)
        rows = [(i, i % receivers, 800_000) for i in range(2, 8)]
        network.dataplane.add_flows(flows(rows))
        network.dataplane.run_virtual()
        ports = network.dataplane.ports()
        longest = ports[(ports["node"] == 8) & (ports["port"] <= receivers)]["max_queue_bytes"]
        assert longest[longest > 0].max() <= share * shared + 4158
        assert longest[longest > 0].min() >= share * shared - 2 * 4158
        assert balance(network.dataplane.totals()) == 0
        network.dataplane.close()
