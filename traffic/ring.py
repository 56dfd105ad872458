"""Ring all-reduce: 2(N-1) steps around one ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.waits import waits_for_one

if TYPE_CHECKING:
    from traffic.request import Request


def ring_all_reduce(request: Request) -> Flows:
    """Make the flows of a ring all-reduce of `message_bytes` over all hosts.

    The buffer is cut into N chunks, equal to a byte. In step s, rank r sends chunk r-1-s to rank
    r+1, after its predecessor's of step s-1 has arrived: N-1 steps reduce, N-1 copy. Option
    `placement`: ranks are hosts `in-order`, or placed at `random`.
    """
    ranks = request.ranks()
    number = len(ranks)
    if not 2 <= number <= request.message_bytes:
        raise UserError(
            f"a ring of {number} hosts cannot cut {request.message_bytes} B into {number} chunks"
        )
    steps = 2 * (number - 1)
    step, rank = (part.ravel() for part in np.indices((steps, number)))
    chunk = (rank - 1 - step) % number
    cuts = np.arange(number + 1) * request.message_bytes // number
    after = np.where(step > 0, (step - 1) * number + (rank - 1) % number, -1)
    size = np.diff(cuts)[chunk]
    return Flows.of(ranks[rank], ranks[(rank + 1) % number], size, after=waits_for_one(after))
