"""What the links between a part of a network and the rest let through at most: docs/bounds.md.

A part is what is under an edge switch, or a pod. Where it has less uplinks than hosts, the links of
hosts alone say little: what leaves the part, or comes in, has to share its uplinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.jobs import Jobs, jobs_of, through_one_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.messages import Column, Frames, Link, Messages


@dataclass(frozen=True, slots=True)
class Cut:
    """Parts of `hosts` hosts each, `below` links away from a host, with `uplinks` to the rest."""

    hosts: int
    below: int
    uplinks: int


def through_cuts(link: Link, messages: Messages, frames: Frames, starts: Column) -> int:
    """Return the largest lower bound that the uplinks of any part give, in either direction."""
    found = (
        jobs
        for cut in _cuts(link)
        for jobs in _crossing(link, messages, frames, starts, cut)
        if len(jobs.place)
    )
    return max(map(through_one_link, found), default=0)


def _cuts(link: Link) -> list[Cut]:
    shape = link.scenario.shape
    edge = Cut(shape.hosts_per_edge, 1, shape.edge_uplinks)
    if shape.levels == 2:
        return [edge]
    return [edge, Cut(shape.hosts_per_pod, 2, shape.edge_uplinks * shape.aggregation_uplinks)]


def _crossing(
    link: Link, messages: Messages, frames: Frames, starts: Column, cut: Cut
) -> Iterator[Jobs]:
    """List the jobs of all parts' uplinks: what goes out of the parts, then what comes in.

    All uplinks of a part together are one link that is as fast as they are; after the last frame of
    each of them a gap need not pass. ACKs cross the cut too, unless they may have been dropped.
    """
    source, destination = messages.source // cut.hosts, messages.destination // cut.hosts
    stays = source == destination
    source, destination = (np.where(stays, -1, ends) for ends in (source, destination))
    data, ack = link.data(frames.payload), link.time(link.scenario.ack_bytes)
    back = link.back(messages.hops)
    near, far = cut.below, messages.hops - cut.below - 1
    there = starts + messages.hops * (link.delay + data)
    work = frames.count * (data + link.gap) // cut.uplinks
    ack_work = frames.count * (ack + link.gap) // cut.uplinks
    for forth, place, ack_place in ((True, source, destination), (False, destination, source)):
        before, after = (near, far) if forth else (far, near)
        head = starts + before * (link.delay + data)
        tail = link.delay - link.gap + after * (link.delay + data) + back
        parts = [jobs_of(place, frames, work, head, tail)]
        if link.scenario.acks and link.scenario.recovers == "none":
            ack_head = there + before * (link.delay + ack)
            ack_tail = link.delay - link.gap + after * (link.delay + ack)
            parts.append(jobs_of(ack_place, frames, ack_work, ack_head, ack_tail))
        yield Jobs.joined(parts)
