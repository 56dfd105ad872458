"""CONGA: the least congested path, fed back by the destination's edge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from testbed.parameters import Parameter
from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import Defaults, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site

ESTIMATORS = (
    Parameter("tau_us", 0.1, "time that the rate estimators look back", 0.001),
    Parameter("alpha", 0.125, "share that estimators lose in a period of alpha tau", 0.001, 1),
    Parameter("age_taus", 10, "age in tau after which what was fed back is forgotten", 0.001),
)


def discounting_rate(site: Site) -> State:
    """Give the estimators' period, decay and growth, and the age of fed-back metrics."""
    alpha = site.parameters["alpha"]
    tau = measuring.ticks(site, "tau_us")
    period = max(round(tau * alpha), 1)
    discount = (period, (1 << 32) // period + 1, round((1 - alpha) * (1 << 16)))
    topology = site.topology
    edges_per_pod = topology.edges_per_pod if topology.levels == 3 else 256
    constants = (
        int(site.node.tier == "edge"),
        edges_per_pod,
        topology.plane(site.node) * topology.shape.pods_per_plane * edges_per_pod,
        round((1 << 40) / tau),
        max(round(math.log2(site.parameters["age_taus"] * tau)), 0),
    )
    estimators: Defaults = {
        "Fabric.discounter.discount": ("Fabric.discounter.count_periods", discount),
        "Fabric.constants": ("Fabric.know", constants),
    }
    return State({**measuring.clock(site, "Fabric"), **estimators})


SCHEME = Scheme(
    name="conga",
    program="conga",
    label="CONGA",
    color="#bcbd22",
    marker="<",
    reference="Table 1",
    setup=discounting_rate,
    own=ESTIMATORS,
    widest=32,
    one_rate=True,
)
