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

    from analysis.setting import Setting


@dataclass(frozen=True, slots=True)
class Wire:
    """What frames cost on a link. The defaults are the paper's (§6)."""

    rate_gbps: float = 800.0
    delay_ns: float = 500.0
    payload_bytes: int = 4096
    header_bytes: int = 62
    ack_bytes: int = 64
    gap_bytes: int = 20

    def time(self, wire_bytes: float) -> float:
        """Time that `wire_bytes` take on a link."""
        return wire_bytes * 8 / self.rate_gbps

    @property
    def data(self) -> float:
        """Serialisation of a full data frame: T_d."""
        return self.time(self.payload_bytes + self.header_bytes)

    @property
    def ack(self) -> float:
        """Serialisation of an ACK: T_a."""
        return self.time(self.ack_bytes)

    @property
    def gap(self) -> float:
        """Time between two frames: T_g."""
        return self.time(self.gap_bytes)

    def packets(self, message_bytes: int) -> int:
        """Count the data frames of a message."""
        return -(-message_bytes // self.payload_bytes)


def wire_of(setting: Setting) -> Wire:
    """Return what frames cost in a run."""
    return Wire(
        rate_gbps=setting.rate_gbps,
        delay_ns=setting.delay_ns,
        payload_bytes=setting.payload_bytes,
        header_bytes=setting.header_bytes,
        ack_bytes=setting.ack_bytes,
        gap_bytes=setting.gap_bytes,
    )


def data_only_packets(wire: Wire, hops: int = 6, load: float = 1.0) -> int:
    """Return i1 of Appendix A: packets a sender has sent when its first ACK falls due."""
    flight = hops * wire.delay_ns + (hops - 1) * wire.data
    return math.ceil(flight / ((wire.data + wire.gap) / load) + 1)


def permutation_bound(
    message_bytes: int,
    wire: Wire,
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
    packets = wire.packets(message_bytes)
    last = wire.time(message_bytes - (packets - 1) * wire.payload_bytes + wire.header_bytes)
    pace = (wire.data + wire.gap) / load
    in_time = data_only_packets(wire, hops, load)
    alone = min(packets, in_time) if acks and shared else packets
    in_turn = packets - alone
    ack_slot = wire.ack + wire.gap
    last_slot = wire.data + wire.gap + ack_slot
    sent = (alone - 1) * pace + in_turn * max(pace, last_slot) + last
    # A short last frame is held up by the full one before it, by what the two slots differ.
    ahead = max(pace, last_slot if in_turn else 0.0) - (wire.data + wire.gap)
    behind = (hops - 1) * wire.data - ahead if packets > 1 else 0.0
    delivered = sent + hops * wire.delay_ns + max((hops - 1) * last, behind)
    if not acks:
        return delivered
    return delivered + hops * (wire.delay_ns + wire.ack) + wire.gap


def attainable(bound: float, wire: Wire, *, acks: bool = True) -> float:
    """Return the time that no run can go below: the published bound without its surplus gap."""
    return bound - wire.gap if acks else bound


def hops_between(
    source: NDArray[np.int64], destination: NDArray[np.int64], setting: Setting
) -> NDArray[np.int64]:
    """Return the number of links between hosts: 2 under one edge, 4, or 6 between pods."""
    edge = setting.width
    same_edge = source // edge == destination // edge
    if setting.levels == 2:
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


def messages_of(setting: Setting, steps: pd.DataFrame) -> Messages:
    """Return the messages of a run from the rows of its flows.csv."""
    step = np.flatnonzero(steps["bytes"].to_numpy())
    source, destination, size = (steps[name].to_numpy()[step] for name in ("src", "dst", "bytes"))
    hops = hops_between(source, destination, setting)
    return Messages(source, destination, size, hops, graph_of(steps), step)


def cct_bound(setting: Setting, messages: Messages) -> float:
    """Return the bound that a run's CCT increase is measured against.

    A permutation has Appendix A's bound for its furthest messages, with ACKs between data only if
    every host receives as much as it sends. Otherwise it is a naive one: no
    host can be done before what it has to send, or to receive, has gone over its one link. Where
    messages wait for others, it is the critical path on idle links, or what the busiest host has to
    send or receive if that takes longer.
    """
    if messages.graph.waits:
        return _dependent_bound(setting, messages)
    if len(np.unique(messages.source)) == len(messages.source):
        return _permutation_of(setting, messages)
    return host_bound(setting, messages, int(messages.hops.max()))


def floor(setting: Setting, messages: Messages) -> float:
    """Return the time that no run of these messages can go below, whatever the scheme.

    For a permutation it is the bound without its surplus gap. A naive bound supposes that a host's
    last message is one of its furthest; here it is one of the nearest.
    """
    wire = wire_of(setting)
    if messages.graph.waits:
        return _dependent_bound(setting, messages)
    if len(np.unique(messages.source)) == len(messages.source):
        return attainable(_permutation_of(setting, messages), wire, acks=setting.acks)
    nearest = host_bound(setting, messages, int(messages.hops.min()))
    return attainable(nearest, wire, acks=setting.acks)


def host_bound(setting: Setting, messages: Messages, hops: int) -> float:
    """Return the naive bound of messages that all start together: the busiest host's link.

    The busiest host's last frame crosses `hops` links. When every host sends what it receives (an
    all-to-all), ACKs share its link with its data as in Appendix A; when not (an all-to-all-v), its
    data alone is counted.
    """
    wire = wire_of(setting)
    packets = -(-messages.size // wire.payload_bytes)
    wire_bytes = messages.size + packets * wire.header_bytes
    out, into = _sent_and_received(messages, wire_bytes)
    host = int(np.argmax(np.maximum(out, into)))
    end = messages.source if out[host] >= into[host] else messages.destination
    frames = int(packets[end == host].sum())
    frame = wire.time(float(max(out[host], into[host]))) / frames
    pace = (frame + wire.gap) / setting.load
    spacing = np.full(frames - 1, pace)
    if setting.acks and np.array_equal(out, into):
        furthest = int(messages.hops.max())
        flight = furthest * wire.delay_ns + (furthest - 1) * frame
        alone = math.ceil(flight / pace + 1)
        spacing[alone - 1 :] = max(pace, frame + wire.ack + 2 * wire.gap)
    delivered = float(spacing.sum()) + frame + hops * wire.delay_ns + (hops - 1) * frame
    return delivered + (hops * (wire.delay_ns + wire.ack) + wire.gap if setting.acks else 0.0)


def _sent_and_received(
    messages: Messages, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    hosts = int(max(messages.source.max(), messages.destination.max())) + 1
    out = np.bincount(messages.source, sizes, hosts).astype(np.int64)
    return out, np.bincount(messages.destination, sizes, hosts).astype(np.int64)


def _permutation_of(setting: Setting, messages: Messages) -> float:
    """Appendix A's bound for the messages of each distance, and of these the largest."""
    wire = wire_of(setting)
    out, into = _sent_and_received(messages, messages.size)
    shared = np.array_equal(out, into)
    return max(
        permutation_bound(
            int(messages.size[messages.hops == far].max()),
            wire,
            hops=int(far),
            load=setting.load,
            acks=setting.acks,
            shared=shared,
        )
        for far in np.unique(messages.hops)
    )


def _dependent_bound(setting: Setting, messages: Messages) -> float:
    """Return the larger of the critical path and of what the busiest host's link takes for data."""
    wire = wire_of(setting)
    lasting = _lasting(setting, messages)
    ready = ready_times(messages.graph, lasting)[messages.step]
    back = messages.hops * (wire.delay_ns + wire.ack) if setting.acks else 0.0
    path = float((ready + lasting.delivered[messages.step] + back).max())
    alone = replace(setting, acks=False, load=1.0)
    return max(path, host_bound(alone, messages, int(messages.hops.min())))


def _lasting(setting: Setting, messages: Messages) -> Lasting:
    """Work out how long each step takes on idle links; messages of a size and way are alike."""
    wire = wire_of(setting)
    kinds, kind = np.unique(np.stack((messages.size, messages.hops)), axis=1, return_inverse=True)
    delivered = np.array(
        [
            permutation_bound(int(size), wire, hops=int(hops), load=setting.load, acks=False)
            for size, hops in kinds.T
        ]
    )
    packets = -(-kinds[0] // wire.payload_bytes)
    last = kinds[0] - (packets - 1) * wire.payload_bytes + wire.header_bytes
    sent = (packets - 1) * (wire.data + wire.gap) / setting.load
    frame = (last * wire.time(1) + wire.gap) / setting.load
    columns = np.zeros((3, len(messages.graph.source)))
    columns[:, messages.step] = np.stack((delivered, sent, frame))[:, kind.ravel()]
    return Lasting(*columns)


def optimal_payload(message_bytes: float, overhead_bytes: float = 82, queued: float = 10) -> float:
    """Return Theorem 6's payload sqrt(H D / alpha): D message bytes, H a frame's overhead.

    `queued` is alpha, the packets that wait in all queues of a path. The defaults are those of
    Fig. 8: header and gap, and 10 packets.
    """
    return math.sqrt(overhead_bytes * message_bytes / queued)
