"""The network under test: scenario, topology, control plane, and the worlds that run a plan."""

from testbed.scenario import Scenario

__all__ = ["Scenario"]
