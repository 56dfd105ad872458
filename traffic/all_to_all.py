"""All-to-all: every host sends a message to every other (paper §6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows

if TYPE_CHECKING:
    from traffic.request import Request


def all_to_all(request: Request) -> Flows:
    """Make n(n-1) messages, grouped by sender.

    Option `constant` says what `message_bytes` is: the size of each message (`flow`, Fig. 5b), or
    what a host sends in total (`host`, Fig. 5c), shared equally and rounded up to whole bytes. A
    sender's messages are listed from a random receiver on, in circular order: hosts serve their
    messages in turn, and starting all of them at the same receiver would be an incast.
    """
    hosts = request.hosts
    if hosts < 2:
        raise UserError(f"an all-to-all needs at least 2 hosts, not {hosts}")
    others = hosts - 1
    per_flow = request.message_bytes
    if request.choice("constant", ("flow", "host")) == "host":
        per_flow = -(-request.message_bytes // others)
    sender = np.arange(hosts)[:, None]
    first = request.rng.integers(others, size=(hosts, 1))
    receiver = (sender + 1 + (first + np.arange(others)) % others) % hosts
    source = np.broadcast_to(sender, receiver.shape).ravel()
    return Flows.of(source, receiver.ravel(), np.full(hosts * others, per_flow, dtype=np.int64))
