"""Constants that the control plane gives to schemes which measure queues and loads.

Programs count time in ticks, the unit of their timestamps, and get all rates and thresholds in
ticks as fixed-point numbers. Sizes become the time that they take on a link.
"""

from __future__ import annotations

from testbed.parameters import Parameter
from testbed.schemes.site import BALANCE, Defaults, Site, State

PICOSECONDS_PER_MICROSECOND = 1_000_000
UNLIMITED_BUFFER_BYTES = 800_000
"""What percentages of the buffer refer to where queues are unlimited (paper §6)."""

MOST_WORD = (1 << 32) - 1

SAMPLING = (
    Parameter("sampling_us", 1, "time between two samples of a port"),
    Parameter("load_low", 0.2, "share of the link's rate below which load is best", 0, 1),
    Parameter("load_high", 0.8, "share of the link's rate above which load is worst", 0, 2),
    Parameter("queue_high", 20, "percent of the buffer from where a queue is worst", 0, 100),
)


def backlog(site: Site) -> State:
    """Set up a program that knows the backlog of its ports (fabric/backlog.p4)."""
    return State(clock(site, BALANCE))


def clock(site: Site, control: str) -> Defaults:
    """Tell a program how long frames take on a link."""
    scenario = site.scenario
    per_byte = site.picoseconds_per_byte / site.tick_ps
    constants = (
        round(per_byte * (1 << 12)),
        round(per_byte * scenario.ack_bytes),
        round(per_byte * scenario.gap_bytes),
    )
    return {f"{control}.clock.rates": (f"{control}.clock.measure", constants)}


def sampling(site: Site, control: str) -> Defaults:
    """Tell a program how to sample the quality of its ports (fabric/penalty.p4)."""
    period = max(ticks(site, "sampling_us"), 1)
    low, high = site.parameters["load_low"], site.parameters["load_high"]
    queue = max(percent_of_buffer(site, "queue_high"), 1)
    constants = (
        period,
        min((1 << 32) // period, MOST_WORD),
        round(low * (1 << 16)),
        _scale((high - low) * (1 << 16)),
        _scale(queue),
    )
    return {f"{control}.sampler.sampling": (f"{control}.sampler.check_age", constants)}


def _scale(distance: float) -> int:
    """Return 8 bands over a distance with 32 binary places."""
    return min(round(8 * (1 << 32) / max(distance, 1)), MOST_WORD)


def percent_of_buffer(site: Site, parameter: str) -> int:
    """Return the time in ticks that a parameter's percentage of the buffer takes on a link."""
    buffer = site.scenario.buffer_bytes or UNLIMITED_BUFFER_BYTES
    size = buffer * site.parameters[parameter] / 100
    return round(size * site.picoseconds_per_byte / site.tick_ps)


def ticks(site: Site, parameter: str) -> int:
    """Return a parameter in microseconds as ticks."""
    return round(site.parameters[parameter] * PICOSECONDS_PER_MICROSECOND / site.tick_ps)
