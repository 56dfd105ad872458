"""Ofan's basis permutation P, chosen so that pointers follow many different port orders.

The paper (Appendix F.2) asks that the w additive shifts of P be distinct cyclic orders, and leaves
P open. How many orders the formula then yields depends on P: at w = 6 between 14 and 36, most often
the paper's 30. The tables below reach the most, or for w = 6 the paper's number.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

CHOSEN = {1: (0,), 2: (0, 1), 3: (0, 1, 2), 4: (0, 1, 3, 2), 6: (0, 1, 2, 5, 3, 4)}
"""P where it is fixed; below w = 4 no P has distinct shifts."""

_DRAW_SEED = 16
_WIDEST_COMPARED = 16
_COMPARED = 64


@lru_cache(maxsize=64)
def basis(width: int) -> tuple[int, ...]:
    """Return the permutation P of `width` uplinks, the same in every run."""
    if width in CHOSEN:
        return CHOSEN[width]
    random = np.random.default_rng(_DRAW_SEED)
    draws = [_draw(random, width) for _ in range(_COMPARED if width <= _WIDEST_COMPARED else 1)]
    return max(draws, key=lambda drawn: distinct_orders(drawn, range(4 * width * width)))


def port_order(permutation: tuple[int, ...], identifier: int) -> tuple[int, ...]:
    """Return the uplinks in the order of pointer `identifier` (paper Appendix F.2, eq. 16 to 18).

    This is the formula of p4/programs/fabric/rotation.p4, to count orders with; switches run that.
    """
    width = len(permutation)
    bits = max(width - 1, 1).bit_length()
    first, second = identifier % (1 << bits), identifier >> bits
    flipped = (value ^ first if value ^ first < width else value for value in permutation)
    return tuple((value + second) % width for value in flipped)


def cyclic(order: tuple[int, ...]) -> tuple[int, ...]:
    """Turn an order so that it starts with port 0: equal for equal cyclic orders."""
    start = order.index(0)
    return order[start:] + order[:start]


def distinct_orders(permutation: tuple[int, ...], identifiers: range) -> int:
    """Count the distinct cyclic orders that pointers with these identifiers follow."""
    width = len(permutation)
    period = width << max(width - 1, 1).bit_length()
    known = range(identifiers.start, min(identifiers.stop, identifiers.start + period))
    return len({cyclic(port_order(permutation, identifier)) for identifier in known})


def has_distinct_shifts(permutation: tuple[int, ...]) -> bool:
    """Tell whether the additive shifts P + c mod w are w different cyclic orders."""
    width = len(permutation)
    shifts = (tuple((value + c) % width for value in permutation) for c in range(width))
    return len({cyclic(shift) for shift in shifts}) == width


def _draw(random: np.random.Generator, width: int) -> tuple[int, ...]:
    while True:
        drawn = tuple(int(value) for value in random.permutation(width))
        if has_distinct_shifts(drawn):
            return drawn
