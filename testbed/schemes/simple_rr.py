"""SimpleRR: one rotating pointer a switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes.scheme import Scheme
from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def one_pointer(site: Site) -> State:
    """Start the switch's only pointer anywhere."""
    start = int(site.random("pointers").integers(site.width))
    return State(registers={f"{BALANCE}.pointer": (start,)})


SCHEME = Scheme(
    name="simple_rr",
    program="simple_rr",
    label="SimpleRR",
    color="#8c564b",
    marker="v",
    reference="§3.1",
    setup=one_pointer,
)
