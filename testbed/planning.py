"""From a scenario to a plan: network, programs, entries, initial state and flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from testbed import hosts, schemes
from testbed.control import PLACE, Routes, routing
from testbed.failures import fail_links, highest_load, take_down
from testbed.mixing import switches_of_second
from testbed.plan import HostSetup, Plan, SwitchSetup, TableEntry
from testbed.scenario import FIELDS
from testbed.schemes.site import Defaults, Site
from testbed.topology import build, make_topology
from testbed.workload import flows_for
from traffic import readers
from traffic.flows import Flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from testbed.hosts import Chosen
    from testbed.plan import ProgramSource
    from testbed.scenario import Scenario
    from testbed.schemes import Scheme
    from testbed.topology import Tier, Topology


@dataclass(frozen=True, slots=True)
class SwitchChange:
    """What the control plane rewrites in one switch when links go down or come up."""

    remove: tuple[TableEntry, ...]
    add: tuple[TableEntry, ...]
    defaults: Defaults


def network(scenario: Scenario) -> Topology:
    """Build a scenario's network with its failed links.

    Raises UserError if there is no network of its size.
    """
    if scenario.network:
        topology = build(scenario.shape)
    else:
        topology = make_topology(scenario.topology, scenario.k)
    if scenario.failures:
        topology = fail_links(topology, scenario.failures, scenario.seed)
    return take_down(topology, readers.failures(scenario.workload))


def plan_for(scenario: Scenario, tick_ps: int = 1) -> Plan:
    """Make a scenario's flows and its plan; raises UserError for what cannot be run."""
    return make_plan(scenario, flows_for(scenario), tick_ps)


def make_plan(scenario: Scenario, flows: Flows, tick_ps: int = 1) -> Plan:
    """Work out a scenario for given flows.

    `tick_ps` is the paper time in one unit of the programs' timestamps: 1 where the world counts
    picoseconds. Raises UserError for an unknown scheme, a wrong parameter, a scheme that does
    not work on the network, or failures that cut hosts off.
    """
    topology = network(scenario)
    assigned = _assign(scenario, topology)
    programs = {
        topology.nodes[number].name: chosen.sources[topology.nodes[number].tier]
        for number, chosen in zip(topology.switches, assigned, strict=True)
    }
    routed = routing(topology, programs)
    setups = {}
    for number, chosen in zip(topology.switches, assigned, strict=True):
        name = topology.nodes[number].name
        setups[name] = _setup(
            scenario, topology, number, chosen, route=routed[name], tick_ps=tick_ps
        )
    load = scenario.load * highest_load(topology, flows)
    setup = _hosts(scenario, schemes.entropy(assigned[-1].scheme, assigned[-1].parameters))
    choose_paths = hosts.entropy(setup.entropy.name).paths
    return Plan(
        scenario,
        topology,
        programs,
        setups,
        flows,
        setup,
        tick_ps,
        load,
        rtt_ps=scenario.round_trip_ps,
        paths=choose_paths(topology, flows, scenario.seed) if choose_paths else None,
    )


def _hosts(scenario: Scenario, entropy: Chosen) -> HostSetup:
    """Settle what hosts do; raises UserError for unknown names and wrong parameters."""
    setup = HostSetup(
        entropy,
        hosts.choose(hosts.congestion(scenario.cca), scenario.cca_parameters),
        hosts.choose(hosts.recovery(scenario.recovers), scenario.recovery_parameters),
    )
    if not scenario.acks and (setup.congestion.name, setup.recovery.name) != ("none", "none"):
        raise UserError("congestion control and recovery need ACKs")
    if scenario.trim and not hosts.recovery(setup.recovery.name).trims:
        ways = ", ".join(way.name for way in hosts.RECOVERIES if way.trims)
        raise UserError(f"trim needs a recovery of {ways}; it is {setup.recovery.name}")
    return setup


def why_not(scenario: Scenario) -> str:
    """Return why a scenario's scheme does not work on its network, empty where it does."""
    try:
        schemes.check(schemes.of(scenario), scenario)
        if scenario.network:  # links may differ, which the set-up of each switch finds
            make_plan(scenario, Flows.of(*np.zeros((3, 0), dtype=np.int64)))
    except UserError as error:
        return str(error)
    return ""


def refuse(scenario: Scenario, names: Iterable[str], world: str) -> None:
    """Raise UserError if a scenario asks for what a world does not have, by names of fields."""
    for field in FIELDS:
        if field.name in names and getattr(scenario, field.name) != field.default:
            raise UserError(f"{field.name}: not on {world}; run it with --on virtual")


def link_changes(plan: Plan, topology: Topology) -> dict[str, SwitchChange]:
    """Return what to rewrite, by switch, so that a plan's network becomes `topology`.

    The two differ in the state of their links; switches that need no change are left out.
    """
    assigned = _assign(plan.scenario, topology)
    before, after = Routes(plan.topology), Routes(topology)
    changes = {}
    for number, chosen in zip(topology.switches, assigned, strict=True):
        node = topology.nodes[number]
        old, new = (
            _setup(
                plan.scenario,
                routes.topology,
                number,
                chosen,
                route=routes.setup(node),
                tick_ps=plan.tick_ps,
            )
            for routes in (before, after)
        )
        change = _difference(old, new)
        if change.remove or change.add or change.defaults:
            changes[node.name] = change
    return changes


@dataclass(frozen=True, slots=True)
class _Assigned:
    """A scheme with its parameters settled and its program's definitions by tier of switches."""

    scheme: Scheme
    parameters: Mapping[str, float]
    sources: Mapping[Tier, ProgramSource]


def _assign(scenario: Scenario, topology: Topology) -> list[_Assigned]:
    """Return the scheme of each switch; cores, the last, have the scenario's first."""
    second = [schemes.find(scenario.mix[0])] if scenario.mix else []
    chosen = [schemes.of(scenario), *second]
    for scheme in chosen:
        schemes.check(scheme, scenario)
    settled = schemes.settled(chosen, scenario.parameters)
    assigned = [
        _Assigned(scheme, parameters, schemes.programs(scheme, topology, parameters))
        for scheme, parameters in zip(chosen, settled, strict=True)
    ]
    if scenario.mix is None:
        return assigned * len(topology.switches)
    if chosen[0].entropy != chosen[1].entropy:
        both = " and ".join(scheme.name for scheme in chosen)
        raise UserError(f"mix: hosts work differently under {both}")
    of_second = switches_of_second(topology, scenario.mix[1], scenario.seed)
    return [assigned[number in of_second] for number in topology.switches]


def _setup(
    scenario: Scenario,
    topology: Topology,
    number: int,
    chosen: _Assigned,
    *,
    route: SwitchSetup,
    tick_ps: int,
) -> SwitchSetup:
    """Join a switch's routing and its scheme's state."""
    uplinks = route.defaults[PLACE][1][-1]
    site = Site(topology, number, uplinks, scenario, chosen.parameters, tick_ps)
    state = chosen.scheme.setup(site)
    defaults = {**route.defaults, **state.defaults}
    return SwitchSetup(route.entries, defaults, state.registers, route.shared)


def _difference(old: SwitchSetup, new: SwitchSetup) -> SwitchChange:
    kept = set(old.entries) & set(new.entries)
    return SwitchChange(
        tuple(entry for entry in old.entries if entry not in kept),
        tuple(entry for entry in new.entries if entry not in kept),
        {table: call for table, call in new.defaults.items() if old.defaults.get(table) != call},
    )
