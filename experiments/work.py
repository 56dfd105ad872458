"""How much a command line asks for, told or refused before anything is set up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from experiments.looks import label
from testbed import schemes
from testbed.scenario.files import VIRTUAL
from testbed.schemes import pofan
from testbed.virtual.memory import check_expected_memory, expected_work, memory_expected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.plan import Plan
    from testbed.scenario import Scenario

LARGEST_K = 64
UNEVEN = 1.005  # times the mean
LARGE_PACKETS = {True: 10_000_000, False: 300_000}
"""Packets of all runs from which the work is told: in virtual time, and in real time."""


def check_size(scenarios: Sequence[Scenario], world: str, jobs: int = 1) -> None:
    """Refuse networks that were never tried, and those too large for this machine's memory.

    `jobs` run at a time. Raises UserError, saying how much is needed where that is too much.
    """
    if jobs > 1 and world != VIRTUAL:
        raise UserError(
            "--jobs is for virtual time (--on virtual); in real time runs would disturb each other"
        )
    largest = max(scenario.k for scenario in scenarios)
    if largest > LARGEST_K:
        raise UserError(
            f"k is {largest}; names and speeds are tested up to k = {LARGEST_K}, not beyond"
        )
    if world == VIRTUAL:
        for scenario in _different_sizes(scenarios):
            check_expected_memory(scenario, len(scenarios), jobs)


def announcement(scenarios: Sequence[Scenario], world: str) -> str:
    """Return a line about runs that will take long or much memory; empty for small ones."""
    total = sum(expected_work(scenario).packets for scenario in scenarios)
    if total < LARGE_PACKETS[world == VIRTUAL]:
        return ""
    scenario = max(scenarios, key=lambda each: expected_work(each).packets)
    work = expected_work(scenario)
    line = (
        f"This is much work (runs: {len(scenarios)}): up to {work.hosts:,} hosts with "
        f"{work.packets / work.hosts:,.0f} packets each, {total:,.0f} packets in all"
    )
    if world == VIRTUAL:
        line += f"; about {memory_expected(scenario, len(scenarios)) / 1e9:.1f} GB of memory"
    return line + "."


def same_as_ofan(scenarios: Sequence[Scenario]) -> str:
    """Return a line where POfan can do nothing but what Ofan does; empty elsewhere.

    A pipe that holds all of a switch's ports that face down leaves one set of pointers (§5.1).
    """
    for scenario in scenarios:
        if scenario.scheme != pofan.SCHEME.name or scenario.mix:
            continue
        (given,) = schemes.settled((pofan.SCHEME,), scenario.parameters)
        shape = scenario.shape
        ports = max(shape.hosts_per_edge, shape.edges_per_pod if shape.levels == 3 else 0)
        if given[pofan.PIPE_PORTS.name] >= ports:
            return (
                f"{label(scenario)} is Ofan at {shape.text}: one pipe holds all "
                f"{ports} ports that face down (--pipe-ports takes fewer)."
            )
    return ""


def unevenness(plan: Plan) -> str:
    """Return a line on what the busiest host of a plan receives, if that is not what others do."""
    flows = plan.flows
    received = np.bincount(
        flows.destination, weights=flows.size_bytes, minlength=plan.topology.hosts
    )
    skew = float(received.max() / received.mean())
    if skew < UNEVEN:
        return ""
    scenario = plan.scenario
    return (
        f"{scenario.workload}, seed {scenario.seed}: the busiest host receives {skew:.3f} times "
        "the mean (column receive_skew)."
    )


def sending_seconds(plan: Plan) -> float:
    """Return how long the busiest host of a plan sends in the paper's network."""
    scenario, flows = plan.scenario, plan.flows
    packets = -(-flows.size_bytes // scenario.payload_bytes)
    overhead = scenario.header_bytes + scenario.gap_bytes
    by_host = np.bincount(flows.source, weights=flows.size_bytes + packets * overhead)
    return float(by_host.max(initial=0)) * scenario.picoseconds_per_byte / plan.load / 1e12


def _different_sizes(scenarios: Sequence[Scenario]) -> list[Scenario]:
    by_size = {(each.topology, each.shape, each.message_bytes): each for each in scenarios}
    return list(by_size.values())
