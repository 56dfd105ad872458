"""Ethereal: hosts pin subflows to paths."""

from __future__ import annotations

from testbed.schemes import following
from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="ethereal",
    program="path_id",
    label="Ethereal",
    color="#c5b0d5",
    marker="*",
    reference="§3.4",
    dashed=True,
    setup=following.turning_point,
    entropy="ethereal",
)
