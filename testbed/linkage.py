"""Links that fail or come back during a run, and what the control plane does about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from errors import UserError
from testbed.dataplane import NEVER
from testbed.planning import link_changes
from testbed.switches import rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4.engine import Switch
    from testbed.dataplane import Dataplane
    from testbed.plan import Plan
    from testbed.planning import SwitchChange
    from testbed.topology import Topology

PICOSECONDS = 1_000_000  # in a microsecond
FORM = "write TIME:NODE-NODE:down or :up with the time in us, as in 20:e0_0-a0_1:down"


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """A link, by its number in the topology, goes down or comes up at a time."""

    time_ps: int
    link: int
    up: bool


Steps = list[tuple[int, "LinkEvent | Mapping[str, SwitchChange]"]]
"""Events, and what is rewritten in switches by name, each at its time."""


def link_events(plan: Plan) -> list[LinkEvent]:
    """Return the events of a plan's scenario in order of time.

    Raises UserError for one that cannot be read, and for a link that is not there from the start.
    """
    events = [_read(text, plan.topology) for text in plan.scenario.link_events]
    return sorted(events, key=lambda event: event.time_ps)


def _read(text: str, topology: Topology) -> LinkEvent:
    try:
        time, ends, how = text.split(":")
        names = set(ends.split("-"))
        time_ps = round(float(time) * PICOSECONDS)
        up = {"up": True, "down": False}[how]
    except (ValueError, KeyError, OverflowError):
        raise UserError(f"link event {text!r}: {FORM}") from None
    for number, link in enumerate(topology.links):
        if names == {topology.nodes[link.lower].name, topology.nodes[link.upper].name}:
            if link.up and time_ps >= 0:
                return LinkEvent(time_ps, number, up)
            raise UserError(
                f"link event {text!r}: the link is down, or the time is before the start"
            )
    raise UserError(f"link event {text!r}: there is no such link")


class Linkage:
    """The links of a running network; each event is followed by the control plane's reaction.

    Several processes that share a network each have one, of the same plan.
    """

    def __init__(
        self, plan: Plan, dataplane: Dataplane, switches: Mapping[str, Switch], nodes: range
    ) -> None:
        """Take the plan's events, for own `nodes` and switches, and work out all reactions."""
        self._dataplane, self._switches, self._nodes = dataplane, switches, nodes
        self._links = plan.topology.links
        reaction_ps = round(plan.scenario.reaction_us * PICOSECONDS)
        events = link_events(plan)
        steps: Steps = [
            *((event.time_ps, event) for event in events),
            *((event.time_ps + reaction_ps, {}) for event in events),
        ]
        steps.sort(key=lambda step: step[0])
        self._steps = _with_reactions(plan, steps) if switches else steps

    @property
    def next_ps(self) -> int:
        """When something happens next; NEVER if nothing does."""
        return self._steps[0][0] if self._steps else NEVER

    def step(self) -> None:
        """Let the next event or reaction happen."""
        _, event = self._steps.pop(0)
        if isinstance(event, LinkEvent):
            link = self._links[event.link]
            for node, port in ((link.lower, link.lower_port), (link.upper, link.upper_port)):
                if node in self._nodes:
                    self._dataplane.set_port(node, port, up=event.up)
        else:
            for name, change in event.items():
                rewrite(self._switches[name], change)


def _with_reactions(plan: Plan, steps: Steps) -> Steps:
    """Replace reactions by what the control plane writes then: no run waits for its sums."""
    known, topology = plan, plan.topology
    worked_out: Steps = []
    for time, event in steps:
        if isinstance(event, LinkEvent):
            links = list(topology.links)
            links[event.link] = replace(links[event.link], up=event.up)
            topology = replace(topology, links=tuple(links))
            worked_out.append((time, event))
        else:
            worked_out.append((time, link_changes(known, topology)))
            known = replace(known, topology=topology)
    return worked_out
