from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from errors import UserError
from traffic.__main__ import main
from traffic.readers import connection_matrix
from traffic.readers.goal import read, write
from traffic.request import Request
from traffic.workloads import make

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.flows import Flows

GOOD = """num_ranks 3
rank 0 {
  a: send 1000b to 1 tag 5 cpu 0
  b: calc 250
  c: send 2000b to 2 tag 5
  c requires b
  b requires a
}
rank 1 {
  r: recv 1000b from 0 tag 5
  w: calc 70
  s: send 10b to 2
  w requires r
  s requires w
}
rank 2 {
  one: recv 2000b from 0 tag 5
  two: recv 10b from 1
  two requires one
  end: calc 5
  end requires two
}
"""


def request(hosts: int = 16) -> Request:
    return Request(hosts, 2, 4, 4096, np.random.default_rng(1))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "schedule.goal"
    path.write_text(text, encoding="utf-8")
    return path


def graph(flows: Flows) -> dict[tuple[int, int, int], object]:
    """Each row by its ends and which of theirs it is: its size, delay, and whom it waits for."""
    seen: dict[tuple[int, int], int] = {}
    keys = []
    for ends in zip(flows.source.tolist(), flows.destination.tolist(), strict=True):
        seen[ends] = seen.get(ends, 0) + 1
        keys.append((*ends, seen[ends]))
    return {
        key: (
            int(flows.size_bytes[row]),
            int(flows.delay_ps[row]),
            {keys[other] for other in flows.after.of(row).tolist()},
        )
        for row, key in enumerate(keys)
    }


def test_read__messages_computations_and_what_they_require(tmp_path: Path) -> None:
    flows = read(written(tmp_path, GOOD), request())
    rows = list(
        zip(
            flows.source.tolist(),
            flows.destination.tolist(),
            flows.size_bytes.tolist(),
            flows.delay_ps.tolist(),
            [sorted(flows.after.of(row).tolist()) for row in range(len(flows))],
            strict=True,
        )
    )
    assert rows == [
        (0, 1, 1000, 0, []),
        (0, 0, 0, 250_000, [0]),
        (0, 2, 2000, 0, [1]),
        (1, 1, 0, 70_000, [0]),
        (1, 2, 10, 0, [3]),
        (2, 2, 0, 0, [2, 4]),
        (2, 2, 0, 5_000, [5]),
    ]


@pytest.mark.parametrize("name", ["ring", "all-gather", "halving-doubling", "incast"])
def test_write__is_read_back(tmp_path: Path, name: str) -> None:
    flows = make(name, request())
    write(tmp_path / "out.goal", flows)
    assert graph(read(tmp_path / "out.goal", request())) == graph(flows)


def test_convert__from_matrix_to_goal_and_back(tmp_path: Path) -> None:
    flows = make("ring", request())
    connection_matrix.write(tmp_path / "ring.cm", flows)
    assert main(["convert", str(tmp_path / "ring.cm"), str(tmp_path / "ring.goal")]) == 0
    assert main(["convert", str(tmp_path / "ring.goal"), str(tmp_path / "again.cm")]) == 0
    assert graph(connection_matrix.read(tmp_path / "again.cm", request())) == graph(flows)


def test_convert__what_a_format_cannot_say__is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written(tmp_path, GOOD)
    assert main(["convert", str(source), str(tmp_path / "out.cm")]) == 2
    assert "no computations" in capsys.readouterr().err
    assert main(["convert", str(source), str(tmp_path / "out.txt")]) == 2
    assert "out.txt: not a format" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("num_ranks 3", "num_ranks inf"), "schedule.goal:1: num_ranks is 'inf'"),
        (("num_ranks 3", "num_ranks 32"), "it is for 32 ranks; the network has 16"),
        (("rank 2 {", "rank 3 {"), "schedule.goal:16: rank 3 is not one of 3"),
        (("a: send 1000b to 1", "a: send 1000b to 0"), "schedule.goal:3: rank 0 is no other"),
        (("a: send 1000b", "a: send nanb"), "schedule.goal:3: size is 'nan'"),
        (("a: send 1000b", "a: send 1001b"), "schedule.goal:10: it receives 1000 B; line 3 sends"),
        (("b: calc", "a: calc"), "schedule.goal:4: label a is given twice"),
        (("c requires b", "c requires x"), "schedule.goal:6: 'x' is no label of this rank"),
        (("b requires a", "b requires c"), "schedule.goal:4: operations require each other"),
        (("r: recv 1000b from 0 tag 5", "r: calc 1"), "schedule.goal:3: rank 1 has no receive"),
        (("cpu 0", "gpu 0"), "schedule.goal:3: 'gpu' is not known"),
        (("  b: calc 250", "  b: think 250"), "schedule.goal:4: an operation reads"),
        (("rank 0 {", "party"), "schedule.goal:2: 'party' is no line of GOAL"),
    ],
)
def test_read__wrong_line__names_file_and_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in GOOD
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, GOOD.replace(*change, 1)), request())
