"""JSQ: the uplink with least to send."""

from __future__ import annotations

from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="jsq",
    program="jsq",
    label="JSQ",
    color="#e377c2",
    marker="^",
    reference="§3.1",
    setup=measuring.backlog,
)
