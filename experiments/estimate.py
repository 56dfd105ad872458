"""What a call would run, about how long, and how large that is: told before anything runs."""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.progress import duration
from experiments.work import sending_seconds
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.virtual.memory import expected_work, memory_expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.points import Point
    from experiments.running import Means
    from testbed.plan import Plan

SHOWN = 20
SAMPLE = Scenario(k=8, message_bytes=1 << 19)
"""What is run to see how fast this machine is."""
SECONDS_A_RUN = 0.2
"""Planning, reading and judging a run, however small."""
HOPS_A_MESSAGE = 80
"""Planning, writing and judging a message takes about as long as so many hops."""
SET_UP_SECONDS = 3.0
"""Between two runs in real time."""


def of_points(points: Sequence[Point], means: Means) -> str:
    """Tell of the points of a sweep or figure that have no result yet."""
    from experiments.running import missing_of  # noqa: PLC0415 - loads pandas

    missing = missing_of(points, means)
    first = f"{len(points):,} points, {len(missing):,} of them to run, into {means.out}"
    cost = virtual_cost([point.scenario for point in missing], means.jobs)
    return "\n".join([first, *listed([point.title for point in missing]), cost])


def virtual_cost(scenarios: Sequence[Scenario], jobs: int) -> str:
    """Tell how much work runs in virtual time are, how long they take, and their memory."""
    work = [expected_work(scenario) for scenario in scenarios]
    packets = sum(each.packets for each in work)
    hops = sum(each.all_hops for each in work)
    messages = sum(each.messages for each in work)
    memory = max(map(memory_expected, scenarios), default=0)
    steps = hops + HOPS_A_MESSAGE * messages
    seconds = (steps * seconds_a_hop() + len(work) * SECONDS_A_RUN) / jobs
    return (
        f"{packets:,.0f} packets over {hops:,.0f} hops with their ACKs; about "
        f"{duration(seconds)} with {jobs} at a time, and {memory * jobs / 1e9:.1f} GB of memory"
    )


def real_time_cost(plans: Sequence[Plan], dilation: float) -> str:
    """Tell how long runs in real time take, so many times slower than the paper's network."""
    sending = sum(map(sending_seconds, plans)) * dilation
    seconds = sending + SET_UP_SECONDS * len(plans)
    return (
        f"{dilation:,.0f} times slower than the paper's network: hosts send for "
        f"{duration(sending)} in all; about {duration(seconds)} with setting up"
    )


def listed(titles: Sequence[str]) -> list[str]:
    """Return a line for each of the first runs, and one for how many more there are."""
    lines = [f"  {title}" for title in titles[:SHOWN]]
    more = len(titles) - len(lines)
    return [*lines, *([f"  and {more:,} more"] if more else [])]


@functools.cache
def seconds_a_hop() -> float:
    """Measure what a frame at a port takes this machine in virtual time, on one processor."""
    from testbed.virtual import run  # noqa: PLC0415 - builds the event core when first imported

    plan = plan_for(SAMPLE)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the first builds what no earlier run has left in the cache
            begin = time.monotonic()
            run(plan, Path(folder), threads=1, sample_ps=0)
            seconds = time.monotonic() - begin
    return seconds / expected_work(SAMPLE).all_hops
