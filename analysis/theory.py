"""Queue models of destination-based rotation (paper, Appendices D to H) and fits of growth.

Under rotation a queue sees N periodic sources of equal period with random phases: N·D/D/1. Two
answers for its mean are given here, both in packets and in the long run:

- `exact_queue`: the known distribution of the N·D/D/1 workload. Counted in packets, the one in
  service included, as the testbed's queues are.
- `truncated_normal_queue`: the paper's model. Its text describes a Gaussian with negative drift,
  cut off at zero, and prints no formula; docs/reproduction/readings.md tells which reading fits
  what it says of its figures.

`sources` says how many sources each stage's queues see, and at which load, for each scheme.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Model = Literal["drb", "ethereal", "ofan", "pofan"]
STAGES = ("E-A", "A-C", "C-A", "A-E", "E-H")


@dataclass(frozen=True, slots=True)
class Sources:
    """What a stage's queues see: `number` periodic sources (may be a mean) at a load up to 1."""

    number: float
    load: float


@dataclass(frozen=True, slots=True)
class Growth:
    """A fitted exponent of growth with its standard error."""

    exponent: float
    error: float


def exact_queue(sources: Sources) -> float:
    """Return the mean number of packets in an N·D/D/1 queue, the one in service included.

    A number of sources that is not whole is interpolated between its neighbours at the same load.
    """
    low = math.floor(sources.number)
    share = sources.number - low
    mean = 0.0
    for number, weight in ((low, 1 - share), (low + 1, share)):
        if number and weight:
            mean += weight * sum(
                _exceeds(number, number / sources.load, waiting) for waiting in range(number)
            )
    return mean


def truncated_normal_queue(sources: Sources) -> float:
    """Return the mean of a normal distribution with mean -N(1-rho) and variance N, cut off at zero.

    In a period the N sources bring N packets on average and, taken as independent, with variance N;
    the server could take N/rho, which is N(1-rho) more at loads near 1.
    """
    mean = -sources.number * (1 - sources.load)
    deviation = math.sqrt(sources.number)
    lowest = -mean / deviation
    density = math.exp(-lowest * lowest / 2) / math.sqrt(2 * math.pi)
    beyond = math.erfc(lowest / math.sqrt(2)) / 2
    return mean + deviation * density / beyond


def sources(model: Model, k: int, pipe_ports: int = 4) -> dict[str, Sources]:
    """Return what the queues of each stage of a fat tree see under a random permutation.

    The traffic that stays under an edge or in a pod is taken off as its mean. DRB: every flow is a
    source. Ethereal: every subflow is. Ofan: every pointer is, as many as have traffic on average
    (w - 1/4 at an edge; at an aggregation all k - 1 other pods). POfan: every pipe's pointer. The
    paper does not say what the last stage sees; we take the receiver's one flow as coming in over
    w links independently.
    """
    w = k // 2
    hosts = 2 * w**3
    from_edge = 1 - (w - 1) / (hosts - 1)
    from_pod = 1 - (w * w - 1) / (hosts - 1)
    last = Sources(w, 1.0)
    match model:
        case "drb":
            near, far = w * from_edge, w * w * from_pod
        case "ethereal":
            near, far = w * w * from_edge, w * w * from_pod
            last = Sources(w * w, 1.0)
        case "ofan":
            near, far = _occupied(k * k / 2, w), k - 1.0
        case "pofan":
            pipes = math.ceil(w / pipe_ports)
            near = pipes * _occupied(k * k / 2, w / pipes)
            far = min(pipes * (k - 1.0), w * w * from_pod)
    edge, core = Sources(near, from_edge), Sources(far, from_pod)
    return {"E-A": edge, "A-C": core, "C-A": core, "A-E": edge, "E-H": last}


def growth(sizes: Sequence[float], values: Sequence[float]) -> Growth:
    """Fit values ~ sizes^exponent by least squares of logarithms.

    The error is the standard error of the slope, NaN with fewer than three points. Raises
    ValueError with fewer than two points, or values that are not positive.
    """
    if len(sizes) < 2 or min(*sizes, *values) <= 0:
        raise ValueError("an exponent needs two points or more, all positive")
    x, y = np.log(sizes), np.log(values)
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    residual = y - y.mean() - slope * centred
    freedom = len(x) - 2
    error = math.sqrt(float(residual @ residual) / freedom / spread) if freedom else math.nan
    return Growth(slope, error)


def _occupied(bins: float, balls: float) -> float:
    """Return how many of `bins` are hit by `balls` thrown at random, on average."""
    return bins * float(1 - (1 - 1 / bins) ** balls)


def _exceeds(number: int, period: float, waiting: int) -> float:
    """Return the probability that the workload exceeds `waiting` packets."""
    if waiting == 0:
        return min(1.0, number / period)
    total = 0.0
    for ahead in range(waiting + 1, number + 1):
        window = (ahead - waiting) / period
        total += (
            math.comb(number, ahead)
            * window**ahead
            * (1 - window) ** (number - ahead)
            * (period - number + waiting)
            / (period - ahead + waiting)
        )
    return total
