"""Lower bounds on the collective completion time (CCT): the paper's Appendix A, and naive ones.

All times are nanoseconds of paper time, all serialisation times those of whole frames; `_gap`
times include the gap that follows a frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.critical_path import Graph, Lasting, graph_of, ready_times

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from testbed.scenario import Scenario


def data_only_packets(scenario: Scenario, hops: int = 6, load: float = 1.0) -> int:
    """Return i1 of Appendix A: packets a sender has sent when its first ACK falls due."""
    flight = hops * scenario.delay_ns + (hops - 1) * scenario.data_ns
    return math.ceil(flight / ((scenario.data_ns + scenario.gap_ns) / load) + 1)


def permutation_bound(
    message_bytes: int,
    scenario: Scenario,
    *,
    hops: int = 6,
    load: float = 1.0,
    acks: bool = True,
    shared: bool = True,
) -> float:
    """Return Appendix A's bound on the CCT of a permutation whose messages cross `hops` links.

    Each host sends `message_bytes` at `load` times the line rate and receives as much: first data
    only, then data and ACKs in turn, and ACKs at the end. The result has the paper's convention of
    counting one gap more than must pass (it prints 17.05694 us for 1 MiB): see `attainable`. The
    last ACK's hops after the first cost T_a without the gap, which is what gives the printed
    number. Below load 1 data frames leave at their pace, or when the ACK before them is out. A last
    frame that is shorter than the others is counted as what it is. Without ACKs the CCT ends with
    the last data frame's delivery. Not `shared` is a host that need not receive as much as it
    sends: its ACKs to others may not hold up its data.
    """
    packets = scenario.packets(message_bytes)
    last = scenario.time_ns(
        message_bytes - (packets - 1) * scenario.payload_bytes + scenario.header_bytes
    )
    pace = (scenario.data_ns + scenario.gap_ns) / load
    in_time = data_only_packets(scenario, hops, load)
    alone = min(packets, in_time) if acks and shared else packets
    in_turn = packets - alone
    ack_slot = scenario.ack_ns + scenario.gap_ns
    last_slot = scenario.data_ns + scenario.gap_ns + ack_slot
    sent = (alone - 1) * pace + in_turn * max(pace, last_slot) + last
    # A short last frame is held up by the full one before it, by what the two slots differ.
    ahead = max(pace, last_slot if in_turn else 0.0) - (scenario.data_ns + scenario.gap_ns)
    behind = (hops - 1) * scenario.data_ns - ahead if packets > 1 else 0.0
    delivered = sent + hops * scenario.delay_ns + max((hops - 1) * last, behind)
    if not acks:
        return delivered
    return delivered + hops * (scenario.delay_ns + scenario.ack_ns) + scenario.gap_ns


def attainable(bound: float, scenario: Scenario, *, acks: bool = True) -> float:
    """Return the time that no run can go below: the published bound without its surplus gap."""
    return bound - scenario.gap_ns if acks else bound


def hops_between(
    source: NDArray[np.int64], destination: NDArray[np.int64], scenario: Scenario
) -> NDArray[np.int64]:
    """Return the number of links between hosts: 2 under one edge, 4, or 6 between pods."""
    edge = scenario.width
    same_edge = source // edge == destination // edge
    if scenario.levels == 2:
        return np.where(same_edge, 2, 4)
    same_pod = source // edge**2 == destination // edge**2
    return np.where(same_edge, 2, np.where(same_pod, 4, 6))


@dataclass(frozen=True, slots=True)
class Messages:
    """The messages of a run as columns: host numbers, bytes, and links between their ends.

    `graph` says who waits for whom among messages and computations, `step` which of its steps each
    message is.
    """

    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    size: NDArray[np.int64]
    hops: NDArray[np.int64]
    graph: Graph
    step: NDArray[np.int64]


def messages_of(scenario: Scenario, steps: pd.DataFrame) -> Messages:
    """Return the messages of a run from the rows of its flows.csv."""
    step = np.flatnonzero(steps["bytes"].to_numpy())
    source, destination, size = (steps[name].to_numpy()[step] for name in ("src", "dst", "bytes"))
    hops = hops_between(source, destination, scenario)
    return Messages(source, destination, size, hops, graph_of(steps), step)


def cct_bound(scenario: Scenario, messages: Messages) -> float:
    """Return the bound that a run's CCT increase is measured against.

    A permutation has Appendix A's bound for its furthest messages, with ACKs between data only if
    every host receives as much as it sends. Otherwise it is a naive one: no
    host can be done before what it has to send, or to receive, has gone over its one link. Where
    messages wait for others, it is the critical path on idle links, or what the busiest host has to
    send or receive if that takes longer.
    """
    if messages.graph.waits:
        return _dependent_bound(scenario, messages)
    if len(np.unique(messages.source)) == len(messages.source):
        return _permutation_of(scenario, messages)
    return host_bound(scenario, messages, int(messages.hops.max()))


def floor(scenario: Scenario, messages: Messages) -> float:
    """Return the time that no run of these messages can go below, whatever the scheme.

    For a permutation it is the bound without its surplus gap. A naive bound supposes that a host's
    last message is one of its furthest; here it is one of the nearest.
    """
    if messages.graph.waits:
        return _dependent_bound(scenario, messages)
    if len(np.unique(messages.source)) == len(messages.source):
        return attainable(_permutation_of(scenario, messages), scenario, acks=scenario.acks)
    nearest = host_bound(scenario, messages, int(messages.hops.min()))
    return attainable(nearest, scenario, acks=scenario.acks)


def host_bound(scenario: Scenario, messages: Messages, hops: int) -> float:
    """Return the naive bound of messages that all start together: the busiest host's link.

    The busiest host's last frame crosses `hops` links. When every host sends what it receives (an
    all-to-all), ACKs share its link with its data as in Appendix A; when not (an all-to-all-v), its
    data alone is counted.
    """
    packets = -(-messages.size // scenario.payload_bytes)
    wire_bytes = messages.size + packets * scenario.header_bytes
    out, into = _sent_and_received(messages, wire_bytes)
    host = int(np.argmax(np.maximum(out, into)))
    end = messages.source if out[host] >= into[host] else messages.destination
    frames = int(packets[end == host].sum())
    frame = scenario.time_ns(float(max(out[host], into[host]))) / frames
    pace = (frame + scenario.gap_ns) / scenario.load
    spacing = np.full(frames - 1, pace)
    if scenario.acks and np.array_equal(out, into):
        furthest = int(messages.hops.max())
        flight = furthest * scenario.delay_ns + (furthest - 1) * frame
        alone = math.ceil(flight / pace + 1)
        spacing[alone - 1 :] = max(pace, frame + scenario.ack_ns + 2 * scenario.gap_ns)
    delivered = float(spacing.sum()) + frame + hops * scenario.delay_ns + (hops - 1) * frame
    back = hops * (scenario.delay_ns + scenario.ack_ns) + scenario.gap_ns
    return delivered + (back if scenario.acks else 0.0)


def _sent_and_received(
    messages: Messages, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    hosts = int(max(messages.source.max(), messages.destination.max())) + 1
    out = np.bincount(messages.source, sizes, hosts).astype(np.int64)
    return out, np.bincount(messages.destination, sizes, hosts).astype(np.int64)


def _permutation_of(scenario: Scenario, messages: Messages) -> float:
    """Appendix A's bound for the messages of each distance, and of these the largest."""
    out, into = _sent_and_received(messages, messages.size)
    shared = np.array_equal(out, into)
    return max(
        permutation_bound(
            int(messages.size[messages.hops == far].max()),
            scenario,
            hops=int(far),
            load=scenario.load,
            acks=scenario.acks,
            shared=shared,
        )
        for far in np.unique(messages.hops)
    )


def _dependent_bound(scenario: Scenario, messages: Messages) -> float:
    """Return the larger of the critical path and of what the busiest host's link takes for data."""
    lasting = _lasting(scenario, messages)
    ready = ready_times(messages.graph, lasting)[messages.step]
    back = messages.hops * (scenario.delay_ns + scenario.ack_ns) if scenario.acks else 0.0
    path = float((ready + lasting.delivered[messages.step] + back).max())
    alone = replace(scenario, acks=False, load=1.0)
    return max(path, host_bound(alone, messages, int(messages.hops.min())))


def _lasting(scenario: Scenario, messages: Messages) -> Lasting:
    """Work out how long each step takes on idle links; messages of a size and way are alike."""
    kinds, kind = np.unique(np.stack((messages.size, messages.hops)), axis=1, return_inverse=True)
    delivered = np.array(
        [
            permutation_bound(int(size), scenario, hops=int(hops), load=scenario.load, acks=False)
            for size, hops in kinds.T
        ]
    )
    packets = -(-kinds[0] // scenario.payload_bytes)
    last = kinds[0] - (packets - 1) * scenario.payload_bytes + scenario.header_bytes
    sent = (packets - 1) * (scenario.data_ns + scenario.gap_ns) / scenario.load
    frame = (last * scenario.time_ns(1) + scenario.gap_ns) / scenario.load
    columns = np.zeros((3, len(messages.graph.source)))
    columns[:, messages.step] = np.stack((delivered, sent, frame))[:, kind.ravel()]
    return Lasting(*columns)


def optimal_payload(message_bytes: float, overhead_bytes: float = 82, queued: float = 10) -> float:
    """Return Theorem 6's payload sqrt(H D / alpha): D message bytes, H a frame's overhead.

    `queued` is alpha, the packets that wait in all queues of a path. The defaults are those of
    Fig. 8: header and gap, and 10 packets.
    """
    return math.sqrt(overhead_bytes * message_bytes / queued)
