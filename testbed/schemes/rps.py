"""RPS: a hash, with a new entropy each packet."""

from __future__ import annotations

from testbed.schemes import hashing
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="rps",
    program="ecmp",
    label="RPS",
    color="#ff9896",
    marker="1",
    reference="§3.1",
    setup=hashing.salt,
    entropy="random",
)
