"""Choosing the world that runs a request, and running plans in it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

from analysis.results import read_run
from errors import UserError
from testbed.bmv2.client import require_installed
from testbed.mininet import sandbox
from testbed.scenario.files import BMV2, MININET, VIRTUAL
from testbed.scenario.watch import NOTHING, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.options import Request
    from testbed.mininet.calibration import Costs
    from testbed.plan import Plan

LARGEST_EMULATED = 8
WORST = "worst"


class World(Protocol):
    """Where plans are run. Real-time worlds are slowed down, virtual time is not."""

    def costs(self, plan: Plan) -> Costs | None:
        """Return what a frame costs this machine in processor time, None in virtual time."""

    def dilation_for(self, plan: Plan) -> float:
        """Return how much slower than the paper a plan has to run here."""

    def run(self, plan: Plan, out: Path, dilation: float) -> None:
        """Run a plan and write its result folder."""

    def close(self) -> None:
        """Take down what was set up."""


class VirtualWorld:
    """The event core under a virtual clock."""

    def __init__(self, watch: Watch = NOTHING, threads: int | None = None) -> None:
        """Watch some flows and links of each run.

        `threads` of a run are as many as there are processors if None.
        """
        self._watch = watch
        self._threads = threads

    def costs(self, _plan: Plan) -> None:
        """Return None: time does not pass here."""

    def dilation_for(self, _plan: Plan) -> float:
        """Return 1: there is no machine to wait for."""
        return 1.0

    def run(self, plan: Plan, out: Path, _dilation: float) -> None:
        """Run a plan and write its result folder; twice where the first run tells what to watch."""
        from testbed.virtual import run  # noqa: PLC0415 - builds the event core when first imported

        flows = self._watch.flows
        if isinstance(flows, str):
            run(plan, out, threads=self._threads, sample_ps=0)
            flows = (longest_flow(out),)
        run(plan, out, threads=self._threads, watch=flows, capture=self._watch.links)

    def close(self) -> None:
        """Do nothing."""


def choose(request: Request) -> tuple[str, str]:
    """Return the world's name and a notice for the user, empty if there is nothing to say.

    Raises UserError or Bmv2Error if the user wants a world that cannot run here.
    """
    if request.world == VIRTUAL:
        return VIRTUAL, ""
    reason = sandbox.why_not()
    if request.world != "auto":
        if reason:
            raise UserError(f"{reason}; or use --on virtual")
        if request.world == BMV2:
            require_installed()
        return request.world, ""
    if request.cli and reason:
        raise UserError(f"the prompt needs Mininet: {reason}")
    if reason:
        return VIRTUAL, f"Running in virtual time, because {reason}."
    largest = max(scenario.k for scenario in request.scenarios)
    if largest > LARGEST_EMULATED and not request.cli:
        return VIRTUAL, (
            f"Running in virtual time, because k = {largest} is large for one machine's Mininet "
            f"(--on mininet tries it)."
        )
    return MININET, ""


def longest_flow(folder: Path) -> int:
    """Return the flow of a run's folder that took longest; one that never ended before others."""
    flows = read_run(folder).flows
    taken = (flows["finish_ns"] - flows["start_ns"]).fillna(math.inf)
    return int(flows["flow"].to_numpy()[taken.to_numpy().argmax()])


def open_world(name: str, watch: Watch = NOTHING) -> World:
    """Return a world, inside a sandbox if it needs one; only virtual time watches."""
    if name == VIRTUAL:
        return VirtualWorld(watch)
    if name == BMV2:
        from testbed.bmv2.world import Bmv2World  # noqa: PLC0415 - imports Mininet

        return Bmv2World()
    from testbed.mininet.world import MininetWorld  # noqa: PLC0415 - imports Mininet

    return MininetWorld()
