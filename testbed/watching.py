"""What congestion control did to watched flows over time, as transport.csv.gz has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from testbed.scenario.distances import hops_between
from testbed.scenario.files import TRANSPORT_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from testbed.plan import Plan

PICOSECONDS = 1000  # per nanosecond


def transport_table(plan: Plan, rows: NDArray[np.void], first_ps: int) -> pd.DataFrame:
    """Return the rows of transport.csv.gz, from rows of struct dp_watched by flow and time.

    A rate is what was acknowledged in the unloaded round trip before; a queueing delay is the round
    trip above that of an unloaded network on the flow's own number of links.
    """
    rtt_ns = np.where(rows["rtt_ps"] > 0, rows["rtt_ps"] / PICOSECONDS, np.nan)
    table = pd.DataFrame(
        {
            "time_ns": (rows["time_ps"].astype(np.int64) - first_ps) / PICOSECONDS,
            "flow": rows["flow"],
            "window_bytes": rows["window_bytes"],
            "in_flight_bytes": rows["in_flight_bytes"],
            "rate_gbps": _rates_gbps(plan, rows),
            "rtt_ns": rtt_ns,
            "queueing_ns": np.maximum(rtt_ns - _unloaded_ns(plan, rows["flow"]), 0),
            "marked": rows["marked"],
        },
        columns=list(TRANSPORT_COLUMNS),
    )
    return table.sort_values("time_ns", kind="stable")


def _unloaded_ns(plan: Plan, flow: NDArray[np.uint32]) -> NDArray[np.float64]:
    scenario, flows = plan.scenario, plan.flows
    hops = hops_between(flows.source[flow], flows.destination[flow], scenario)
    known = {hop: scenario.round_trip_over(hop) / PICOSECONDS for hop in (2, 4, 6)}
    return np.array([known[int(hop)] for hop in hops], dtype=np.float64)


def _rates_gbps(plan: Plan, rows: NDArray[np.void]) -> NDArray[np.float64]:
    span = plan.scenario.round_trip_ps
    rates = np.zeros(len(rows))
    for flow in np.unique(rows["flow"]):
        own = np.flatnonzero(rows["flow"] == flow)
        time = rows["time_ps"][own].astype(np.int64)
        so_far = np.concatenate(([0], np.cumsum(rows["bytes"][own].astype(np.int64))))
        since = np.searchsorted(time, time - span, side="right")
        rates[own] = (so_far[1:] - so_far[since]) * 8 * PICOSECONDS / span
    return rates
