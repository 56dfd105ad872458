"""What a run of training steps comes to, job by job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.floor import floor
from analysis.messages import messages_of

if TYPE_CHECKING:
    from analysis.results import Run

MICROSECOND = 1000  # nanoseconds
COLUMNS = ("job", "step_us", "computation_us", "bound_us")


def job_times(run: Run) -> pd.DataFrame:
    """Return a row for each job of a run of workload training-step.

    `step_us` is from the first packet of the run until the job's last step is done, with its ACKs;
    NaN if it never was. `computation_us` is what its busiest GPU computes, `bound_us` the floor of
    this job alone (docs/bounds.md). What is not computation is communication that is exposed.
    """
    numbers = run.steps["phase"].str.extract(r"^job (\d+): ", expand=False).fillna("0").astype(int)
    rows = [
        _job(run, int(number), run.steps[numbers == number]) for number in sorted(numbers.unique())
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _job(run: Run, number: int, steps: pd.DataFrame) -> dict[str, float]:
    messages = steps["bytes"] > 0
    ended = "finish_ns" if run.scenario.acks else "delivered_ns"
    ends = np.where(messages, steps[ended], steps["delivered_ns"])
    computed = steps[~messages].groupby("src")["delay_ns"].sum()
    return {
        "job": number,
        "step_us": float(ends.max()) / MICROSECOND,
        "computation_us": float(computed.max()) / MICROSECOND,
        "bound_us": floor(run.scenario, messages_of(run.scenario, _alone(steps))) / MICROSECOND,
    }


def _alone(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the steps of one job with numbers of their own."""
    place = {str(flow): str(row) for row, flow in enumerate(steps["flow"])}
    after = [" ".join(place[number] for number in waits.split()) for waits in steps["after"]]
    return steps.assign(flow=np.arange(len(steps)), after=after).reset_index(drop=True)
