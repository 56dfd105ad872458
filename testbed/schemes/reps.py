"""REPS: a hash, with entropies recycled from unmarked ACKs."""

from __future__ import annotations

from testbed.schemes import hashing
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="reps",
    program="ecmp",
    label="REPS",
    color="#d62728",
    marker="d",
    reference="Table 1",
    setup=hashing.salt,
    entropy="reps",
)
