"""Constants that the control plane gives to schemes which measure queues and loads.

Programs count time in ticks, the unit of their timestamps, and get all rates and thresholds in
ticks as fixed-point numbers. Sizes become the time that they take on a link.
"""

from __future__ import annotations

import math

from testbed.state import BALANCE, Defaults, Site, State

PICOSECONDS_PER_MICROSECOND = 1_000_000
UNLIMITED_BUFFER_BYTES = 800_000
"""What percentages of the buffer refer to where queues are unlimited (paper §6)."""

MOST_WORD = (1 << 32) - 1


def backlog(site: Site) -> State:
    """Set up a program that knows the backlog of its ports (fabric/backlog.p4)."""
    return State(_clock(site, BALANCE))


def remembered_uplink(site: Site) -> State:
    """Set up DRILL: backlogs, and a memory that starts anywhere."""
    start = int(site.random("pointers").integers(site.topology.width))
    return State(_clock(site, BALANCE), {f"{BALANCE}.memory": (start,)})


def quantised_backlog(site: Site) -> State:
    """Set up AR: backlogs, the edges of its levels, and how long levels stay."""
    edges = (_percent_of_buffer(site, name) for name in ("low", "middle", "high"))
    constants = (*edges, _ticks(site, "refresh_us"))
    quanta: Defaults = {f"{BALANCE}.quanta": (f"{BALANCE}.check_age", constants)}
    return State({**_clock(site, BALANCE), **quanta})


def local_quality(site: Site) -> State:
    """Set up DLB: backlogs and the sampling of port quality (fabric/penalty.p4)."""
    return State({**_clock(site, BALANCE), **_sampling(site, BALANCE)})


def path_quality(site: Site) -> State:
    """Set up SGLB: as DLB, and which links a switch hears of and reports on."""
    w, node = site.topology.width, site.node
    uplinks = max(site.uplinks.bit_count(), 1)
    share = -(-(1 << 16) // uplinks)
    if node.tier == "edge" and site.topology.levels == 3:
        view = (node.pod * w, w, 0, 0, 0)
    elif node.tier == "edge":
        view = (0, site.topology.edges, 0, 0, 0)
    elif node.tier == "aggregation":
        view = (0, site.topology.pods, 0, w, share)
    else:
        view = (0, 0, 1, site.topology.k, 0)
    seen: Defaults = {"Fabric.view": ("Fabric.see", view)}
    return State({**_clock(site, "Fabric"), **_sampling(site, "Fabric"), **seen})


def discounting_rate(site: Site) -> State:
    """Set up CONGA: its estimators' period, decay and growth, and the age of fed-back metrics."""
    alpha = site.parameters["alpha"]
    tau = _ticks(site, "tau_us")
    period = max(round(tau * alpha), 1)
    discount = (period, (1 << 32) // period + 1, round((1 - alpha) * (1 << 16)))
    constants = (
        int(site.node.tier == "edge"),
        site.topology.width if site.topology.levels == 3 else 256,
        round((1 << 40) / tau),
        max(round(math.log2(site.parameters["age_taus"] * tau)), 0),
    )
    estimators: Defaults = {
        "Fabric.discounter.discount": ("Fabric.discounter.count_periods", discount),
        "Fabric.constants": ("Fabric.know", constants),
    }
    return State({**_clock(site, "Fabric"), **estimators})


def turning_point(site: Site) -> State:
    """Tell a switch which digit of a path number is its own (p4/programs/path_id.p4)."""
    digit = "take_core" if site.node.tier == "aggregation" else "take_aggregation"
    return State({f"{BALANCE}.turn": (f"{BALANCE}.{digit}", ())})


def _clock(site: Site, control: str) -> Defaults:
    """Tell a program how long frames take on a link."""
    scenario = site.scenario
    per_byte = scenario.picoseconds_per_byte / site.tick_ps
    constants = (
        round(per_byte * (1 << 12)),
        round(per_byte * scenario.ack_bytes),
        round(per_byte * scenario.gap_bytes),
    )
    return {f"{control}.clock.rates": (f"{control}.clock.measure", constants)}


def _sampling(site: Site, control: str) -> Defaults:
    """Tell a program how to sample the quality of its ports."""
    period = max(_ticks(site, "sampling_us"), 1)
    low, high = site.parameters["load_low"], site.parameters["load_high"]
    queue = max(_percent_of_buffer(site, "queue_high"), 1)
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


def _percent_of_buffer(site: Site, parameter: str) -> int:
    buffer = site.scenario.buffer_bytes or UNLIMITED_BUFFER_BYTES
    size = buffer * site.parameters[parameter] / 100
    return round(size * site.scenario.picoseconds_per_byte / site.tick_ps)


def _ticks(site: Site, parameter: str) -> int:
    return round(site.parameters[parameter] * PICOSECONDS_PER_MICROSECOND / site.tick_ps)
