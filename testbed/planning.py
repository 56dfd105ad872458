"""From a scenario to a plan: network, programs, entries, initial state and flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from testbed import schemes
from testbed.control import PLACE, routing
from testbed.plan import Plan, SwitchSetup
from testbed.scenario import ScenarioError
from testbed.state import Site
from testbed.topology import TopologyError, make_topology

if TYPE_CHECKING:
    from testbed.scenario import Scenario
    from testbed.topology import Topology
    from traffic.flows import Flows


def network(scenario: Scenario) -> Topology:
    """Build a scenario's network; raises ScenarioError if there is none of its size."""
    try:
        return make_topology(scenario.topology, scenario.k)
    except TopologyError as error:
        raise ScenarioError(str(error)) from error


def make_plan(scenario: Scenario, flows: Flows, tick_ps: int = 1) -> Plan:
    """Work out a scenario for given flows.

    `tick_ps` is the paper time in one unit of the programs' timestamps: 1 where the world counts
    picoseconds. Raises ScenarioError for an unknown scheme, a wrong parameter, or a scheme that
    does not work on the network.
    """
    topology = network(scenario)
    scheme = schemes.find(scenario.scheme)
    schemes.check_network(scheme, topology)
    parameters = schemes.settled(scheme, scenario.parameters)
    source = schemes.program(scheme, topology, parameters)
    programs = {topology.nodes[number].name: source for number in topology.switches}
    routed = routing(topology, programs)
    setups = {}
    for number in topology.switches:
        name = topology.nodes[number].name
        route = routed[name]
        uplinks = route.defaults[PLACE][1][-1]
        state = scheme.setup(Site(topology, number, uplinks, scenario, parameters, tick_ps))
        setups[name] = SwitchSetup(
            route.entries, {**route.defaults, **state.defaults}, state.registers, route.shared
        )
    return Plan(scenario, topology, programs, setups, flows, scheme.hosts, tick_ps, scenario.load)
