"""Pointers that rotate over port orders, for Ofan and its variant with pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from testbed.orders import basis
from testbed.schemes.site import BALANCE, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.schemes.site import Site


def pointers(site: Site) -> State:
    """Start a pointer anywhere per destination; ACKs start half a round after data.

    Paper §4.1. Pipes, where a scheme has them, have pointers of their own (paper §5.1).
    """
    width, down = site.width, site.topology.downlinks(site.node.tier)
    pipes = -(-down // int(site.parameters.get("pipe_ports", down)))
    data = site.random("pointers").integers(width, size=(pipes, 1, site.destinations))
    both = np.concatenate((data, (data + width // 2) % width), axis=1).astype(np.uint8)
    registers: dict[str, Sequence[int]] = {f"{BALANCE}.rotation.order": bytes(basis(width))}
    if site.destinations:
        registers[f"{BALANCE}.rotation.pointers"] = both.tobytes()
    return State(registers=registers)
