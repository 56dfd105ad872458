"""Seeded random streams by name.

One seed decides pointers, permutations, hash salts, phases and random ports through streams of
their own, so that one of them can be changed and all others stay as they were.
"""

from __future__ import annotations

import numpy as np


def stream(seed: int, name: str, *numbers: int) -> np.random.Generator:
    """Return the generator of stream `name`; `numbers` tell members of a family apart."""
    return np.random.Generator(np.random.PCG64(_sequence(seed, name, numbers)))


def stream_seed(seed: int, name: str, *numbers: int) -> int:
    """Return 64 bits that seed a generator outside of Python, such as a switch's `random`."""
    return int(_sequence(seed, name, numbers).generate_state(1, np.uint64)[0])


def _sequence(seed: int, name: str, numbers: tuple[int, ...]) -> np.random.SeedSequence:
    return np.random.SeedSequence([seed, len(name), *name.encode(), *numbers])
