from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from errors import UserError
from traffic.readers.tables import read
from traffic.request import Request
from traffic.workloads import make

if TYPE_CHECKING:
    from pathlib import Path

SIMCCL = """collective,algorithm,channel_id,flow_id,src,dest,flow_size,conn_type,parent_flow_ids
AllReduce,1,0,10,0,1,1024,RING,
AllReduce,1,0,11,1,2,1024,RING,10
AllReduce,1,0,12,2,0,512,RING,"11;13"
AllReduce,1,0,13,1,2,64,RING,
"""


def request(hosts: int = 8, **options: Any) -> Request:
    return Request(hosts, 2, 4, 4096, np.random.default_rng(1), options)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_read__simccl(tmp_path: Path) -> None:
    flows = read(written(tmp_path, SIMCCL), request())
    assert flows.source.tolist() == [0, 1, 1, 2]
    assert flows.size_bytes.tolist() == [1024, 1024, 64, 512]
    assert [flows.after.of(row).tolist() for row in range(4)] == [[], [0], [], [1, 2]]


def test_read__messages(tmp_path: Path) -> None:
    text = "src,dst,bytes\n0,1,100\n1,1,5\n2,3,0\n7,0,4000000000\n"
    flows = make(str(written(tmp_path, text)), request())
    assert flows.source.tolist() == [0, 7]
    assert flows.size_bytes.tolist() == [100, 4_000_000_000]


def test_read__matrix_of_token_copies(tmp_path: Path) -> None:
    rows = [[0] * 8 for _ in range(8)]
    rows[3] = [1] * 8
    text = "\n".join(",".join(map(str, row)) for row in rows)
    flows = make(str(written(tmp_path, text)), request(server=4, dispatch_bytes=10))
    assert (flows.source.tolist(), flows.destination.tolist()) == ([3], [7])
    assert flows.size_bytes.tolist() == [40]


def test_read__tokens(tmp_path: Path) -> None:
    text = "gpu,expert,expert\n0,0,1\n0,2,3\n5,6,7\n"
    flows = make(str(written(tmp_path, text)), request(server=4, dispatch_bytes=1, experts=8))
    gpu_of = np.random.default_rng(1).permutation(8)
    there = [(gpu_of[[0, 1, 2, 3]] >= 4).sum(), (gpu_of[[6, 7]] < 4).sum()]
    assert flows.size_bytes.sum() == sum(there)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table.csv:1: its first line is neither"),
        ("who,knows\n", "table.csv:1: its first line is neither"),
        ("src,dst,bytes\n0,1\n", "table.csv:2: it has 2 columns"),
        ("src,dst,bytes\n0,1,nan\n", "table.csv:2: a number is 'nan'"),
        ("src,dst,bytes\n0,9,1\n", "host 9 is not one of 8"),
        ("1,2\n3,4\n", "it has 2 rows; there are 8 hosts"),
        ("gpu,expert\n", "there is nothing in it"),
        (
            SIMCCL.replace(",11;13", ",").replace('"11;13"', "77"),
            "table.csv:4: there is no flow 77",
        ),
        (SIMCCL.replace('"11;13"', "10"), "table.csv:4: its parent 10 ends at host 1"),
        (SIMCCL.replace(",13,1,2", ",12,1,2"), "table.csv:5: flow 12 is given twice"),
        (SIMCCL.replace("1024,RING,10", "inf,RING,10"), "table.csv:3: flow_size is 'inf'"),
    ],
)
def test_read__wrong_table__says_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, text), request())
