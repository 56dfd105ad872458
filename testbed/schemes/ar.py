"""AR: a random uplink among those of the lowest of four levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.parameters import Parameter
from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import BALANCE, Defaults, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site

QUANTA = (
    Parameter("low", 5, "percent of the buffer where level 1 starts", 0, 100),
    Parameter("middle", 10, "percent of the buffer where level 2 starts", 0, 100),
    Parameter("high", 20, "percent of the buffer where level 3 starts", 0, 100),
    Parameter("refresh_us", 0.1, "how long levels stay before they are measured again"),
)


def quantised_backlog(site: Site) -> State:
    """Give backlogs, the edges of the levels, and how long levels stay."""
    edges = (measuring.percent_of_buffer(site, name) for name in ("low", "middle", "high"))
    constants = (*edges, measuring.ticks(site, "refresh_us"))
    quanta: Defaults = {f"{BALANCE}.quanta": (f"{BALANCE}.check_age", constants)}
    return State({**measuring.clock(site, BALANCE), **quanta})


SCHEME = Scheme(
    name="ar",
    program="ar",
    label="AR",
    color="#ff7f0e",
    marker="D",
    reference="Table 1",
    setup=quantised_backlog,
    own=QUANTA,
)
