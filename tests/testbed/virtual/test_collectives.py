"""Collectives in virtual time, replayed from their result files."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from testbed import virtual
from testbed.planning import plan_for
from testbed.scenario import Scenario
from traffic.collectives.double_tree import first_tree, second_tree

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.collectives.double_tree import Node

Row = dict[str, str]


def rows_of(folder: Path) -> list[Row]:
    with (folder / "flows.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def early_sends(rows: list[Row], tree: list[Node]) -> tuple[int, int]:
    """Count a chunk's sends, and those that left before what they carry had arrived.

    It knows the tree and the rows of one chunk: nothing of who was told to wait for whom.
    """
    arrived: dict[int, list[tuple[int, float]]] = {}
    for row in rows:
        arrived.setdefault(int(row["dst"]), []).append(
            (int(row["src"]), float(row["delivered_ns"]))
        )
    early = sums = 0
    for row in rows:
        rank, start = int(row["src"]), float(row["start_ns"])
        parent, children = tree[rank]
        up = int(row["dst"]) == parent
        needed = children if up or parent is None else (parent,)
        times = [time for source, time in arrived.get(rank, []) if source in needed]
        assert len(times) == len(needed)
        sums += bool(needed)
        early += any(start < time for time in times)
    return early, sums


@pytest.mark.parametrize("chunk", [4096, 65_536])
def test_double_tree__sums_nothing_before_it_has_arrived(tmp_path: Path, chunk: int) -> None:
    options = {"chunk": chunk}
    scenario = Scenario(scheme="ofan", workload="double-tree", workload_options=options)
    virtual.run(plan_for(scenario), tmp_path)
    rows = rows_of(tmp_path)
    half, edges = len(rows) // 2, 15
    early = sums = 0
    for tree, begin in ((first_tree(16), 0), (second_tree(16), half)):
        for chunk_begin in range(begin, begin + half, 2 * edges):
            found = early_sends(rows[chunk_begin : chunk_begin + 2 * edges], tree)
            early, sums = early + found[0], sums + found[1]
    assert sums == (1 << 20) // chunk * 22
    assert early == 0
