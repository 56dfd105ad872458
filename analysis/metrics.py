"""What a run comes to: completion times, queues, balance and utilisation."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.bounds import cct_bound, hops_between, messages_of
from testbed.scenario.files import HOST_STAGE, STAGES

if TYPE_CHECKING:
    from analysis.results import Run

NANOSECONDS_PER_MICROSECOND = 1000


def ends_ns(run: Run) -> pd.Series[float]:
    """Return when each flow was over: its last ACK at the sender, or without ACKs delivered."""
    return run.flows["finish_ns" if run.scenario.acks else "delivered_ns"]


def cct_us(run: Run) -> float:
    """Return the collective completion time: first packet sent to last packet acknowledged.

    Without ACKs it ends with the last delivery. NaN if a flow never came to its end.
    """
    ends = ends_ns(run)
    if ends.empty or ends.isna().any():
        return float("nan")
    return float(ends.max()) / NANOSECONDS_PER_MICROSECOND


def cct_bound_us(run: Run) -> float:
    """Return the lower bound on the run's CCT (Appendix A, or naive; see `bounds.cct_bound`)."""
    bound = cct_bound(run.scenario, messages_of(run.scenario, run.steps))
    return bound / NANOSECONDS_PER_MICROSECOND


def cct_increase(run: Run) -> float:
    """Return the share by which the CCT exceeds its bound: 0.1 is 10 % more."""
    return cct_us(run) / cct_bound_us(run) - 1


def flow_completion_us(run: Run) -> pd.Series[float]:
    """Return each flow's own completion time, from its first packet; NaN where it never ended."""
    return (ends_ns(run) - run.flows["start_ns"]) / NANOSECONDS_PER_MICROSECOND


def max_queue_bytes(run: Run) -> int:
    """Return the longest that any switch's output queue was, the frame in service counted."""
    return int(run.switch_links["max_queue_bytes"].max())


def mean_queue_bytes(run: Run) -> float:
    """Return the mean over time and over all switch output queues."""
    return float(run.switch_links["mean_queue_bytes"].mean())


def stages_of(run: Run, *, switches_only: bool = True) -> list[str]:
    """List the run's stages in the order in which a packet crosses them."""
    there = set((run.switch_links if switches_only else run.links)["stage"])
    return [stage for stage in STAGES if stage in there]


def queue_by_stage(run: Run) -> pd.DataFrame:
    """Return a row for each switch stage: max and mean queue, in bytes and in packets."""
    grouped = run.switch_links.groupby("stage")
    table = pd.DataFrame(
        {
            "max_queue_bytes": grouped["max_queue_bytes"].max(),
            "mean_queue_bytes": grouped["mean_queue_bytes"].mean(),
            "max_queue_packets": grouped["max_queue_packets"].max(),
            "mean_queue_packets": grouped["mean_queue_packets"].mean(),
        }
    )
    return table.loc[stages_of(run)]


def overload_by_stage(run: Run) -> pd.Series[float]:
    """Return the worst link overload of each stage between switches (Fig. 3).

    That is the data bytes of the stage's busiest link over the stage's mean, less 1.
    """
    between = run.switch_links[run.switch_links["stage"] != "E-H"]
    grouped = between.groupby("stage")["data_bytes"]
    overload = grouped.max() / grouped.mean() - 1
    return overload.loc[[stage for stage in stages_of(run) if stage in overload.index]]


def utilisation(run: Run) -> float:
    """Return how busy with data the receivers' links were while data could come.

    For each receiver: wire time of its data frames and their gaps, over the time from when the
    first bit could have come (no queueing) to its last delivery; summed over all receivers. The
    paper does not define its utilisation; this one follows the load up to 1 if nothing queues.
    """
    scenario, flows = run.scenario, run.flows
    hops = hops_between(flows["src"].to_numpy(), flows["dst"].to_numpy(), scenario)
    wire_bytes = flows["bytes"] + flows["packets"] * (scenario.header_bytes + scenario.gap_bytes)
    first = flows["start_ns"] + hops * scenario.delay_ns + (hops - 1) * scenario.data_ns
    by_receiver = pd.DataFrame(
        {"dst": flows["dst"], "bytes": wire_bytes, "first": first, "last": flows["delivered_ns"]}
    ).groupby("dst")
    window = by_receiver["last"].max() - by_receiver["first"].min()
    if flows["delivered_ns"].isna().any() or not (window > 0).all():
        return float("nan")
    return float(scenario.time_ns(float(by_receiver["bytes"].sum().sum())) / window.sum())


def utilisation_over_time(run: Run, bins: int = 100) -> pd.DataFrame:
    """Return the receivers' mean delivered rate as a share of the line rate, in `bins` of time.

    Columns `time_us` (middle of the bin) and `utilisation`. Each flow's data is spread evenly from
    when its first bit could have come to its delivery: it shows when flows end, not their bursts.
    """
    scenario, flows = run.scenario, run.flows
    hops = hops_between(flows["src"].to_numpy(), flows["dst"].to_numpy(), scenario)
    wire_ns = scenario.time_ns(1.0) * (
        flows["bytes"] + flows["packets"] * (scenario.header_bytes + scenario.gap_bytes)
    )
    alone = hops * scenario.delay_ns + (hops - 1) * scenario.data_ns
    first = (flows["start_ns"] + alone).to_numpy()
    last = flows["delivered_ns"].to_numpy()
    edges = np.linspace(0, np.nanmax(last), bins + 1)
    rate = wire_ns.to_numpy() / (last - first)
    share = [
        np.nansum(rate * np.clip(np.minimum(last, high) - np.maximum(first, low), 0, None))
        / ((high - low) * flows["dst"].nunique())
        for low, high in itertools.pairwise(edges)
    ]
    middle = (edges[:-1] + edges[1:]) / 2 / NANOSECONDS_PER_MICROSECOND
    return pd.DataFrame({"time_us": middle, "utilisation": share})


def queue_series(queues: pd.DataFrame, bins: int = 200) -> pd.DataFrame:
    """Return each switch stage's longest and mean queue over time, from queues.csv.gz.

    Columns `stage`, `time_us` (middle of the bin), `max_queue_bytes` and `mean_queue_bytes` over
    the stage's links that ever queued. A link counts in a bin with the longest it was then, and
    keeps its last length until its next sample.
    """
    queues = queues[queues["stage"] != HOST_STAGE]
    if queues.empty:
        return pd.DataFrame(columns=["stage", "time_us", "max_queue_bytes", "mean_queue_bytes"])
    edges = np.linspace(0, float(queues["time_ns"].max()) or 1.0, bins + 1)
    where = np.clip(np.searchsorted(edges, queues["time_ns"], "right") - 1, 0, bins - 1)
    binned = queues.assign(bin=where)
    longest, last = (
        binned.pivot_table(
            values="queue_bytes", index=["stage", "node", "port"], columns="bin", aggfunc=how
        ).reindex(columns=range(bins))
        for how in ("max", "last")
    )
    carried = last.ffill(axis=1).shift(1, axis=1)
    by_link = longest.fillna(0).combine(carried.fillna(0), np.maximum)
    by_stage = by_link.groupby("stage")
    middle = (edges[:-1] + edges[1:]) / 2 / NANOSECONDS_PER_MICROSECOND
    stages = [stage for stage in STAGES if stage in by_stage.groups]
    frames = [
        pd.DataFrame(
            {
                "stage": stage,
                "time_us": middle,
                "max_queue_bytes": by_stage.max().loc[stage].to_numpy(),
                "mean_queue_bytes": by_stage.mean().loc[stage].to_numpy(),
            }
        )
        for stage in stages
    ]
    return pd.concat(frames, ignore_index=True)
