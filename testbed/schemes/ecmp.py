"""ECMP: a hash of the five-tuple, with one entropy a flow."""

from __future__ import annotations

from testbed.schemes import hashing
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="ecmp",
    program="ecmp",
    label="ECMP",
    color="#7f7f7f",
    marker="x",
    reference="§1",
    setup=hashing.salt,
)
