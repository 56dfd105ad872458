"""All-reduce by recursive halving and doubling: 2 log2(N) exchanges of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.costs import OPTIONS as COSTS
from traffic.collectives.costs import costs_of
from traffic.flows import Flows, joined
from traffic.request import GROUP, Request, Volume
from traffic.waits import waits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from traffic.collectives.costs import Costs

PHASES = ("reduce-scatter", "all-gather")
OPTIONS = {**GROUP, **COSTS}


def halving_doubling(request: Request) -> Flows:
    """Make the flows of an all-reduce of `message_bytes` among 2^n ranks, over all or in groups.

    In exchange i of n, ranks whose numbers differ in bit n-1-i swap halves of what is left and add:
    N/2, then N/4 … of the buffer; n exchanges in the opposite order bring the sums to all. A rank
    begins an exchange when the one before has arrived and its own is sent. Options as in
    traffic.collectives.costs, `placement` and `group`.
    """
    if request.group_size() & (request.group_size() - 1):
        raise UserError(
            f"halving and doubling needs a power of two of hosts, not {request.group_size()}; "
            "option group makes groups"
        )
    costs = costs_of(request)
    return joined([_exchanges(ranks, request.message_bytes, costs) for ranks in request.groups()])


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    ranks = request.group_size()
    sent = 2 * request.message_bytes * (ranks - 1) // ranks
    return Volume(request.hosts * 2 * (ranks.bit_length() - 1), request.hosts * sent)


def _exchanges(ranks: NDArray[np.int64], size: int, costs: Costs) -> Flows:
    number, rounds = len(ranks), len(ranks).bit_length() - 1
    bits = [*range(rounds - 1, -1, -1), *range(rounds)]
    source = np.tile(ranks, 2 * rounds)
    rank = np.arange(number)
    partner = np.concatenate([rank ^ (1 << bit) for bit in bits])
    share = np.array([size * (1 << bit) // number for bit in bits])
    sizes = np.repeat(np.maximum(share, 1), number)
    row = np.arange(number, len(source))
    after = waits(
        len(source),
        np.concatenate((row, row)),
        np.concatenate((row - number - row % number + partner[row - number], row - number)),
    )
    step = np.arange(len(source)) // number
    summed = np.where((step > 0) & (step <= rounds), np.roll(sizes, number), 0)
    return Flows.of(
        source,
        ranks[partner],
        sizes,
        after=after,
        delay_ps=costs.delay_ps(source, summed),
        phase=step // rounds,
        phases=PHASES,
    )
