"""What training steps came to: a table in text, and a figure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from analysis.figures.style import COLUMN, PAGE, draw
from analysis.figures.training import step_figure

if TYPE_CHECKING:
    from pathlib import Path

HEAD = (
    f"{'placement':<13}{'scheme':<14}{'step ms':>10}{'compute ms':>12}{'exposed ms':>12}"
    f"{'at bound':>10}{'added':>9}{'fastest job':>13}{'slowest job':>13}  verdicts"
)


def by_scheme(table: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds for each placement and scheme, of the slowest job of each run.

    The slowest job is what a user waits for. `fastest_us` and `slowest_us` tell jobs apart. Only
    runs that are not INVALID count.
    """
    usable = table[table["verdict"] != "INVALID"]
    rows = []
    for (placement, label), runs in usable.groupby(["placement", "label"], sort=False):
        slowest = runs.loc[runs.groupby("seed")["step_us"].idxmax()]
        mean = slowest[["step_us", "computation_us", "bound_us"]].mean()
        rows.append(
            {
                "placement": placement,
                "label": label,
                **mean,
                "exposed_us": mean["step_us"] - mean["computation_us"],
                "exposed_at_bound_us": mean["bound_us"] - mean["computation_us"],
                "added_us": mean["step_us"] - mean["bound_us"],
                "added_percent": 100 * (mean["step_us"] / mean["bound_us"] - 1),
                "fastest_us": runs.groupby("seed")["step_us"].min().mean(),
                "slowest_us": mean["step_us"],
            }
        )
    return pd.DataFrame(rows)


def told(table: pd.DataFrame, out: Path) -> str:
    """Draw the figure, and return the table in text."""
    means = by_scheme(table)
    lines = [HEAD]
    for row in means.to_dict("records"):
        of_row = (table["placement"] == row["placement"]) & (table["label"] == row["label"])
        verdicts = table[of_row].groupby("seed")["verdict"].first().value_counts()
        times = "".join(
            f"{row[name] / 1000:>{width}.3f}"
            for name, width in (
                ("step_us", 10),
                ("computation_us", 12),
                ("exposed_us", 12),
                ("exposed_at_bound_us", 10),
            )
        )
        lines.append(
            f"{row['placement']:<13}{row['label']:<14}{times}{row['added_percent']:>8.2f}%"
            f"{row['fastest_us'] / 1000:>13.3f}{row['slowest_us'] / 1000:>13.3f}  "
            + ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        )
    if means.empty:
        return "\n".join([*lines, "no run is usable: nothing is drawn"])
    width = COLUMN if len(set(means["placement"])) == 1 else PAGE
    picture = draw(out / "step", partial(step_figure, table=means), width=width, height=2.6)
    return "\n".join([*lines, "", str(picture)])
