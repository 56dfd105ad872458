"""All-to-all: every host sends a message to every other (paper §6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traffic.flows import Flows, joined
from traffic.request import GROUP, Request, Volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

ORDER = {"order": "circular or random"}
OPTIONS = {
    "constant": "flow (the message is each flow's size) or host (what a host sends in all)",
    **ORDER,
    **GROUP,
}


def all_to_all(request: Request) -> Flows:
    """Make an all-to-all of all hosts, or in groups; messages are grouped by sender.

    Option `constant` says what `message_bytes` is: the size of each message (`flow`, Fig. 5b), or
    what a host sends in total (`host`, Fig. 5c), shared equally and rounded up to whole bytes.
    Hosts serve their messages in turn, in the order given here, see `turns` for option `order`.
    """
    groups = request.groups()
    size = _size(request, groups.shape[1])
    return joined([_between_all(request, ranks, size) for ranks in groups])


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    ranks = request.group_size()
    messages = request.hosts * (ranks - 1)
    return Volume(messages, messages * _size(request, ranks))


def turns(request: Request, place: NDArray[np.int64], number: int) -> NDArray[np.int64]:
    """Return in which order senders serve the other places, shape (senders, number - 1).

    `place` is each sender's own of `number` places. Option `order`: `circular`, from a random place
    on (starting all at the same one would be an incast), or `random`, each in an order of its own.
    """
    others, shape = number - 1, (len(place), number - 1)
    if request.choice("order", ("circular", "random")) == "random":
        shift = request.rng.permuted(np.broadcast_to(np.arange(others), shape), axis=1)
    else:
        shift = (request.rng.integers(others, size=(len(place), 1)) + np.arange(others)) % others
    return np.asarray((place[:, None] + 1 + shift) % number)


def _size(request: Request, ranks: int) -> int:
    if request.choice("constant", ("flow", "host")) == "flow":
        return request.message_bytes
    return -(-request.message_bytes // (ranks - 1))


def _between_all(request: Request, ranks: NDArray[np.int64], size: int) -> Flows:
    receiver = turns(request, np.arange(len(ranks)), len(ranks))
    source = np.repeat(ranks, len(ranks) - 1)
    return Flows.of(source, ranks[receiver.ravel()], np.full(len(source), size, dtype=np.int64))
