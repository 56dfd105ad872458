"""How far hosts are from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from testbed.scenario import Scenario

    Column = NDArray[np.int64]


def hops_between(source: Column, destination: Column, scenario: Scenario) -> Column:
    """Return the number of links between hosts: 2 under one edge, 4, or 6 between pods."""
    shape = scenario.shape
    same_edge = source // shape.hosts_per_edge == destination // shape.hosts_per_edge
    if shape.levels == 2:
        return np.where(same_edge, 2, 4)
    same_pod = source // shape.hosts_per_pod == destination // shape.hosts_per_pod
    return np.where(same_edge, 2, np.where(same_pod, 4, 6))
