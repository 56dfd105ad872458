"""Links that fail or come back while a run goes on, and what the control plane does about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from errors import UserError
from testbed.planning import link_changes
from testbed.switches import rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4.engine import Switch
    from testbed.dataplane import Dataplane
    from testbed.plan import Plan
    from testbed.topology import Topology

PICOSECONDS = 1_000_000  # in a microsecond
FORM = "write TIME:NODE-NODE:down or :up with the time in us, as in 20:e0_0-a0_1:down"


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """A link, by its number in the topology, goes down or comes up at a time."""

    time_ps: int
    link: int
    up: bool


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
    """The links of a running network; each event is followed by the control plane's reaction."""

    def __init__(self, plan: Plan, dataplane: Dataplane, switches: Mapping[str, Switch]) -> None:
        """Take the plan's events."""
        self._dataplane, self._switches = dataplane, switches
        self._known = plan  # what the control plane has written last
        self._topology = plan.topology
        reaction_ps = round(plan.scenario.reaction_us * PICOSECONDS)
        events = link_events(plan)
        self._steps: list[tuple[int, LinkEvent | None]] = sorted(
            [
                *((event.time_ps, event) for event in events),
                *((event.time_ps + reaction_ps, None) for event in events),
            ],
            key=lambda step: step[0],
        )

    @property
    def next_ps(self) -> int | None:
        """When something happens next; None if nothing does."""
        return self._steps[0][0] if self._steps else None

    def step(self) -> None:
        """Let the next event or reaction happen."""
        _, event = self._steps.pop(0)
        if event is None:
            self._react()
            return
        link = self._topology.links[event.link]
        for node, port in ((link.lower, link.lower_port), (link.upper, link.upper_port)):
            self._dataplane.set_port(node, port, up=event.up)
        links = list(self._topology.links)
        links[event.link] = replace(link, up=event.up)
        self._topology = replace(self._topology, links=tuple(links))

    def _react(self) -> None:
        for name, change in link_changes(self._known, self._topology).items():
            rewrite(self._switches[name], change)
        self._known = replace(self._known, topology=self._topology)
