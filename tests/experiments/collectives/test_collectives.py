from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from analysis.ring_tree import ring_time
from experiments.collectives import report, runs, tables
from experiments.main import main
from testbed.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path

BASE = Scenario(
    workload="double-tree",
    workload_options={"alpha_ns": 10_000, "reduce_ps_per_byte": 0, "group": 0, "chunk": "nccl"},
)


def test_command__prints_the_table_and_draws_the_crossover(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "collectives --from 512 --to 2M --factor 64 --slow-host 5:0.25 --schemes ofan"
    assert main([*line.split(), "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    table = pd.read_csv(tmp_path / "collectives.csv")
    assert sorted(set(table["bytes"][table["purpose"] == "sizes"])) == [512, 32768, 2097152]
    assert (table["verdict"] == "VALID").all()
    assert (tmp_path / "crossover.png").stat().st_size > 10_000
    for size in (512, 32768, 2097152):
        assert f"\n {size:>13}" in told
    assert "Two trees of 16 ranks, 4 and 4 deep" in told
    assert "crosses the spine" in told or "cross the spine" in told
    slow = table.pivot_table(index="bytes", columns=["purpose", "algorithm"], values="cct_us")
    ring, tree = (slow["slow", name] / slow["sizes", name] for name in ("ring", "double-tree"))
    assert tree[32768] > ring[32768] > 1  # an inner rank holds up its whole subtree
    assert tree[2097152] > ring[2097152]


def test_cases__rings_have_no_trees_chunks() -> None:
    found = runs.cases(BASE, [8, 64], ["ofan", "ecmp"], "", 1 << 20)
    assert len(found) == 2 * 2 + 2 * 2
    assert all(
        ("chunk" in case.scenario.workload_options) == (case.scenario.workload == "double-tree")
        for case in found
    )


def test_report__has_bandwidths_as_nccl_tests_define_them(tmp_path: Path) -> None:
    rows = [
        ("sizes", algorithm, "ofan", size, "in-order", 1e6 * ring_time(size, 16, 10e-6, 4e-11))
        for size in (1 << 10, 1 << 20, 1 << 24)
        for algorithm in runs.ALGORITHMS
    ]
    rows += [("spine", "double-tree", "ecmp", 1 << 20, "random", 2000.0)]
    names = ["purpose", "algorithm", "scheme", "bytes", "placement", "cct_us"]
    table = pd.DataFrame(rows, columns=names).assign(cct_bound_us=1000.0, verdict="VALID")
    told = report.told(BASE, table, tmp_path)
    time = ring_time(1 << 20, 16, 10e-6, 4e-11)
    line = next(line for line in told.splitlines() if line.startswith(f" {1 << 20:>13}"))
    assert line.split()[1:4] == [
        f"{time * 1e6:.2f}",
        f"{(1 << 20) / time / 1e9:.3f}",
        f"{(1 << 20) / time / 1e9 * 30 / 16:.3f}",
    ]
    assert "alpha 10.00 us a message, 1/beta 25.00 GB/s" in told
    assert "ecmp              2000.00 us    100.0% above the bound" in told


def test_trees__say_what_roles_send() -> None:
    told = tables.trees(BASE)
    assert "0 and 2 children                       14 ranks   sent 2.00 S" in told
    assert "roots among them      2 ranks   sent 1.00 S" in told


@pytest.mark.parametrize("line", ["--from 0", "--from 8 --to 4", "--factor 1"])
def test_command__wrong_sizes__are_told(line: str) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["collectives", *line.split()])
    assert raised.value.code == 2


def test_dry_run__runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["collectives", "--to", "64", "--dry-run", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "double-tree 64 B ofan" in told
    assert "hops with their ACKs" in told
    assert not out.exists()
