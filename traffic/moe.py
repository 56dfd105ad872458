"""Mixture-of-experts dispatch: a skewed all-to-all-v between servers (paper §6.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.replication import place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.request import Request

GPUS_PER_SERVER = 8
EXPERTS_PER_TOKEN = 8
TOKEN_BYTES = 8192  # hidden size 4,096 in BF16
SKEW = 1.48
STEEPEST = 64.0


def dispatch(request: Request) -> Flows:
    """Make one dispatch: each host is a GPU with an expert, and sends its tokens to the experts'.

    Hierarchical, as DeepEP does it: GPU r of a server sends what is for another server to GPU r
    there, which passes it on over NVLink, so that only traffic between servers is made here. The
    bytes that a GPU sends are `message_bytes` on average; 491,520,000 are the paper's 8,000 tokens
    a GPU. Token copies are not merged when a token has several experts on one server.

    The routing is synthetic: the popularity of experts is log-normal, made as steep as it takes for
    the busiest GPU to be expected `skew` times the mean, and each GPU draws its tokens' experts
    from it. Options: `skew` (1.48), `server` GPUs a server (8), `top` experts a token (8),
    `token_bytes` (8192), and `slots` expert slots a GPU (1; with 2 or more, experts are replicated
    and placed as EPLB does, which evens out the skew given). Experts are mapped to GPUs at random.
    Raises UserError if the hosts do not fill servers or the skew cannot be had.
    """
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    servers, rest = divmod(request.hosts, server)
    if rest or servers < 2:
        raise UserError(f"{request.hosts} hosts do not make two or more servers of {server}")
    expert_server = request.rng.permutation(request.hosts) // server
    popularity = skewed_popularity(
        expert_server, servers, request.number("skew", SKEW), request.rng
    )
    share = _shares(request, popularity, expert_server, server, servers)
    wanted = _drawn_bytes(request, popularity, servers)
    return _between_servers(request, wanted @ share, server)


def skewed_popularity(
    server_of: NDArray[np.int64], servers: int, skew: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return experts' probabilities whose sum over the busiest server is `skew` times the mean.

    The logarithms are normal with a standard deviation found by bisection. Raises UserError
    for a skew below 1 or beyond what one popular expert can make of it.
    """
    normal = rng.standard_normal(len(server_of))

    def popularity(steepness: float) -> NDArray[np.float64]:
        weight = np.exp(steepness * (normal - normal.max()))
        return np.asarray(weight / weight.sum())

    def skew_at(steepness: float) -> float:
        return servers * float(np.bincount(server_of, popularity(steepness), servers).max())

    if not 1 <= skew <= skew_at(STEEPEST):
        raise UserError(f"option skew is {skew:g}; it must be from 1 to {skew_at(STEEPEST):g}")
    low, high = 0.0, STEEPEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if skew_at(middle) < skew else (low, middle)
    return popularity(high)


def _drawn_bytes(
    request: Request, popularity: NDArray[np.float64], servers: int
) -> NDArray[np.float64]:
    """Draw the bytes from each GPU to each expert, `message_bytes` a GPU between servers."""
    leaving = (servers - 1) / servers
    token_bytes = request.whole("token_bytes", TOKEN_BYTES, at_least=1)
    top = request.whole("top", EXPERTS_PER_TOKEN, at_least=1)
    tokens = max(1, round(request.message_bytes / (leaving * token_bytes * top)))
    copies = request.rng.multinomial(tokens * top, popularity, size=request.hosts)
    return copies.astype(np.float64) * token_bytes


def _shares(
    request: Request,
    popularity: NDArray[np.float64],
    expert_server: NDArray[np.int64],
    server: int,
    servers: int,
) -> NDArray[np.float64]:
    """Return the share of each expert's tokens that each server serves, (experts, servers)."""
    slots = request.whole("slots", 1, at_least=1)
    if slots == 1:
        return np.asarray(np.eye(servers)[expert_server])
    by_gpu = place(popularity, request.hosts, slots)
    return np.asarray(by_gpu.reshape(len(popularity), servers, server).sum(axis=2))


def _between_servers(request: Request, size: NDArray[np.float64], server: int) -> Flows:
    """Make the flows of `size[gpu, server]` bytes, from each GPU to its peers of the same rank."""
    gpus, servers = size.shape
    gpu = np.arange(gpus)[:, None]
    first = request.rng.integers(servers - 1, size=(gpus, 1))
    target = (gpu // server + 1 + (first + np.arange(servers - 1)) % (servers - 1)) % servers
    source = np.broadcast_to(gpu, target.shape).ravel()
    destination = (target * server + gpu % server).ravel()
    bytes_sent = np.rint(np.take_along_axis(size, target, axis=1)).astype(np.int64).ravel()
    sent = bytes_sent > 0
    return Flows.of(source[sent], destination[sent], bytes_sent[sent])
