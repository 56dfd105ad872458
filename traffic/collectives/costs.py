"""What a message costs its sender before its first frame: latency, and sums to be made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from traffic.request import Request

OPTIONS = {
    "alpha_ns": "0 a message",
    "reduce_ps_per_byte": "0",
    "slow": "HOST:SPEED, several separated by spaces; sums of that host take longer",
}


@dataclass(frozen=True, slots=True)
class Costs:
    """The alpha of the alpha-beta model, and what it takes to add a received byte to one's own.

    `speed` has hosts that work at a share of the others' speed, as a throttled GPU does: their sums
    take so much longer. Latency and links, which are the NIC's, stay as they are.
    """

    alpha_ps: int = 0
    reduce_ps_per_byte: float = 0.0
    speed: Mapping[int, float] = field(default_factory=dict)

    def delay_ps(self, host: NDArray[np.int64], summed_bytes: ArrayLike) -> NDArray[np.int64]:
        """Return what the hosts take before they send, having `summed_bytes` to add first."""
        sums = np.broadcast_to(self.reduce_ps_per_byte * np.asarray(summed_bytes), host.shape)
        sums = sums.astype(np.float64)
        for slow, speed in self.speed.items():
            sums[host == slow] /= speed
        return np.rint(self.alpha_ps + sums).astype(np.int64)


def costs_of(request: Request) -> Costs:
    """Read the options alpha_ns, reduce_ps_per_byte and slow."""
    alpha, reduction = request.number("alpha_ns", 0), request.number("reduce_ps_per_byte", 0)
    for name, value in (("alpha_ns", alpha), ("reduce_ps_per_byte", reduction)):
        if not 0 <= value < float("inf"):
            raise UserError(f"option {name} is {value:g}; it must be at least 0")
    return Costs(round(1000 * alpha), reduction, _speeds(request))


def _speeds(request: Request) -> dict[int, float]:
    speeds = {}
    for entry in str(request.options.get("slow", "")).split():
        host, _, speed = entry.partition(":")
        try:
            speeds[int(host)] = float(speed)
        except ValueError as error:
            raise UserError(f"option slow has {entry!r}; it must read HOST:SPEED") from error
        if not 0 <= int(host) < request.hosts:
            raise UserError(f"option slow: host {host} is not one of {request.hosts}")
        if not 0 < float(speed) <= 1:
            raise UserError(f"option slow: speed {speed} must be above 0 and at most 1")
    return speeds
