"""`python -m analysis explain RUN`: what made the collective late, in words, as JSON, drawn."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from analysis.bounds import cct_bound
from analysis.causes import (
    KINDS,
    QUEUEING,
    Hop,
    Part,
    added,
    causes,
    last_packet,
    merged,
)
from analysis.figures import causes as picture
from analysis.figures.style import PAGE, draw, one_axes
from analysis.metrics import ends_ns
from analysis.trace import Trace, trace_of
from errors import UserError
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from analysis.results import Run

NANOSECOND, MICROSECOND = 1000, 1_000_000
MOST_WAITS, MOST_FLOWS, LONGEST_LINKS = 6, 4, 5


@dataclass(frozen=True, slots=True)
class Explanation:
    """What made a flow late: its path's parts and its last packet's hops, in picoseconds."""

    run: Run
    trace: Trace
    flow: int
    parts: tuple[Part, ...]
    hops: tuple[Hop, ...]

    @property
    def whole_ps(self) -> int:
        """Time from the run's first packet to the flow's end."""
        return int(self.trace.ends[self.flow]) - self.trace.first_ps

    @property
    def bound_ps(self) -> int:
        """The lower bound on the run's CCT, to the picosecond."""
        return round(cct_bound(self.run.scenario, self.run.messages) * 1000)


def explain(run: Run, flow: int | None = None) -> Explanation:
    """Run a virtual run again and explain its last flow, or another.

    Raises UserError for a flow that is not there or never ended, and where the run cannot be
    traced.
    """
    trace = trace_of(run)
    return explanation(run, trace, flow)


def explanation(run: Run, trace: Trace, flow: int | None = None) -> Explanation:
    """Explain the last flow of a trace, or another."""
    if flow is None:
        if (trace.ends < 0).any():
            late = int((trace.ends < 0).argmax())
            raise UserError(f"{run.folder}: flow {late} never ended; name one that did by --flow")
        flow = int(trace.ends.argmax())
    if not 0 <= flow < len(trace.ends):
        raise UserError(f"{run.folder}: there is no flow {flow}; there are {len(trace.ends)}")
    parts = causes(trace, flow)
    hops = last_packet(trace, flow) if trace.size_bytes[flow] else []
    return Explanation(run, trace, flow, tuple(merged(parts)), tuple(hops))


def in_words(found: Explanation) -> str:
    """Tell an explanation."""
    totals = Counter[str]()
    for part in found.parts:
        totals[part.what] += part.end - part.begin
    above = found.whole_ps - found.bound_ps
    beyond = f"{_us(abs(above))} {'above' if above >= 0 else 'below'}"
    lines = [
        f"{_flow(found.trace, found.flow)} ended {_us(found.whole_ps)} after the first packet,",
        f"{beyond} the CCT's bound of {_us(found.bound_ps)}.",
        *_waits(found, totals[QUEUEING]),
        "",
        "From the first packet to its end:",
        *(
            f"  {_us(totals[kind]):>12}  {totals[kind] / found.whole_ps:6.1%}  {kind}"
            for kind in KINDS
            if totals[kind]
        ),
        f"  {_us(sum(totals.values())):>12}  100.0%  in all",
        "",
        f"  {'from':>12}  {'takes':>12}  what",
        *(_part(found, part) for part in _stretches(found.parts)),
    ]
    if found.hops:
        lines += ["", "The way of its last packet:", *_hops(found)]
    return "\n".join(lines)


def as_json(found: Explanation) -> str:
    """Return an explanation as JSON; `ps` are exact and add up to `whole_ps`."""

    def since(time: int) -> float:
        return (time - found.trace.first_ps) / NANOSECOND

    content: dict[str, Any] = {
        "run": str(found.run.folder),
        "scheme": found.run.scenario.scheme,
        "flow": found.flow,
        "source": int(found.trace.source[found.flow]),
        "destination": int(found.trace.destination[found.flow]),
        "whole_ns": found.whole_ps / NANOSECOND,
        "whole_ps": found.whole_ps,
        "bound_ns": found.bound_ps / NANOSECOND,
        "parts": [
            {
                "what": part.what,
                "where": part.where,
                "flow": part.flow,
                "from_ns": since(part.begin),
                "ns": (part.end - part.begin) / NANOSECOND,
                "ps": part.end - part.begin,
                "behind": {str(flow): count for flow, count in part.behind.items()},
                "over": dict(part.over),
            }
            for part in found.parts
        ],
        "last_packet": [
            {
                "link": hop.link,
                "came_ns": since(hop.arrived),
                "waited_ns": (hop.start - hop.arrived) / NANOSECOND,
                "left_ns": since(hop.departure),
                "behind": {str(flow): count for flow, count in hop.behind.items()},
            }
            for hop in found.hops
        ],
    }
    return json.dumps(content, indent=2)


def drawn(found: Explanation, stem: Path) -> Path:
    """Draw an explanation as PNG and PDF and return the PNG."""
    parts, first = found.parts, found.trace.first_ps
    height = 1.0 + 0.16 * len(picture.places(parts))
    plot = one_axes(lambda axes: picture.causes(axes, parts, first))
    return draw(stem, plot, width=PAGE, height=height)


def from_logs(run: Run) -> str:
    """Tell what a run on the real clock lets one say of its last flow, and what it does not."""
    ends = ends_ns(run)
    if ends.isna().any():
        raise UserError(f"{run.folder}: some flows never ended: there is no CCT to explain")
    end, bound = float(ends.max()), _bound_ns(run)
    last = run.flows.iloc[int(ends.to_numpy().argmax())]
    steps = {
        "until its first packet left": last["start_ns"],
        "until its last packet had arrived": last["delivered_ns"] - last["start_ns"],
        "until its last ACK was back": end - last["delivered_ns"],
    }
    longest = run.switch_links.nlargest(LONGEST_LINKS, "max_queue_bytes")
    queues = zip(longest["node"], longest["peer"], longest["max_queue_bytes"], strict=True)
    return "\n".join(
        [
            f"Flow {last['flow']}, h{last['src']} → h{last['dst']}, ended last:",
            f"{_us(end * 1000)} after the first packet; the bound is {_us(bound * 1000)}.",
            *(f"  {_us(took * 1000):>12}  {what}" for what, took in steps.items() if took),
            "The longest queues of the run:",
            *(f"  {node}→{peer}: {size / 1000:,.1f} KB" for node, peer, size in queues),
            f"It ran in {run.world}, whose logs do not have the packets' ways: in which queues the",
            "flow waited, and behind whom, they do not say. The same scenario in virtual time does",
            "(run.py --on virtual).",
        ]
    )


def can_be_traced(run: Run) -> bool:
    """Tell whether a run comes out the same when it is run again."""
    return run.world == VIRTUAL


def _bound_ns(run: Run) -> float:
    return cct_bound(run.scenario, run.messages)


def _us(picoseconds: float) -> str:
    return f"{picoseconds / MICROSECOND:.3f} µs"


def _flow(trace: Trace, flow: int) -> str:
    source, destination = (trace.nodes[ends[flow]] for ends in (trace.source, trace.destination))
    return f"Flow {flow}, {source} → {destination},"


def _flows(behind: Mapping[int, int]) -> str:
    """Name the flows that had most of the packets ahead."""
    most = [str(flow) for flow, _ in Counter(behind).most_common(MOST_FLOWS)]
    more = len(behind) - len(most)
    if more > 0:
        return f"flows {', '.join(most)} and {more} more"
    return f"flow {most[0]}" if len(most) == 1 else f"flows {', '.join(most[:-1])} and {most[-1]}"


def _behind(part: _Stretch | Hop) -> str:
    packets = sum(part.behind.values())
    return f"behind {packets} packet{'s' * (packets != 1)} of {_flows(part.behind)}"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What a part tells, or several of one kind at one place that others interrupt."""

    what: str
    where: str
    flow: int
    begin: int
    length: int
    behind: Mapping[int, int]
    over: Mapping[str, int]


def _stretches(parts: Sequence[Part]) -> list[_Stretch]:
    """Join what alternates at one place, such as a host's data and the ACKs between."""
    found = []
    for (where, flow), group in groupby(parts, key=lambda part: (part.where, part.flow)):
        together: dict[str, list[Part]] = {}
        for part in group:
            together.setdefault(part.what, []).append(part)
        found += [
            _Stretch(
                what,
                where,
                flow,
                own[0].begin,
                sum(part.end - part.begin for part in own),
                added(part.behind for part in own),
                added(part.over for part in own),
            )
            for what, own in together.items()
        ]
    return found


def _waits(found: Explanation, queued: int) -> list[str]:
    """Tell the longest waits in queues, the longest first."""
    waits = [part for part in _stretches(found.parts) if part.what == QUEUEING and part.behind]
    waits.sort(key=lambda part: -part.length)
    if not waits:
        return ["Nothing on its way waited in a queue."]
    lines = [f"{_us(queued)} were waited in queues:"]
    for part in waits[:MOST_WAITS]:
        came = [link for link, _ in Counter(part.over).most_common(MOST_FLOWS)]
        over = f", which came over {', '.join(came)}" if came else ""
        lines.append(f"  {_us(part.length)} at {part.where}, {_behind(part)}{over}")
    if len(waits) > MOST_WAITS:
        rest = sum(part.length for part in waits[MOST_WAITS:])
        lines.append(f"  {_us(rest)} at {len(waits) - MOST_WAITS} more")
    return lines


def _part(found: Explanation, part: _Stretch) -> str:
    own = "" if part.flow == found.flow else f" of flow {part.flow}"
    behind = f", {_behind(part)}" if part.behind else ""
    begin = part.begin - found.trace.first_ps
    return f"  {_us(begin):>12}  {_us(part.length):>12}  {part.what}, {part.where}{own}{behind}"


def _hops(found: Explanation) -> Sequence[str]:
    return [
        f"  {hop.link:<14} came {_us(hop.arrived - found.trace.first_ps):>12}, "
        f"waited {_us(hop.start - hop.arrived):>10}, "
        f"left {_us(hop.departure - found.trace.first_ps):>12}"
        + (f", {_behind(hop)}" if hop.behind else "")
        for hop in found.hops
    ]
