"""The time that no run of a set of messages can go below, whatever the scheme: docs/bounds.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.critical_path import Lasting, ready_times
from analysis.cuts import through_cuts
from analysis.jobs import Jobs, jobs_of, through_one_link
from analysis.messages import LAST, PICOSECONDS, Link, frames_of

if TYPE_CHECKING:
    from analysis.messages import Column, Frames, Messages
    from testbed.scenario import Scenario

ROUNDING = 0.01  # of a picosecond: sums of nanoseconds are not exact


def floor(scenario: Scenario, messages: Messages) -> float:
    """Return the floor of the CCT in nanoseconds."""
    link, frames = Link.of(scenario, messages), frames_of(messages, scenario.payload_bytes)
    starts, ends = critical_path(link, messages, frames)
    back = link.back(messages.hops)
    bounds = [
        int((ends + back).max()),
        through_one_link(_sending(link, messages, frames, starts)),
        through_one_link(_receiving(link, messages, frames, starts)),
        through_cuts(link, messages, frames, starts),
    ]
    if scenario.speeds.uniform and not messages.graph.waits and not starts.any():
        bounds.append(with_acks_between(link, messages, frames))
    return max(bounds) / PICOSECONDS


def critical_path(link: Link, messages: Messages, frames: Frames) -> tuple[Column, Column]:
    """Return when each message starts and is delivered at the earliest."""
    pace, sent = link.pace(frames.payload), frames.count > 0
    leaves = np.cumsum(frames.count * pace, axis=0) - pace
    arrives = leaves + link.way(link.frame(frames.payload), messages.hops)
    last = (np.where(sent, times, 0).max(axis=0) for times in (arrives, leaves))
    delivered, begun = last
    next_frame = (frames.count * pace).sum(axis=0) - begun
    shortest = np.where(sent, frames.payload, frames.payload.max()).min(axis=0)
    reaches = link.upto(LAST, link.frame(shortest), messages.hops)
    fills = (frames.count * link.received(frames.payload)).sum(axis=0)
    beyond = np.broadcast_to(link.last_delay - link.last_gap, fills.shape)
    rows = (delivered, begun, next_frame, reaches, fills, beyond)
    times = np.zeros((len(rows), len(messages.graph.source)))
    times[:, messages.step] = np.stack(rows) / PICOSECONDS
    lasting = Lasting(
        delivered=times[0],
        sent=times[1],
        frame=times[2],
        reaches=times[3],
        fills=times[4],
        beyond=times[5],
    )
    ready = ready_times(messages.graph, lasting)[messages.step]
    starts = np.floor(ready * PICOSECONDS + ROUNDING).astype(np.int64)
    return starts, starts + delivered


def _sending(link: Link, messages: Messages, frames: Frames, starts: Column) -> Jobs:
    """List the jobs of the hosts' own links, at the pace of their data."""
    pace = link.pace(frames.payload)
    path = link.way(link.frame(frames.payload), messages.hops)
    tail = path - pace + link.back(messages.hops)
    return jobs_of(messages.source, frames, frames.count * pace, starts, tail)


def _receiving(link: Link, messages: Messages, frames: Frames, starts: Column) -> Jobs:
    """List the jobs of the links to the hosts, where nothing is paced."""
    head = starts + link.upto(LAST, link.frame(frames.payload), messages.hops)
    tail = link.last_delay - link.last_gap + link.back(messages.hops)
    work = frames.count * link.received(frames.payload)
    return jobs_of(messages.destination, frames, work, head, tail)


def with_acks_between(link: Link, messages: Messages, frames: Frames) -> int:
    """Return the largest bound from hosts that send their data and, in turn with it, ACKs.

    Holds for messages that all start at once and are served in turn: with congestion control only
    where a host has but one. Of the full frames that go at least a given distance, the last one
    leaves after those counted and the ACKs between them.
    """
    full = frames.count[0]
    hosts = int(max(messages.source.max(), messages.destination.max())) + 1
    slot = int(link.data(frames.payload[0, 0]) + link.gap)
    pace = int(link.pace(frames.payload[0, 0]))
    in_turn = (np.bincount(messages.source, minlength=hosts) == 1) | (link.scenario.cca == "none")
    best = 0
    for hops in np.unique(messages.hops[full > 0]):
        before = _full_frames_before(messages.source, full, messages.hops >= hops, hosts)
        path = int(link.way(frames.payload[0, 0] + link.scenario.header_bytes, int(hops)))
        path += int(link.back(int(hops)))
        held_up = before * slot + _acks_between(link, messages, frames, before, path)
        leaves = np.where(in_turn & (before >= 0), np.maximum(before * pace, held_up), -path)
        best = max(best, path + int(leaves.max()))
    return best


def _full_frames_before(source: Column, full: Column, far: Column, hosts: int) -> Column:
    """Count what each host has surely sent before the last full frame that goes far; -1: none does.

    Messages are served in turn, but one may have sent a frame before the others started. So let n
    be the second most full frames of a message that goes far: when the last of the messages with n
    or more sends its n-th, those have sent n of them and all others n - 1. If but one goes far, it
    may be the one ahead: then the others have sent n - 2.
    """
    rows = np.flatnonzero(far & (full > 0))
    rows = rows[np.lexsort((-full[rows], source[rows]))]
    first = np.flatnonzero(np.r_[True, source[rows[1:]] != source[rows[:-1]]])
    several = np.diff(np.r_[first, len(rows)]) > 1
    most = np.zeros(hosts, dtype=np.int64)
    rest = np.zeros(hosts, dtype=np.int64)
    most[source[rows[first]]] = full[rows[first + several]]
    rest[source[rows[first]]] = np.maximum(full[rows[first + several]] - 2 + several, 0)
    sent = np.minimum(full, np.where(far, most[source], rest[source]))
    return np.bincount(source, sent, hosts).astype(np.int64) - 1


def _acks_between(
    link: Link, messages: Messages, frames: Frames, before: Column, path: int
) -> Column:
    """Return the time that ACKs take of each host's link before its full frame number `before`.

    If u of these frames find no ACK waiting, the others each have one before them; and what a host
    receives comes so late that its last ACK is u slots and all it receives, but one frame, later
    than the beginning. No u makes both ends earlier than the one that makes them equal.
    """
    hosts = len(before)
    slot = int(link.data(frames.payload[0, 0]) + link.gap)
    ack = int(link.time(link.scenario.ack_bytes) + link.gap)
    if not link.scenario.acks:
        return np.zeros(hosts, dtype=np.int64)
    slots = (frames.count * (link.data(frames.payload) + link.gap)).sum(axis=0)
    work = np.bincount(messages.destination, slots, hosts)
    number = np.bincount(messages.destination, frames.count.sum(axis=0), hosts)
    back = np.full(hosts, int(link.back(6)))
    np.minimum.at(back, messages.destination, link.back(messages.hops))
    without = (before * (slot + ack) + path - back - (work - slot)) / (slot + ack)
    acks = np.clip(before - np.ceil(np.maximum(without, 0)), 0, number)
    taken: Column = acks.astype(np.int64) * ack
    return taken
