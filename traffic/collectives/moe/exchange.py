"""Mixture-of-experts dispatch and combine: skewed all-to-all-v's between servers (paper §6.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.all_to_all import ORDER, turns
from traffic.collectives.moe.routing import Layout, routing
from traffic.flows import Flows, joined
from traffic.request import Request, Volume
from traffic.waits import waits

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

GPUS_PER_SERVER = 8
EXPERTS_PER_TOKEN = 8
TOKEN_BYTES = 8192  # hidden size 4,096 in BF16
SKEW = 1.48
BALANCED_SKEW = 1.13
TOKENS_AT_ONCE = 4096
MODEL_OPTIONS = {
    "server": f"{GPUS_PER_SERVER} GPUs",
    "experts": "one a GPU",
    "slots": "1 expert a GPU",
    "dispatch_bytes": f"{TOKEN_BYTES} a token copy",
    "combine_bytes": f"{TOKEN_BYTES} a token copy",
    "merge": "no or yes (a token goes to a server once)",
    "pass": "dispatch, combine or both",
    "expert_us": "0 between them",
    **ORDER,
}
OPTIONS = {
    "skew": f"{SKEW:g} (busiest GPU over the mean)",
    "balanced": f"{BALANCED_SKEW:g} (the same with 2 slots)",
    "top": f"{EXPERTS_PER_TOKEN} experts a token",
    **MODEL_OPTIONS,
}
PICOSECONDS_PER_MICROSECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Model:
    """What the experts are: how many a token has, its bytes on the way there and back, slots."""

    top: int
    dispatch_bytes: int
    combine_bytes: int
    slots: int
    merged: bool
    expert_ps: int

    @classmethod
    def of(cls, request: Request) -> Model:
        """Read a request's options."""
        return cls(
            top=request.whole("top", EXPERTS_PER_TOKEN, at_least=1),
            dispatch_bytes=request.whole("dispatch_bytes", TOKEN_BYTES, at_least=1),
            combine_bytes=request.whole("combine_bytes", TOKEN_BYTES, at_least=1),
            slots=request.whole("slots", 1, at_least=1),
            merged=request.choice("merge", ("no", "yes")) == "yes",
            expert_ps=round(PICOSECONDS_PER_MICROSECOND * request.number("expert_us", 0)),
        )


def moe(request: Request) -> Flows:
    """Make a dispatch, a combine, or one after the other: each host is a GPU.

    Hierarchical, as DeepEP does it: GPU r of a server sends what is for another server to GPU r
    there, which passes it on over NVLink, so that only traffic between servers is made here. The
    bytes that a GPU dispatches are `message_bytes` on average; 491,520,000 are the paper's 8,000
    tokens a GPU. A combine is a dispatch in the other direction, with `combine_bytes` a token copy.

    The routing is synthetic, see traffic.collectives.moe.routing. Options: `skew` (1.48), what the
    busiest GPU receives over the mean; `balanced` (1.13, or as much less as skew is), the same with
    two slots; `server` GPUs a server (8); `experts` (one a GPU), mapped to GPUs at random; `top`
    experts a token (8); `dispatch_bytes` and `combine_bytes` a token copy (8192); `slots` expert
    slots a GPU (1; with 2 or more EPLB replicates experts); `merge` (`no`, or `yes`: a token that
    has several experts on a server is sent there once); `pass` (`dispatch`, `combine` or `both`,
    where a GPU combines `expert_us` after all that was dispatched to it has arrived); and `order`
    as in an all-to-all. Raises UserError if hosts do not fill servers or skews cannot be had.
    """
    layout = _layout(request)
    skew = request.number("skew", SKEW)
    in_proportion = 1 + (skew - 1) * (BALANCED_SKEW - 1) / (SKEW - 1)
    share = routing(
        layout, skew=skew, balanced=request.number("balanced", in_proportion), rng=request.rng
    )
    model = Model.of(request)
    leaving = (layout.servers - 1) / layout.servers
    copies = request.message_bytes / (leaving * model.dispatch_bytes)
    if model.merged:
        tokens = max(1, round(copies / model.top))
        return exchange(request, layout, model, _merged(request, layout, share, tokens))
    return exchange(request, layout, model, _copies(layout, model, share * copies))


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    messages = request.hosts * (request.hosts // server - 1)
    passes = 2 if request.choice("pass", ("dispatch", "combine", "both")) == "both" else 1
    return Volume(passes * messages, passes * request.hosts * request.message_bytes)


def from_counts(request: Request, counts: NDArray[np.float64]) -> Flows:
    """Make the exchange of token copies `counts[gpu, expert]`; options as in moe, but the skews."""
    model = Model.of(request)
    if model.merged:
        raise UserError("option merge needs tokens, not counts of them")
    layout = _layout(request, experts=counts.shape[1])
    return exchange(request, layout, model, _copies(layout, model, counts))


def from_tokens(request: Request, gpu: NDArray[np.int64], experts: NDArray[np.int64]) -> Flows:
    """Make the exchange of tokens: token i is on `gpu[i]` and goes to the experts `experts[i]`."""
    model, number = Model.of(request), int(experts.max()) + 1
    layout = _layout(request, experts=max(number, request.whole("experts", number, at_least=1)))
    number = len(layout.gpu_of)
    counts = np.zeros((request.hosts, number))
    np.add.at(counts, (gpu[:, None], experts), 1)
    if not model.merged:
        return exchange(request, layout, model, _copies(layout, model, counts))
    chosen = _server_picker(request, layout, counts.sum(axis=0), model.slots)
    there = np.zeros((request.hosts, layout.servers))
    _count_servers(there, gpu, chosen(experts))
    return exchange(request, layout, model, there)


def exchange(request: Request, layout: Layout, model: Model, there: NDArray[np.float64]) -> Flows:
    """Make the messages of `there[gpu, server]` token copies."""
    which = request.choice("pass", ("dispatch", "combine", "both"))
    gpu = np.arange(layout.gpus)
    target = turns(request, gpu // layout.server, layout.servers)
    copies = np.rint(np.take_along_axis(there, target, axis=1)).astype(np.int64)
    sends = copies > 0
    here = np.broadcast_to(gpu[:, None], target.shape)[sends]
    peer = (target * layout.server + (gpu % layout.server)[:, None])[sends]
    copies = copies[sends]
    dispatch = Flows.of(here, peer, copies * model.dispatch_bytes, phases=("dispatch",))
    back = np.argsort(peer, kind="stable")
    combine = Flows.of(
        peer[back], here[back], copies[back] * model.combine_bytes, phases=("combine",)
    )
    if which != "both":
        return dispatch if which == "dispatch" else combine
    return _one_after_the_other(layout, dispatch, combine, model.expert_ps)


def _one_after_the_other(layout: Layout, dispatch: Flows, combine: Flows, expert_ps: int) -> Flows:
    """Let each GPU's experts work when all has arrived, and combine then."""
    gpus = np.arange(layout.gpus)
    work = Flows.of(gpus, gpus, np.zeros_like(gpus), delay_ps=expert_ps, phases=("experts",))
    whole = joined([dispatch, work, combine])
    first, sends = len(dispatch), len(dispatch) + layout.gpus
    arriving, leaving = np.arange(first), np.arange(sends, len(whole))
    after = waits(
        len(whole),
        np.concatenate((first + dispatch.destination, leaving)),
        np.concatenate((arriving, first + combine.source)),
    )
    return whole.waiting(after)


def _layout(request: Request, experts: int | None = None) -> Layout:
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    servers, rest = divmod(request.hosts, server)
    if rest or servers < 2:
        raise UserError(f"{request.hosts} hosts do not make two or more servers of {server}")
    number = experts or request.whole("experts", request.hosts, at_least=1)
    each, rest = divmod(number, request.hosts)
    if rest:
        raise UserError(f"{number} experts do not divide among {request.hosts} GPUs")
    return Layout(
        request.rng.permutation(np.repeat(np.arange(request.hosts), each)), servers, server
    )


def _copies(layout: Layout, model: Model, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the token copies from each GPU to each server."""
    _check_slots(layout, model.slots)
    shares = layout.shares(counts.sum(axis=0), model.slots)
    return np.asarray(counts @ shares)


def _check_slots(layout: Layout, slots: int) -> None:
    if slots > 1 and slots * layout.gpus < len(layout.gpu_of):
        raise UserError(f"option slots is {slots}; {len(layout.gpu_of)} experts need more")


def _merged(
    request: Request, layout: Layout, share: NDArray[np.float64], tokens: int
) -> NDArray[np.float64]:
    """Draw each GPU's tokens, and count those that have an expert on each server.

    A token's experts are different ones, drawn by their probabilities (Gumbel's trick).
    """
    model = Model.of(request)
    if model.top > share.shape[1]:
        raise UserError(f"option top is {model.top}; there are {share.shape[1]} experts")
    chosen = _server_picker(request, layout, share.sum(axis=0), model.slots)
    there = np.zeros((layout.gpus, layout.servers))
    for gpu in range(layout.gpus):
        for begin in range(0, tokens, TOKENS_AT_ONCE):
            number = min(TOKENS_AT_ONCE, tokens - begin)
            score = np.log(share[gpu]) + request.rng.gumbel(size=(number, share.shape[1]))
            experts = np.argpartition(score, -model.top, axis=1)[:, -model.top :]
            _count_servers(there, np.full(number, gpu), chosen(experts))
    return there


def _server_picker(
    request: Request, layout: Layout, load: NDArray[np.float64], slots: int
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return what picks servers for experts: each one's own, or evenly among its replicas'."""
    _check_slots(layout, slots)
    edges = np.cumsum(layout.shares(load, slots), axis=1)

    def picked(experts: NDArray[np.int64]) -> NDArray[np.int64]:
        drawn = request.rng.random(experts.shape)[..., None]
        return np.asarray(np.minimum((drawn >= edges[experts]).sum(axis=-1), layout.servers - 1))

    return picked


def _count_servers(
    there: NDArray[np.float64], gpu: NDArray[np.int64], server: NDArray[np.int64]
) -> None:
    """Add one for each token and each server that it has to reach."""
    reached = np.zeros((len(gpu), there.shape[1]), dtype=bool)
    np.put_along_axis(reached, server, True, axis=1)
    np.add.at(there, gpu, reached)
