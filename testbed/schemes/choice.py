"""CHOICE: the shorter of two random uplinks."""

from __future__ import annotations

from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="choice",
    program="choice",
    label="CHOICE",
    color="#9edae5",
    marker=">",
    reference="Table 1",
    dashed=True,
    setup=measuring.backlog,
)
