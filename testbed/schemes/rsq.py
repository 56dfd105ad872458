"""RSQ: a random uplink."""

from __future__ import annotations

from testbed.schemes.scheme import Scheme

SCHEME = Scheme(
    name="rsq",
    program="rsq",
    label="RSQ",
    color="#ffbb78",
    marker="2",
    reference="§3.1",
)
