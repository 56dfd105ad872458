"""What is fed to both switches: a program, a control plane and frames, random or planned."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from p4.codegen.program import FieldRef
from p4.codegen.reader import read_program
from p4.compiler import compile_file
from testbed.addressing import ipv4
from testbed.bmv2.randomly import (
    Indirection,
    Pools,
    Replication,
    disturbed,
    random_frames,
    random_indirection,
    random_replication,
    random_setup,
    value_pools,
)
from testbed.bmv2.reproducible import reproducible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.bmv2.files import Frame
    from testbed.plan import Plan, SwitchSetup

PORTS = tuple(range(16))


@dataclass(frozen=True, slots=True)
class Case:
    """What both switches get: a program as BMv2 JSON, its control plane, and frames."""

    name: str
    document: dict[str, Any]
    setup: SwitchSetup
    replication: Replication
    indirection: Indirection
    frames: Sequence[Frame]


def random_case(name: str, document: dict[str, Any], seed: int, frames: int) -> Case:
    """Make a case of a program with a random control plane and random frames."""
    random = Random(seed)
    still = reproducible(document)
    model = read_program(still, name)
    pools = value_pools(model, random)
    return Case(
        name,
        still,
        random_setup(model, pools, random),
        random_replication(PORTS, random),
        random_indirection(model, pools, random),
        random_frames(model, pools, PORTS, frames, random),
    )


def planned_case(plan: Plan, switch: str, seed: int, frames: int, *, disturb: bool = False) -> Case:
    """Make a case of a plan's switch as the control plane sets it up, with frames for its hosts.

    With `disturb`, some entries are missing, and some have actions and arguments by chance.
    """
    random = Random(seed)
    source = plan.programs[switch]
    document = reproducible(compile_file(source.path, defines=dict(source.defines)), tick=1)
    model = read_program(document, source.path.stem)
    hosts = [ipv4(node, plan.topology) for node in plan.topology.nodes if node.tier == "host"]
    pools = Pools({FieldRef("ipv4", name): hosts for name in ("source", "destination")}, {})
    ports = range(1, 1 + next(n.ports for n in plan.topology.nodes if n.name == switch))
    setup = plan.whole_setup(switch)
    return Case(
        f"{plan.scenario.scheme} on {switch}",
        document,
        disturbed(model, setup, random) if disturb else setup,
        Replication({}, {}),
        Indirection(),
        random_frames(model, pools, ports, frames, random),
    )
