"""What is found in sorted rows is what a look through all rows finds."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.lookup import CUT, DATA
from errors import UserError
from tests.testbed.virtual.test_trace import scenarios, traced, uneven

if TYPE_CHECKING:
    from analysis.trace import Trace
    from testbed.scenario import Scenario


def left_for(trace: Trace, row: int) -> list[int]:
    """Look for a row's frame at all ports whose links end at its node when it came."""
    hop, place = trace.hops[row], trace.hops["place"]
    fits = (trace.hops["flow"] == hop["flow"]) & (trace.hops["psn"] == hop["psn"])
    fits &= np.isin(trace.hops["kind"], (hop["kind"], DATA if hop["kind"] == CUT else hop["kind"]))
    fits &= trace.port_node[trace.port_peer[place]] == trace.port_node[hop["place"]]
    fits &= trace.departure + trace.port_delay_ps[place] == trace.arrived[row]
    return [int(each) for each in np.flatnonzero(fits)]


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario=scenarios() | scenarios(uneven()), data=st.data())
def test_lookup__finds_the_rows_of_a_frame(scenario: Scenario, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            trace = traced(scenario, Path(folder))
        except UserError:
            return
    if not len(trace.hops):
        return
    for row in data.draw(st.lists(st.integers(0, len(trace.hops) - 1), max_size=30)):
        place, flow, psn, kind = (
            int(trace.hops[name][row]) for name in ("place", "flow", "psn", "kind")
        )
        at_port = (trace.hops["place"] == place) & (trace.hops["kind"] == kind)
        of_flow = at_port & (trace.hops["flow"] == flow)
        of_packet = of_flow & (trace.hops["psn"] == psn)
        highest = of_flow & (trace.hops["psn"] == trace.hops["psn"][of_flow].max())
        for found, wanted in (
            (trace.lookup.of_flow(place, flow, kind), of_flow),
            (trace.lookup.of_packet(place, flow, kind, psn), of_packet),
            (trace.lookup.of_highest_packet(place, flow, kind), highest),
        ):
            assert found.tolist() == np.flatnonzero(wanted).tolist()
        earlier = np.flatnonzero(at_port[:row])
        assert trace.lookup.previous(row, kind) == (earlier[-1] if len(earlier) else None)
        if not trace.is_host(int(trace.port_node[place])):
            rows = np.array(list(trace.rows(place)))
            assert trace.lookup.before(rows)[rows == row].tolist() == left_for(trace, row)[:1]
