"""Which experts the tokens of each GPU go to: synthetic, as skewed as it is asked to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.moe.replication import place

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

STEEPEST = 8.0
ROUNDS = 20  # of bisection
NEIGHBOURS = (1.0, *(1 + sign * step / 50 for step in range(1, 11) for sign in (-1, 1)))
DRAWS = 20
TOLERANCE = 0.005  # leaves room for tokens to be whole


@dataclass(frozen=True, slots=True)
class Layout:
    """Where experts are: `gpu_of[expert]`, on `servers` servers of `server` GPUs."""

    gpu_of: NDArray[np.int64]
    servers: int
    server: int

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.servers * self.server

    def shares(self, load: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
        """Return the share of each expert's tokens that each server serves, (experts, servers).

        With one slot a GPU, experts are where they are; with more, popular ones have replicas, by
        EPLB for the `load` of all experts, and GPUs deal their tokens out evenly among them.
        """
        if slots == 1:
            return np.asarray(np.eye(self.servers)[self.gpu_of // self.server])
        by_gpu = place(load, self.gpus, slots)
        return np.asarray(by_gpu.reshape(len(load), self.servers, self.server).sum(axis=2))

    def received(self, copies: NDArray[np.float64], slots: int = 1) -> NDArray[np.float64]:
        """Return what each GPU receives from other servers of `copies[gpu, expert]`.

        GPU r of a server receives what GPUs r of others send there (traffic.collectives.moe).
        """
        to_server = copies @ self.shares(copies.sum(axis=0), slots)
        by_rank = to_server.reshape(self.servers, self.server, self.servers).copy()
        own = np.arange(self.servers)
        by_rank[own, :, own] = 0
        return np.asarray(by_rank.sum(axis=0).T.ravel())

    def skew(self, copies: NDArray[np.float64], slots: int = 1) -> float:
        """Return what the busiest GPU receives over the mean."""
        received = self.received(copies, slots)
        return float(received.max() / received.mean())

    def balanced_skew(self, copies: NDArray[np.float64]) -> float:
        """Return the same with two slots for each expert."""
        return self.skew(copies, 2 * len(self.gpu_of) // self.gpus)


def routing(
    layout: Layout, *, skew: float, balanced: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the probability with which each GPU's tokens go to each expert, (GPUs, experts).

    Its logarithm is a normal number of the expert, the same for all GPUs, and one of the GPU and
    the expert, times a steepness each. These are such that the busiest GPU receives `skew` times
    the mean, and `balanced` times where EPLB has two slots for each expert: replicas even out what
    GPUs have in common, not what is their own. Both are met within 1 %: normal numbers are drawn
    again until they are. Raises UserError for skews that cannot be had.
    """
    if not 1 <= skew < float("inf"):
        raise UserError(f"option skew is {skew:g}; it must be at least 1")
    if not 1 <= balanced <= skew:
        raise UserError(f"option balanced is {balanced:g}; it must be from 1 to skew, {skew:g}")
    for _ in range(DRAWS):
        family = _Family(layout, rng)
        found = family.nearest(skew, balanced)
        if found is not None:
            return found
    raise UserError(
        f"no routing of {layout.gpus} GPUs to {len(layout.gpu_of)} experts has skew {skew:g} and "
        f"balanced {balanced:g}; options skew and balanced say what is wanted"
    )


class _Family:
    """Routings of the same normal numbers: how steep they are is what they differ in."""

    def __init__(self, layout: Layout, rng: np.random.Generator) -> None:
        self.layout = layout
        self._shared = rng.standard_normal(len(layout.gpu_of))
        self._own = rng.standard_normal((layout.gpus, len(layout.gpu_of)))

    def member(self, common: float, apart: float) -> NDArray[np.float64]:
        """Return the routing of these steepnesses."""
        weight = np.exp(common * self._shared + apart * self._own)
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))

    def nearest(self, skew: float, balanced: float) -> NDArray[np.float64] | None:
        """Return a member with both skews, None if there is none near a bisection's.

        Replicas are whole, so that the skew they leave jumps: neighbours are looked at too.
        """
        most = _bisected(lambda apart: self.layout.skew(self.member(0, apart)) >= skew)
        middle = _bisected(
            lambda apart: self.layout.balanced_skew(self._with_skew(skew, apart)) >= balanced,
            most,
        )
        for factor in NEIGHBOURS:
            found = self._with_skew(skew, min(factor * middle, most))
            off = (
                self.layout.skew(found) / skew,
                self.layout.balanced_skew(found) / balanced,
            )
            if max(abs(share - 1) for share in off) <= TOLERANCE:
                return found
        return None

    def _with_skew(self, skew: float, apart: float) -> NDArray[np.float64]:
        common = _bisected(lambda common: self.layout.skew(self.member(common, apart)) >= skew)
        return self.member(common, apart)


def _bisected(reached: Callable[[float], bool], high: float = STEEPEST) -> float:
    """Return about the least steepness that reaches it, `high` if none does."""
    low = 0.0
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
