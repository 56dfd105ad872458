"""Tokens one by one: on which servers their experts are, where a server is sent to only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.moe.model import Model, check_slots

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from traffic.collectives.moe.routing import Layout
    from traffic.request import Request

TOKENS_AT_ONCE = 4096


def merged(
    request: Request, layout: Layout, share: NDArray[np.float64], tokens: int
) -> NDArray[np.float64]:
    """Draw each GPU's tokens, and count those that have an expert on each server.

    A token's experts are different ones, drawn by their probabilities (Gumbel's trick).
    """
    model = Model.of(request)
    if model.top > share.shape[1]:
        raise UserError(f"option top is {model.top}; there are {share.shape[1]} experts")
    chosen = server_picker(request, layout, share.sum(axis=0), model.slots)
    there = np.zeros((layout.gpus, layout.servers))
    for gpu in range(layout.gpus):
        for begin in range(0, tokens, TOKENS_AT_ONCE):
            number = min(TOKENS_AT_ONCE, tokens - begin)
            score = np.log(share[gpu]) + request.rng.gumbel(size=(number, share.shape[1]))
            experts = np.argpartition(score, -model.top, axis=1)[:, -model.top :]
            count_servers(there, np.full(number, gpu), chosen(experts))
    return there


def server_picker(
    request: Request, layout: Layout, load: NDArray[np.float64], slots: int
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return what picks servers for experts: each one's own, or evenly among its replicas'."""
    check_slots(layout, slots)
    edges = np.cumsum(layout.shares(load, slots), axis=1)

    def picked(experts: NDArray[np.int64]) -> NDArray[np.int64]:
        drawn = request.rng.random(experts.shape)[..., None]
        return np.asarray(np.minimum((drawn >= edges[experts]).sum(axis=-1), layout.servers - 1))

    return picked


def count_servers(
    there: NDArray[np.float64], gpu: NDArray[np.int64], server: NDArray[np.int64]
) -> None:
    """Add one for each token and each server that it has to reach."""
    reached = np.zeros((len(gpu), there.shape[1]), dtype=bool)
    np.put_along_axis(reached, server, True, axis=1)
    np.add.at(there, gpu, reached)
