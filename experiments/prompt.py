"""`run.py --cli`: a fabric that runs, and the Mininet prompt on it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from testbed.bmv2.world import Bmv2World, nearest_dilation
from testbed.mininet.look import Look
from testbed.mininet.prompt import WELCOME, Prompt
from testbed.mininet.world import MininetWorld

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from testbed.plan import Plan

ROOT = Path(__file__).resolve().parent.parent


def open_prompt(plan: Plan, *, bmv2: bool, dilation: float | None) -> int:
    """Run a plan's switches and talk to the user until they leave; returns the exit code."""
    use_own_python(os.environ)
    world = Bmv2World() if bmv2 else MininetWorld()
    try:
        slowness = dilation or world.dilation_for(plan)
        if bmv2:
            slowness = nearest_dilation(plan, slowness)
        emulation = world.emulation_for(plan, slowness)
        look = Look(emulation, plan, slowness)
        topology = plan.topology
        print(f"{plan.scenario.scheme} on {topology.name}, {topology.shape.text}, ", end="")
        print(f"{slowness:,.0f} times slower than the paper's network.\n{WELCOME}")
        return Prompt(emulation.fabric.net, look).talk()
    finally:
        world.close()


def use_own_python(environment: MutableMapping[str, str]) -> None:
    """Let `python -m traffic` in a host mean the project's own, in whatever folder it is typed."""
    for name, first in (("PATH", Path(sys.executable).parent), ("PYTHONPATH", ROOT)):
        rest = environment.get(name)
        environment[name] = f"{first}{os.pathsep}{rest}" if rest else str(first)
