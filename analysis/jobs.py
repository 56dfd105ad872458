"""Work that has to go through a link, or some links together, and how long that takes at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from analysis.messages import Column, Frames


@dataclass(frozen=True, slots=True)
class Jobs:
    """Work for one link each of some places, a row for each message and size of frame.

    `work` is how long the link is taken, `head` when that can begin at the earliest, `tail` how
    long it takes from the end of the work until the last frame's ACK is at the sender.
    """

    place: Column
    work: Column
    head: Column
    tail: Column

    @classmethod
    def joined(cls, parts: list[Jobs]) -> Jobs:
        """Return the jobs of several lists as one."""
        columns = ("place", "work", "head", "tail")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def jobs_of(place: Column, frames: Frames, work: Column, head: Column, tail: Column) -> Jobs:
    """Return the jobs of messages at places of theirs; those that are at place -1 have none."""
    there = (frames.count > 0) & (place >= 0)
    columns = (np.broadcast_to(column, there.shape)[there] for column in (place, work, head, tail))
    return Jobs(*columns)


def through_one_link(jobs: Jobs) -> int:
    """Return the largest lower bound that any place gives.

    Of any set of jobs, not all are over before the earliest head, all work and the shortest tail.
    Tried are the sets of jobs whose head is at least a given one, and those whose tail is.
    """
    best = 0
    for key in (jobs.head, jobs.tail):
        order = np.lexsort((-key, jobs.place))
        place = jobs.place[order]
        first = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
        sums = np.cumsum(jobs.work[order])
        before = np.repeat(np.r_[0, sums[first[1:] - 1]], np.diff(np.r_[first, len(place)]))
        rank = np.cumsum(np.r_[True, place[1:] != place[:-1]])
        head, tail = (_least_so_far(values[order], rank) for values in (jobs.head, jobs.tail))
        best = max(best, int((head + sums - before + tail).max()))
    return best


def _least_so_far(values: Column, rank: Column) -> Column:
    """Return the running minimum within each of the groups numbered in order by `rank`."""
    apart = int(values.max() - values.min()) + 1
    return np.minimum.accumulate(values - rank * apart) + rank * apart
