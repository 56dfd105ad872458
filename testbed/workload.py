"""A scenario's workload: its size before it is made, and its flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError
from testbed.streams import stream
from traffic import workloads
from traffic.planes import over_planes
from traffic.request import Request, Volume

if TYPE_CHECKING:
    from testbed.scenario import Scenario
    from traffic.flows import Flows


def request_for(scenario: Scenario) -> Request:
    """Return what a scenario asks of its workload."""
    return Request(
        hosts=scenario.ranks,
        hosts_per_edge=scenario.shape.hosts_per_edge * scenario.gpus,
        hosts_per_pod=scenario.shape.hosts_per_pod * scenario.gpus,
        message_bytes=scenario.message_bytes,
        rng=stream(scenario.seed, "workload"),
        options=scenario.workload_options,
    )


def flows_between_ranks(scenario: Scenario) -> Flows:
    """Make the flows of a scenario's workload; raises UserError for a wrong workload."""
    return workloads.make(scenario.workload, request_for(scenario))


def flows_for(scenario: Scenario) -> Flows:
    """Make the flows of a scenario's workload as the hosts of its network send them.

    Raises UserError for a wrong workload, one without a message between hosts, and for more
    messages than can be told apart.
    """
    flows = flows_between_ranks(scenario)
    planes, machines = scenario.shape.planes, scenario.shape.hosts_per_plane
    spread = over_planes(flows, planes, machines, scenario.spread, scenario.payload_bytes)
    if not spread.size_bytes.any():
        raise UserError(
            f"workload {scenario.workload} makes no message between hosts here: there are too few "
            "bytes for so many, or all of it stays within hosts"
        )
    if len(spread) > workloads.MOST_FLOWS:
        raise UserError(
            f"{planes} planes make {len(spread):,} messages of {len(flows):,}; "
            f"{workloads.MOST_FLOWS:,} can be told apart"
        )
    return spread


def volume_of(scenario: Scenario) -> Volume | None:
    """Say how much a scenario's workload comes to before it is made; None for a file.

    Raises UserError for a wrong workload, and for one of too many messages.
    """
    volume = workloads.volume(scenario.workload, request_for(scenario))
    if volume is None or scenario.spread != "stripe":
        return volume
    packets = -(-scenario.message_bytes // scenario.payload_bytes)
    parts = min(scenario.shape.planes, packets)
    return Volume(volume.messages * parts, volume.total_bytes)
