from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from errors import UserError
from traffic.connection_matrix import read

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """Nodes 16
Connections 3
Triggers 1
0->5 id 1 start 0 size 2000000
5->9 id 2 trigger 7 size 1000
3->4 id 3 start 0 recv_done_trigger 8
trigger id 7 oneshot
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "matrix.cm"
    path.write_text(text, encoding="utf-8")
    return path


def test_read__connections_sizes_and_triggers(tmp_path: Path) -> None:
    text = GOOD.replace("0->5 id 1 start 0", "0->5 id 1 start 0 recv_done_trigger 7")
    flows = read(written(tmp_path, text), hosts=16, message_bytes=4096)
    assert flows.source.tolist() == [0, 5, 3]
    assert flows.destination.tolist() == [5, 9, 4]
    assert flows.size_bytes.tolist() == [2_000_000, 1000, 4096]
    assert [flows.after.of(row).tolist() for row in range(3)] == [[], [0], []]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Nodes 16", "Nodes many"), "matrix.cm:1: Nodes is 'many'"),
        (("Nodes 16", "Hosts 16"), "matrix.cm:1: 'Hosts' is neither"),
        (("Nodes 16", "Nodes 64"), "it is for 64 hosts; the network has 16"),
        (("Connections 3", "Connections 4"), "Connections says 4, but there are 3"),
        (("Connections 3", "Connections"), "matrix.cm:2: Connections needs one number"),
        (("0->5", "0->16"), "matrix.cm:4: host 16 is not one of 16"),
        (("0->5", "5->5"), "matrix.cm:4: host 5 sends to itself"),
        (("start 0 size", "start 5.5 size"), "matrix.cm:4: start is '5.5'"),
        (("start 0 size", "start 100 size"), "matrix.cm:4: start must be 0"),
        (("size 2000000", "size"), "matrix.cm:4: size is ''"),
        (("size 2000000", "weight 3"), "matrix.cm:4: 'weight' is not known"),
        (("start 0 size", "size"), "matrix.cm:4: a connection needs either"),
        (("trigger id 7 oneshot", "trigger id 7 barrier"), "matrix.cm:7: a trigger line"),
        (("trigger id 7 oneshot", "failure switch_type TOR"), "matrix.cm:7: failures"),
        (("", ""), "matrix.cm:5: nothing pulls trigger 7"),
        (("recv_done_trigger 8", "recv_done_trigger 7"), "matrix.cm:5: trigger 7 is pulled at"),
        (("recv_done_trigger 8", "send_done_trigger 8"), "matrix.cm:6: send_done_trigger"),
    ],
)
def test_read__wrong_line__names_file_and_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    path = written(tmp_path, GOOD.replace(*change, 1))
    with pytest.raises(UserError, match=message):
        read(path, hosts=16, message_bytes=4096)


def test_read__no_file__says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.cm: cannot be read"):
        read(tmp_path / "absent.cm", 16, 1)


def test_read__binary_file__says_so(tmp_path: Path) -> None:
    path = tmp_path / "binary.cm"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not text"):
        read(path, 16, 1)
