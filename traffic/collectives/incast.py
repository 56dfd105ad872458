"""Incast: many hosts send to one at a time (or to several)."""

from __future__ import annotations

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.request import Request, Volume

PICOSECONDS_PER_NANOSECOND = 1000
MOST_SENDERS = 32
OPTIONS = {
    "senders": f"{MOST_SENDERS} hosts, or all there are",
    "receivers": "1",
    "stagger_ns": "0 between starts",
}


def incast(request: Request) -> Flows:
    """Make messages of `message_bytes` from `senders` hosts to each of `receivers` hosts.

    Hosts are drawn at random, and nobody is in two roles. Options: `senders` of each receiver (32,
    or all there are), `receivers` (1), and `stagger_ns`, the time from one sender's start to
    the next one's of the same receiver (0: all at once).
    """
    receivers, senders = _roles(request)
    stagger = request.number("stagger_ns", 0)
    if not 0 <= stagger < float("inf"):
        raise UserError(f"option stagger_ns is {stagger:g}; it must be at least 0")
    drawn = request.rng.permutation(request.hosts)[: receivers * (senders + 1)]
    roles = drawn.reshape(receivers, senders + 1)
    turn = np.tile(np.arange(senders), receivers)
    return Flows.of(
        roles[:, 1:].ravel(),
        np.repeat(roles[:, 0], senders),
        request.equal_messages(len(turn)),
        start_ps=np.rint(turn * stagger * PICOSECONDS_PER_NANOSECOND).astype(np.int64),
    )


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    receivers, senders = _roles(request)
    return Volume(receivers * senders, receivers * senders * request.message_bytes)


def _roles(request: Request) -> tuple[int, int]:
    """Return the receivers, and the senders of each."""
    receivers = request.whole("receivers", 1, at_least=1)
    most = request.hosts // receivers - 1
    senders = request.whole("senders", max(1, min(MOST_SENDERS, most)), at_least=1)
    if senders > most:
        raise UserError(
            f"{receivers} incasts of {senders} senders need {receivers * (senders + 1)} hosts; "
            f"there are {request.hosts}"
        )
    return receivers, senders
