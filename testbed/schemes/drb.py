"""DRB: hosts rotate over the paths to a host."""

from __future__ import annotations

from testbed.schemes import following
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="drb",
    program="path_id",
    label="DRB",
    color="#9467bd",
    marker="p",
    reference="§3.4",
    setup=following.turning_point,
    entropy="drb",
)
