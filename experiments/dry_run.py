"""What runs of the main job or of a comparison of worlds would be, and what they would cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments import estimate
from experiments.session import title_of
from experiments.world import open_world
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.plan import Plan


def told(plans: Sequence[Plan], world: str, dilation: float | None, jobs: int) -> str:
    """List runs in a world and tell their cost; without a dilation, the one it would choose."""
    titles = estimate.listed([title_of(plan) for plan in plans])
    return "\n".join([*titles, _cost(plans, world, dilation, jobs)])


def _cost(plans: Sequence[Plan], world: str, dilation: float | None, jobs: int) -> str:
    if world == VIRTUAL:
        return estimate.virtual_cost([plan.scenario for plan in plans], jobs)
    if dilation is None:
        opened = open_world(world)
        try:
            dilation = opened.dilation_for(plans[0])
        finally:
            opened.close()
    return estimate.real_time_cost(plans, dilation)
