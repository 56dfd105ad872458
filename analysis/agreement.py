"""How far two worlds agree on the same scenarios: in the CCT, and in the ranking of schemes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SHARED = ["k", "workload", "message_bytes", "load", "cca"]
SCENARIO = ["variant", "seed", *SHARED]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Pairs of schemes that two worlds order alike, of the pairs that both tell apart."""

    alike: int
    pairs: int

    @property
    def share(self) -> float:
        """Share of pairs ordered alike; 1 if no pair can be told apart."""
        return self.alike / self.pairs if self.pairs else 1.0


def paired(table: pd.DataFrame, reference: str, other: str) -> pd.DataFrame:
    """Pair the rows of two worlds scenario by scenario, INVALID ones left out.

    Returns the scenario's columns, `cct_us_reference`, `cct_us_other`, and `error`: the other's CCT
    over the reference's, less 1.
    """
    valid = table[table["verdict"] != "INVALID"]
    both = valid[valid["world"] == reference].merge(
        valid[valid["world"] == other], on=SCENARIO, suffixes=("_reference", "_other")
    )
    error = both["cct_us_other"] / both["cct_us_reference"] - 1
    return both[[*SCENARIO, "cct_us_reference", "cct_us_other"]].assign(error=error)


def ranking(pairs: pd.DataFrame, least_gap: float = 0.01) -> Ranking:
    """Compare how two worlds rank schemes by their mean CCT, scenario by scenario.

    `pairs` is a table of `paired`. Two schemes whose means differ by less than `least_gap` in the
    reference are not told apart.
    """
    alike = total = 0
    for _, rows in pairs.groupby(SHARED):
        means = rows.groupby("variant")[["cct_us_reference", "cct_us_other"]].mean()
        for one, two in combinations(means.to_numpy(), 2):
            if abs(one[0] / two[0] - 1) >= least_gap:
                total += 1
                alike += (one[0] < two[0]) == (one[1] < two[1])
    return Ranking(int(alike), total)
