"""What the experts of a mixture are: the options of MoE workloads, and where experts stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.all_to_all import ORDER
from traffic.collectives.moe.routing import Layout

if TYPE_CHECKING:
    from traffic.request import Request

GPUS_PER_SERVER = 8
EXPERTS_PER_TOKEN = 8
TOKEN_BYTES = 8192  # hidden size 4,096 in BF16
SKEW = 1.48
BALANCED_SKEW = 1.13
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


def layout_of(request: Request, experts: int | None = None) -> Layout:
    """Place experts on GPUs at random, one a GPU unless told.

    Raises UserError if hosts do not make servers, or experts do not divide among them.
    """
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


def check_slots(layout: Layout, slots: int) -> None:
    """Raise UserError if GPUs have too few slots for all experts."""
    if slots > 1 and slots * layout.gpus < len(layout.gpu_of):
        raise UserError(f"option slots is {slots}; {len(layout.gpu_of)} experts need more")
