"""A scenario's workload: its size before it is made, and its flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed.streams import stream
from traffic import workloads
from traffic.request import Request

if TYPE_CHECKING:
    from testbed.scenario import Scenario
    from traffic.flows import Flows
    from traffic.request import Volume


def request_for(scenario: Scenario) -> Request:
    """Return what a scenario asks of its workload."""
    return Request(
        hosts=scenario.hosts,
        hosts_per_edge=scenario.shape.hosts_per_edge,
        hosts_per_pod=scenario.shape.hosts_per_pod,
        message_bytes=scenario.message_bytes,
        rng=stream(scenario.seed, "workload"),
        options=scenario.workload_options,
    )


def flows_for(scenario: Scenario) -> Flows:
    """Make the flows of a scenario's workload; raises UserError for a wrong workload."""
    return workloads.make(scenario.workload, request_for(scenario))


def volume_of(scenario: Scenario) -> Volume | None:
    """Say how much a scenario's workload comes to before it is made; None for a file.

    Raises UserError for a wrong workload, and for one of too many messages.
    """
    return workloads.volume(scenario.workload, request_for(scenario))
