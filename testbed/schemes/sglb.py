"""SGLB: as DLB, and what the next switch says of its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes import measuring
from testbed.schemes.scheme import Scheme
from testbed.schemes.site import Defaults, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def path_quality(site: Site) -> State:
    """Give what DLB gets, and which links a switch hears of and reports on."""
    w, node = site.topology.edges_per_pod, site.node
    uplinks = max(site.uplinks.bit_count(), 1)
    share = -(-(1 << 16) // uplinks)
    if node.tier == "edge" and site.topology.levels == 3:
        view = (node.pod % site.topology.shape.pods_per_plane * w, w, 0, 0, 0)
    elif node.tier == "edge":
        view = (0, site.topology.shape.edges_per_plane, 0, 0, 0)
    elif node.tier == "aggregation":
        view = (0, site.topology.shape.pods_per_plane, 0, w, share)
    else:
        view = (0, 0, 1, site.topology.shape.core_ports, 0)
    seen: Defaults = {"Fabric.view": ("Fabric.see", view)}
    return State({**measuring.clock(site, "Fabric"), **measuring.sampling(site, "Fabric"), **seen})


SCHEME = Scheme(
    name="sglb",
    program="sglb",
    label="SGLB",
    color="#98df8a",
    marker="h",
    reference="Table 1",
    setup=path_quality,
    own=measuring.SAMPLING,
    one_rate=True,
)
