"""Mixture-of-experts dispatch and combine: skewed all-to-all-v's between servers (paper §6.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.all_to_all import turns
from traffic.collectives.moe.model import (
    BALANCED_SKEW,
    GPUS_PER_SERVER,
    SKEW,
    Model,
    check_slots,
    layout_of,
)
from traffic.collectives.moe.routing import routing
from traffic.collectives.moe.tokens import count_servers, merged, server_picker
from traffic.flows import Flows, joined
from traffic.request import Volume
from traffic.waits import waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.collectives.moe.routing import Layout
    from traffic.request import Request


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
    layout = layout_of(request)
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
        return exchange(request, layout, model, merged(request, layout, share, tokens))
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
    layout = layout_of(request, experts=counts.shape[1])
    return exchange(request, layout, model, _copies(layout, model, counts))


def from_tokens(request: Request, gpu: NDArray[np.int64], experts: NDArray[np.int64]) -> Flows:
    """Make the exchange of tokens: token i is on `gpu[i]` and goes to the experts `experts[i]`."""
    model, number = Model.of(request), int(experts.max()) + 1
    layout = layout_of(request, experts=max(number, request.whole("experts", number, at_least=1)))
    number = len(layout.gpu_of)
    counts = np.zeros((request.hosts, number))
    np.add.at(counts, (gpu[:, None], experts), 1)
    if not model.merged:
        return exchange(request, layout, model, _copies(layout, model, counts))
    chosen = server_picker(request, layout, counts.sum(axis=0), model.slots)
    there = np.zeros((request.hosts, layout.servers))
    count_servers(there, gpu, chosen(experts))
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


def _copies(layout: Layout, model: Model, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the token copies from each GPU to each server."""
    check_slots(layout, model.slots)
    shares = layout.shares(counts.sum(axis=0), model.slots)
    return np.asarray(counts @ shares)
