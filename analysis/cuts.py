"""What the links between a part of a network and the rest let through at most: docs/bounds.md.

A part is what is under an edge switch, or a pod. Where it has less uplinks than hosts, the links of
hosts alone say little: what leaves the part, or comes in, has to share its uplinks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.jobs import Jobs, jobs_of, through_one_link
from testbed.scenario.speeds import STAGES, tier_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from analysis.messages import Column, Frames, Link, Messages
    from testbed.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Cut:
    """Parts of `hosts` hosts each, whose links to the rest are at `out` and `into` of STAGES.

    `capacity` is what all of them together carry in a picosecond, in bytes, part by part.
    """

    hosts: int
    out: int
    into: int
    capacity: NDArray[np.float64]


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
    edge = Cut(shape.hosts_per_edge, 1, 4, _capacity(link.scenario, "edge"))
    if shape.levels == 2:
        return [edge]
    return [edge, Cut(shape.hosts_per_pod, 2, 3, _capacity(link.scenario, "core"))]


def _capacity(scenario: Scenario, tier: str) -> NDArray[np.float64]:
    """Add up the rates of the links above each edge switch, or above each pod's aggregations."""
    shape, speeds = scenario.shape, scenario.speeds
    parts, uplinks = shape.edges, shape.edge_uplinks
    if tier == "core":
        parts, uplinks = shape.pods, uplinks * shape.aggregation_uplinks
    usual = 1 / speeds.tiers[tier].picoseconds_per_byte
    capacity = np.full(parts, uplinks * usual)
    for (lower, upper), speed in speeds.links.items():
        if tier_of(lower, upper) == tier:
            pod, within = map(int, lower[1:].split("_"))
            part = pod if tier == "core" else pod * shape.edges_per_pod + within
            capacity[part] += 1 / speed.picoseconds_per_byte - usual
    return capacity


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
    data, ack, hops = link.frame(frames.payload), link.scenario.ack_bytes, messages.hops
    tier = STAGES[cut.out]
    delay, gap = link.speeds[cut.out].delay_ps, _longest_gap(link, tier)
    acks = link.of_acks
    there, back = starts + link.way(data, hops), link.back(hops)
    for stage, place, other in ((cut.out, source, destination), (cut.into, destination, source)):
        head = starts + link.upto(stage, data, hops)
        tail = delay - gap + link.after(stage, data, hops) + back
        work = _work(link, tier, frames.count, data, cut.capacity[place])
        parts = [jobs_of(place, frames, work, head, tail)]
        if link.scenario.acks and link.scenario.recovers == "none":
            ack_head = there + acks.upto(stage, ack, hops)
            ack_tail = delay - gap + acks.after(stage, ack, hops)
            ack_work = _work(link, tier, frames.count, ack, cut.capacity[other])
            parts.append(jobs_of(other, frames, ack_work, ack_head, ack_tail))
        yield Jobs.joined(parts)


def _rates(link: Link, tier: str) -> list[float]:
    """List the picoseconds a byte that links of a tier take."""
    speeds = link.scenario.speeds
    named = [each for ends, each in speeds.links.items() if tier_of(*ends) == tier]
    return [each.picoseconds_per_byte for each in (speeds.tiers[tier], *named)]


def _longest_gap(link: Link, tier: str) -> int:
    return math.ceil(link.scenario.gap_bytes * max(_rates(link, tier)))


def _work(
    link: Link, tier: str, count: Column, wire_bytes: Column | int, capacity: NDArray[np.float64]
) -> Column:
    """Return the time that frames and their gaps take of links of so much capacity together.

    A frame and its gap may each be rounded down to half a picosecond less than they take.
    """
    rates = _rates(link, tier)
    rounding = 0.0 if all(rate == int(rate) for rate in rates) else 1.01 / min(rates)
    bytes_each = np.asarray(wire_bytes) + link.scenario.gap_bytes - rounding
    work: Column = np.floor(count * bytes_each / capacity).astype(np.int64)
    return work
