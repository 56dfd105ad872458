"""Permutations: every host sends one message and receives one (paper §3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows, joined
from traffic.request import Request, Volume

if TYPE_CHECKING:
    from numpy.typing import NDArray

BACKGROUND_BYTES = 64 << 10
OPTIONS = {
    "background": "0 more messages a host, to anyone",
    "background_bytes": f"{BACKGROUND_BYTES}",
}


def derangement(request: Request) -> Flows:
    """Make a random derangement, uniform over all of them: nobody sends to itself.

    Option `background`: so many more messages a host, to random others, of `background_bytes` each
    (65536), in the phase `background`; the permutation itself is the same with and without.
    """
    hosts = np.arange(request.hosts)
    if request.hosts < 2:
        raise UserError(f"a permutation needs at least 2 hosts, not {request.hosts}")
    flows = Flows.of(hosts, _uniform_derangement(request.hosts, request.rng), _sizes(request))
    background = request.whole("background", 0)
    return joined([flows, _background(request, background)]) if background else flows


def inter_pod(request: Request) -> Flows:
    """Make a random permutation that forces every message to another pod (Figs. 3 and 17).

    It is drawn by shuffling and repairing: a host whose receiver is in its own pod swaps receivers
    with a random host until both have one elsewhere. That is close to uniform; drawing until no
    host needs repair would be uniform, and never end for more than a few dozen hosts.
    """
    pods = request.hosts // request.hosts_per_pod
    if pods < 2:
        raise UserError("a permutation between pods needs at least 2 pods")
    hosts = np.arange(request.hosts)
    pod = hosts // request.hosts_per_pod
    receiver = request.rng.permutation(request.hosts)
    while (wrong := np.flatnonzero(pod[receiver] == pod)).size:
        for host in wrong.tolist():
            _swap_with_anyone(receiver, pod, host, request.rng)
    return Flows.of(hosts, receiver, _sizes(request))


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    more, size = request.whole("background", 0), request.whole("background_bytes", BACKGROUND_BYTES)
    return Volume(request.hosts * (1 + more), request.hosts * (request.message_bytes + more * size))


def _background(request: Request, each: int) -> Flows:
    """Make `each` messages a host to others, drawn evenly and independently."""
    source = np.repeat(np.arange(request.hosts), each)
    others = request.rng.integers(request.hosts - 1, size=len(source))
    size = request.whole("background_bytes", BACKGROUND_BYTES, at_least=1)
    sizes = np.full(len(source), size, dtype=np.int64)
    destination = (source + 1 + others) % request.hosts
    return Flows.of(source, destination, sizes, phases=("background",))


def _uniform_derangement(hosts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Shuffle until nobody is left in place: e shuffles on average, whatever the size."""
    while True:
        receiver = rng.permutation(hosts)
        if not np.any(receiver == np.arange(hosts)):
            return receiver


def _swap_with_anyone(
    receiver: NDArray[np.int64], pod: NDArray[np.int64], host: int, rng: np.random.Generator
) -> None:
    """Swap receivers with one random host if that leaves both with one in another pod."""
    other = rng.integers(len(receiver))
    mine, theirs = receiver[host], receiver[other]
    if pod[theirs] != pod[host] and pod[mine] != pod[other]:
        receiver[host], receiver[other] = theirs, mine


def _sizes(request: Request) -> NDArray[np.int64]:
    return request.equal_messages(request.hosts)
