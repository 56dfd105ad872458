"""What a run comes to: completion times, queues, balance and utilisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.bounds import published
from analysis.messages import PICOSECONDS, Link, first_bits, frames_of
from testbed.scenario.files import HOST_STAGE, STAGES

if TYPE_CHECKING:
    from analysis.results import Run

NANOSECONDS_PER_MICROSECOND = 1000
ARRIVAL_NS = 1000  # a bin of arrivals.csv


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
    """Return what the run's CCT is compared with: see `bounds.cct_bound`.

    A run can be a little faster than Appendix A's bound (docs/bounds.md); it has the floor then.
    """
    above = published(run.scenario, run.messages)
    bound = run.floor_ns if above is None else above
    if cct_us(run) * NANOSECONDS_PER_MICROSECOND < bound:
        bound = run.floor_ns
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
    """Return a row for each switch stage: max and mean queue, in bytes and in packets.

    `mean` is over the whole CCT, `sending` over the time in which hosts send: q(m) of §3.3.
    """
    grouped = run.switch_links.groupby("stage")
    table = pd.DataFrame(
        {
            "max_queue_bytes": grouped["max_queue_bytes"].max(),
            "mean_queue_bytes": grouped["mean_queue_bytes"].mean(),
            "max_queue_packets": grouped["max_queue_packets"].max(),
            "mean_queue_packets": grouped["mean_queue_packets"].mean(),
            "sending_queue_bytes": grouped["sending_queue_bytes"].mean(),
            "sending_queue_packets": grouped["sending_queue_packets"].mean(),
        }
    )
    return table.loc[stages_of(run)]


def overload_by_stage(run: Run) -> pd.Series[float]:
    """Return the worst link overload of each stage between switches (Fig. 3).

    That is the data packets of the stage's busiest link over the stage's mean, less 1.
    """
    between = run.switch_links[run.switch_links["stage"] != "E-H"]
    grouped = between.groupby("stage")["data_packets"]
    overload = grouped.max() / grouped.mean() - 1
    return overload.loc[[stage for stage in stages_of(run) if stage in overload.index]]


def utilisation(run: Run) -> float:
    """Return how busy with data the receivers' links were while data could come, at most 1.

    For each receiver: time of its data frames with the gaps between them, over the time from when
    the first bit could have come (no queueing) to its last delivery; summed over all receivers.
    Messages that were never delivered are left out; 0 if none was.
    """
    flows = run.flows[run.flows["delivered_ns"].notna()]
    if flows.empty:
        return 0.0
    messages = run.messages
    link = Link.of(run.scenario, messages)
    frames = frames_of(messages, run.scenario.payload_bytes)
    slots = (frames.count * link.received(frames.payload)).sum(axis=0)
    gaps = np.broadcast_to(link.last_gap, slots.shape)
    earliest = flows["start_ns"] + (first_bits(link, messages, frames) / PICOSECONDS)[flows.index]
    by_receiver = pd.DataFrame(
        {
            "dst": flows["dst"],
            "slots": slots[flows.index] / PICOSECONDS,
            "gap": gaps[flows.index] / PICOSECONDS,
            "first": earliest,
            "last": flows["delivered_ns"],
        }
    ).groupby("dst")
    window = by_receiver["last"].max() - by_receiver["first"].min()
    busy = by_receiver["slots"].sum() - by_receiver["gap"].first()
    return float(busy.sum() / window.sum())


def receive_skew(run: Run) -> float:
    """Return the bytes of messages for the busiest host over the mean of all: MoE's skew (§6.6)."""
    flows = run.flows
    received = np.bincount(flows["dst"], weights=flows["bytes"], minlength=run.scenario.hosts)
    return float(received.max() / received.mean())


def peak_utilisation(run: Run) -> float:
    """Return the most that the hosts' links carried in any microsecond (Fig. 1a), at most 1.

    That is the mean over all hosts that send or receive; frames of data and ACKs count without the
    gaps between them. The paper's caption says "Max utilization" and no more; this is the reading
    that gives what its text says of the figure (docs/reproduction/notes.md).
    """
    return float(utilisation_over_time(run)["utilisation"].max())


def utilisation_over_time(run: Run) -> pd.DataFrame:
    """Return the mean rate at which hosts received, as a share of the line rate.

    Columns `time_us` (middle of a bin of 1 us) and `utilisation`. Data and ACKs count, the gaps
    between frames do not.
    """
    arrivals = run.arrivals
    hosts = len(set(run.flows["src"]) | set(run.flows["dst"]))
    per_byte = run.scenario.speeds.best("host").picoseconds_per_byte
    capacity = hosts * ARRIVAL_NS * PICOSECONDS / per_byte
    return pd.DataFrame(
        {
            "time_us": (arrivals["time_ns"] + ARRIVAL_NS / 2) / NANOSECONDS_PER_MICROSECOND,
            "utilisation": (arrivals["data_bytes"] + arrivals["ack_bytes"]) / capacity,
        }
    )


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
    carried = last.ffill(axis=1).shift(1, axis=1).fillna(0)
    by_link = longest.fillna(0).where(lambda now: now >= carried, carried)
    by_stage = by_link.groupby("stage")
    most, mean = by_stage.max(), by_stage.mean()
    middle = (edges[:-1] + edges[1:]) / 2 / NANOSECONDS_PER_MICROSECOND
    frames = [
        pd.DataFrame(
            {
                "stage": stage,
                "time_us": middle,
                "max_queue_bytes": most.loc[stage].to_numpy(),
                "mean_queue_bytes": mean.loc[stage].to_numpy(),
            }
        )
        for stage in STAGES
        if stage in most.index
    ]
    return pd.concat(frames, ignore_index=True)
