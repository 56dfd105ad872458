"""What collective completion times (CCT) are compared with: Appendix A's bound, or the floor.

All times are nanoseconds of paper time. See docs/bounds.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from analysis.floor import floor

if TYPE_CHECKING:
    from analysis.messages import Messages
    from testbed.scenario import Scenario


def data_only_packets(scenario: Scenario, hops: int = 6) -> int:
    """Return i1 of Appendix A: packets a sender has sent when its first ACK falls due."""
    flight = hops * scenario.delay_ns + (hops - 1) * scenario.data_ns
    return math.ceil(flight / (scenario.data_ns + scenario.gap_ns) + 1)


def permutation_bound(message_bytes: int, scenario: Scenario, hops: int = 6) -> float:
    """Return Appendix A's bound on the CCT of a permutation whose messages cross `hops` links.

    Each host sends `message_bytes` at the line rate and receives as much: first data only, then
    data and ACKs in turn, and ACKs at the end. The last ACK's hops after the first cost T_a without
    the gap, which is what gives the number that the paper prints, 17.05694 us for 1 MiB. It counts
    one gap more than must pass. A last packet that is not full takes its own time of the first
    link.
    """
    packets = scenario.packets(message_bytes)
    missing = scenario.time_ns(packets * scenario.payload_bytes - message_bytes)
    in_turn = max(packets - data_only_packets(scenario, hops), 0)
    sent = packets * (scenario.data_ns + scenario.gap_ns) - missing
    between = in_turn * (scenario.ack_ns + scenario.gap_ns)
    there = hops * scenario.delay_ns + (hops - 1) * scenario.data_ns
    return sent + between + there + hops * (scenario.delay_ns + scenario.ack_ns)


def cct_bound(scenario: Scenario, messages: Messages) -> float:
    """Return what the CCT of these messages is compared with.

    That is Appendix A's bound for permutations as it has them: each host of a k-ary network sends
    one message of whole packets at the full rate and receives as much, with ACKs. Everything else
    has the floor.
    """
    return published(scenario, messages) or floor(scenario, messages)


def published(scenario: Scenario, messages: Messages) -> float | None:
    """Return Appendix A's bound for the furthest messages; None if it is not about them."""
    ends = (messages.source, messages.destination)
    hosts = int(np.max(ends)) + 1
    sent, received = (np.bincount(end, minlength=hosts) for end in ends)
    size = int(messages.size[0])
    applies = (
        scenario.acks
        and not scenario.network
        and scenario.load == 1
        and not messages.graph.waits
        and sent.max() == 1
        and np.array_equal(sent, received)
        and bool((messages.size == size).all())
        and size % scenario.payload_bytes == 0
    )
    return permutation_bound(size, scenario, int(messages.hops.max())) if applies else None


def optimal_payload(message_bytes: float, overhead_bytes: float = 82, queued: float = 10) -> float:
    """Return Theorem 6's payload sqrt(H D / alpha): D message bytes, H a frame's overhead.

    `queued` is alpha, the packets that wait in all queues of a path. The defaults are those of
    Fig. 8: header and gap, and 10 packets.
    """
    return math.sqrt(overhead_bytes * message_bytes / queued)
