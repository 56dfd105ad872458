"""DRILL: the shortest of two random uplinks and the last winner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def remembered_uplink(site: Site) -> State:
    """Give backlogs, and a memory that starts anywhere."""
    start = int(site.random("pointers").integers(site.width))
    return State(measuring.clock(site, BALANCE), {f"{BALANCE}.memory": (start,)})


SCHEME = Scheme(
    name="drill",
    program="drill",
    label="DRILL",
    color="#c49c94",
    marker="P",
    reference="Table 1",
    setup=remembered_uplink,
)
