"""Permutations: every host sends one message and receives one (paper §3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.request import Request


def derangement(request: Request) -> Flows:
    """Make a random derangement, uniform over all of them: nobody sends to itself."""
    hosts = np.arange(request.hosts)
    if request.hosts < 2:
        raise UserError(f"a permutation needs at least 2 hosts, not {request.hosts}")
    return Flows.of(hosts, _uniform_derangement(request.hosts, request.rng), _sizes(request))


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
