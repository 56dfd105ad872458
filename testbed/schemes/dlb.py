"""DLB: the best of eight bands of load and queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def local_quality(site: Site) -> State:
    """Give backlogs and the sampling of port quality."""
    return State({**measuring.clock(site, BALANCE), **measuring.sampling(site, BALANCE)})


SCHEME = Scheme(
    name="dlb",
    program="dlb",
    label="DLB",
    color="#dbdb8d",
    marker="X",
    reference="Table 1",
    setup=local_quality,
    own=measuring.SAMPLING,
)
