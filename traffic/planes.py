"""Messages between hosts that have a NIC in each of several planes: which NIC sends what.

A plane is a network of its own, so that a message reaches the NIC of its receiver that is in the
plane of the NIC that sends it. NIC p of host m is number m + p · hosts, as in testbed/topology.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from traffic.flows import Flows
from traffic.waits import Waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

Spread = Literal["stripe", "rotate", "rail"]
"""How messages go to planes: packets in turn, messages in turn, or by the receiver's rail."""


def over_planes(flows: Flows, planes: int, hosts: int, how: Spread, packet_bytes: int) -> Flows:
    """Return what the NICs of `hosts` hosts with one in each plane send.

    - `stripe`: the packets of a message go to the planes in turn, so that it becomes a message in
      each plane that has any of them. A host's next message begins one plane further.
    - `rotate`: a host's messages go to the planes in turn.
    - `rail`: flows are between GPUs, as many in a host as there are planes; GPU g has the NIC in
      plane g mod planes. What is for a GPU goes through its plane: it passes from its sender to the
      GPU of that plane within the host, which takes no time here. What stays in a host has no
      message.

    Whoever waited for a message waits for all of its parts.
    """
    if planes == 1:
        return flows
    if how == "rail":
        return _by_rail(flows, planes, hosts)
    turn = _turn_of(flows) % planes
    if how == "rotate":
        offset = np.where(flows.computes, 0, turn * hosts)
        return replace(flows, source=flows.source + offset, destination=flows.destination + offset)
    return _striped(flows, planes, hosts, packet_bytes, turn)


def _by_rail(flows: Flows, planes: int, hosts: int) -> Flows:
    sender = flows.source // planes
    receiver, plane = np.divmod(flows.destination, planes)
    inside = sender == receiver
    return replace(
        flows,
        source=sender + plane * hosts,
        destination=receiver + plane * hosts,
        size_bytes=np.where(inside, 0, flows.size_bytes),
    )


def _turn_of(flows: Flows) -> Column:
    """Return how many messages of the same host come before each row."""
    turn = np.zeros(len(flows), dtype=np.int64)
    messages = np.flatnonzero(~flows.computes)
    order = messages[np.argsort(flows.source[messages], kind="stable")]
    sources = flows.source[order]
    turn[order] = np.arange(len(order)) - np.searchsorted(sources, sources)
    return turn


def _striped(flows: Flows, planes: int, hosts: int, packet_bytes: int, turn: Column) -> Flows:
    packets = -(-flows.size_bytes // packet_bytes)
    parts = np.where(flows.computes, 1, np.minimum(packets, planes))
    row = np.repeat(np.arange(len(flows)), parts)
    first = np.cumsum(parts) - parts
    part = np.arange(len(row)) - first[row]
    least, more = np.divmod(packets[row], parts[row])
    begin = part * least + np.minimum(part, more)
    end = begin + least + (part < more)
    total = flows.size_bytes[row]
    offset = np.where(flows.computes[row], 0, (turn[row] + part) % planes * hosts)
    return Flows(
        source=flows.source[row] + offset,
        destination=flows.destination[row] + offset,
        size_bytes=np.minimum(end * packet_bytes, total) - np.minimum(begin * packet_bytes, total),
        after=_waits_of_parts(flows.after, row, first, parts),
        start_ps=flows.start_ps[row],
        delay_ps=flows.delay_ps[row],
        phase=flows.phase[row],
        phases=flows.phases,
    )


def _waits_of_parts(after: Waits, row: Column, first: Column, parts: Column) -> Waits:
    """Let every part wait for all parts of what its message waits for."""
    entries = _runs(after.first[row], after.count[row])
    awaited, flags = after.flow[entries], after.acknowledged[entries]
    every = parts[awaited]
    waiting = np.repeat(np.repeat(np.arange(len(row)), after.count[row]), every)
    starts = np.zeros(len(row) + 1, dtype=np.int64)
    np.cumsum(np.bincount(waiting, minlength=len(row)), out=starts[1:])
    return Waits(starts, _runs(first[awaited], every), np.repeat(flags, every))


def _runs(first: Column, count: Column) -> Column:
    """Return the numbers first, first + 1, ... of each run, one run after the other."""
    begins = np.cumsum(count) - count
    runs: Column = np.arange(count.sum()) + np.repeat(first - begins, count)
    return runs
