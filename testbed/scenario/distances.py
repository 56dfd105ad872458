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
    edge = scenario.width
    same_edge = source // edge == destination // edge
    if scenario.levels == 2:
        return np.where(same_edge, 2, 4)
    same_pod = source // edge**2 == destination // edge**2
    return np.where(same_edge, 2, np.where(same_pod, 4, 6))
