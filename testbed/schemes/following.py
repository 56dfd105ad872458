"""Switches that follow the path a host named (path_id.p4), for DRB and Ethereal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def turning_point(site: Site) -> State:
    """Tell a switch which digit of a path number is its own."""
    digit = "take_core" if site.node.tier == "aggregation" else "take_aggregation"
    return State({f"{BALANCE}.turn": (f"{BALANCE}.{digit}", ())})
