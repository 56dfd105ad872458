"""A plan: a scenario worked out for one network, ready to be run in any world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from testbed.hosts import Chosen
    from testbed.scenario import Scenario
    from testbed.topology import Topology
    from traffic.flows import Flows


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One table entry in P4 names.

    `match` has one value per key field: an int (exact), (value, prefix length) for lpm,
    (value, mask) for ternary and optional, (low, high) for range. `priority` is for the last three;
    the smaller number wins.
    """

    table: str
    match: tuple[int | tuple[int, int], ...]
    action: str
    parameters: tuple[int, ...] = ()
    priority: int = 0


@dataclass(frozen=True, slots=True)
class SwitchSetup:
    """What the control plane writes into one switch before a run.

    `defaults` are default actions per table, `registers` initial values per array, `shared` tables
    whose entries are those of the named other switch (same program), to be shared and not copied.
    """

    entries: Sequence[TableEntry] = ()
    defaults: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)
    registers: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shared: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A P4 program, its preprocessor definitions and the compiler (`ours` or `p4c`) it takes.

    Included files are looked for beside the program, then in the folders `includes`.
    """

    path: Path
    defines: tuple[tuple[str, str], ...] = ()
    compiler: str = "ours"
    includes: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class HostSetup:
    """What hosts do: entries of the registries of testbed/hosts.py with their parameters."""

    entropy: Chosen
    congestion: Chosen
    recovery: Chosen


@dataclass(frozen=True, slots=True)
class HostPaths:
    """The paths that each flow's source may name, for entropies that choose paths.

    Flow f has `numbers[first[f] : first[f] + count[f]]`, in the order of its rotation, and is split
    into `subflows[f]` equal pieces: one, or one for each of its paths.
    """

    first: NDArray[np.int64]
    count: NDArray[np.int64]
    numbers: NDArray[np.uint16]
    subflows: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Plan:
    """All that a world needs: nodes, links, programs, entries, flows and what hosts do.

    `rtt_ps` is what a full data frame and its ACK take between the farthest hosts without queues,
    None where the scenario says it.
    """

    scenario: Scenario
    topology: Topology
    programs: Mapping[str, ProgramSource]  # by switch name
    setups: Mapping[str, SwitchSetup]  # by switch name
    flows: Flows
    hosts: HostSetup
    tick_ps: int  # paper time per unit of the programs' timestamps
    load: float = 1.0  # share of line rate at which hosts pace: the scenario's times rho_max
    rtt_ps: int | None = None
    paths: HostPaths | None = None  # for the entropies drb and ethereal

    def whole_setup(self, switch: str) -> SwitchSetup:
        """Return a switch's set-up with the entries of the tables that it shares copied in."""
        setup = self.setups[switch]
        shared = (
            entry
            for table, owner in setup.shared.items()
            for entry in self.setups[owner].entries
            if entry.table == table
        )
        return SwitchSetup((*setup.entries, *shared), setup.defaults, setup.registers)
