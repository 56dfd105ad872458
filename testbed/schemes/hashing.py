"""Hashing over uplinks, as ecmp.p4 does for every scheme whose hosts choose the entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from testbed.schemes.site import Site


def salt(site: Site) -> State:
    """Give the switch an odd random multiplier for its hash."""
    multiplier = int(site.random("salts").integers(0, 1 << 31)) * 2 + 1
    return State({f"{BALANCE}.salt": (f"{BALANCE}.hash_flow", (multiplier,))})
