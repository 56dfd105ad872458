from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from errors import UserError
from testbed.planning import network, plan_for
from testbed.scenario import Scenario
from traffic.readers.connection_matrix import Failure, failures, read
from traffic.request import Request

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
LINKED = GOOD.replace("0->5 id 1 start 0", "0->5 id 1 start 0 recv_done_trigger 7")


def request(hosts: int = 16, **options: str) -> Request:
    return Request(hosts, 2, 4, 4096, np.random.default_rng(1), options)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "matrix.cm"
    path.write_text(text, encoding="utf-8")
    return path


def waits_of(tmp_path: Path, lines: str, triggers: str) -> list[list[int]]:
    """Read connections and triggers, and return whom each connection waits for."""
    connections, kinds = lines.strip().splitlines(), triggers.strip().splitlines()
    header = f"Nodes 16\nConnections {len(connections)}\nTriggers {len(kinds)}\n"
    flows = read(written(tmp_path, header + "\n".join([*connections, *kinds])), request())
    return [flows.after.of(row).tolist() for row in range(len(flows))]


def test_read__connections_sizes_and_triggers(tmp_path: Path) -> None:
    flows = read(written(tmp_path, LINKED), request())
    assert flows.source.tolist() == [0, 5, 3]
    assert flows.destination.tolist() == [5, 9, 4]
    assert flows.size_bytes.tolist() == [2_000_000, 1000, 4096]
    assert [flows.after.of(row).tolist() for row in range(3)] == [[], [0], []]


def test_read__starts_and_priorities(tmp_path: Path) -> None:
    text = "Nodes 16\nConnections 2\n0->1 id 1 start 5 size 2e3 prio 3\n1->2 start 0 msg 4\n"
    flows = read(written(tmp_path, text), request(start_unit="us"))
    assert flows.start_ps.tolist() == [5_000_000, 0]
    assert flows.size_bytes.tolist() == [2000, 4096]
    assert [flows.phases[phase] for phase in flows.phase] == ["priority 3", ""]


def test_read__mark_and_line_ends_of_other_systems(tmp_path: Path) -> None:
    path = tmp_path / "other.cm"
    path.write_bytes(b"\xef\xbb\xbf" + LINKED.replace("\n", "\r\n").encode())
    assert len(read(path, request())) == 3


def test_read__large_numbers_are_exact(tmp_path: Path) -> None:
    text = "Nodes 16\nConnections 1\n0->1 start 0 size 8796093022209\n"
    assert read(written(tmp_path, text), request()).size_bytes.tolist() == [2**43 + 1]


def test_read__connections_before_what_starts_them_come_after_it(tmp_path: Path) -> None:
    lines = "5->9 trigger 7\n3->4 start 0\n0->5 start 0 recv_done_trigger 7"
    assert waits_of(tmp_path, lines, "trigger id 7 oneshot") == [[], [], [1]]


def test_read__sender_may_wait_for_its_acknowledgements(tmp_path: Path) -> None:
    text = "Nodes 16\nConnections 2\nTriggers 1\n"
    text += "0->5 start 0 send_done_trigger 7\n0->9 trigger 7\ntrigger id 7 oneshot\n"
    flows = read(written(tmp_path, text), request())
    assert flows.after.of(1).tolist() == [0]
    assert flows.after.acknowledged.tolist() == [True]


def test_read__barrier_waits_for_all(tmp_path: Path) -> None:
    lines = "0->5 start 0 recv_done_trigger 1\n1->5 start 0 recv_done_trigger 1\n5->2 trigger 1"
    assert waits_of(tmp_path, lines, "trigger id 1 barrier count 2") == [[], [], [0, 1]]


def test_read__multishot_starts_one_after_the_other(tmp_path: Path) -> None:
    lines = """
0->1 start 0 send_done_trigger 1
0->2 trigger 1 send_done_trigger 1
0->3 trigger 1 send_done_trigger 1
0->4 trigger 1"""
    assert waits_of(tmp_path, lines, "trigger id 1 multishot") == [[], [0], [1], [2]]


def test_failures__are_those_of_the_network(tmp_path: Path) -> None:
    text = "Nodes 16\nConnections 1\nFailures 2\n0->8 start 0\n"
    text += "failure switch_type TOR switch_id 1 link_id 0\nfailure CORE 3 2\n"
    path = written(tmp_path, text)
    assert failures(path) == [Failure("edge", 1, 0), Failure("core", 3, 2)]
    scenario = Scenario(workload=str(path))
    topology = network(scenario)
    down = {
        (topology.nodes[link.lower].name, topology.nodes[link.upper].name)
        for link in topology.links
        if not link.up
    }
    assert down == {("e0_1", "a0_0"), ("a2_1", "c3")}
    assert len(plan_for(scenario).flows) == 1


def test_failures__of_a_link_that_is_not_there__say_so(tmp_path: Path) -> None:
    path = written(tmp_path, "Nodes 16\nConnections 1\nFailures 1\n0->8 start 0\nfailure TOR 9 0\n")
    with pytest.raises(UserError, match="failure edge 9 0: there is no such link"):
        network(Scenario(workload=str(path)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("Nodes 16", "Nodes many"), "matrix.cm:1: Nodes is 'many'"),
        (("Nodes 16", "Hosts 16"), "matrix.cm:1: 'Hosts' is neither"),
        (("Nodes 16", "Nodes 64"), "it is for 64 hosts; the network has 16"),
        (("Triggers 1", "Nodes 16"), "matrix.cm:3: Nodes is given twice"),
        (("Connections 3", "Connections 4"), "Connections says 4, but there are 3"),
        (("Connections 3", "Connections"), "matrix.cm:2: Connections needs one number"),
        (("0->5", "0->16"), "matrix.cm:4: host 16 is not one of 16"),
        (("0->5", "5->5"), "matrix.cm:4: host 5 sends to itself"),
        (("start 0 recv", "start 5.5 recv"), "matrix.cm:4: start is '5.5'"),
        (("start 0 recv", "start 5000000000000 recv"), "matrix.cm:4: start is 5000000000000"),
        (("size 2000000", "size"), "matrix.cm:4: size is ''"),
        (("size 2000000", "size inf"), "matrix.cm:4: size is 'inf'"),
        (("size 2000000", "size nan"), "matrix.cm:4: size is 'nan'"),
        (("size 2000000", "size -1"), "matrix.cm:4: size is '-1'"),
        (("size 2000000", "size 1e400"), "matrix.cm:4: size is 1e400; it must be at most"),
        (("size 2000000", "size 9007199254740993"), "matrix.cm:4: size is 9007199254740993; it"),
        (("size 2000000", "size " + "9" * 5000), "matrix.cm:4: size is"),
        (("size 2000000", "size 5 size 5"), "matrix.cm:4: size is given twice"),
        (("size 2000000", "weight 3"), "matrix.cm:4: 'weight' is not known"),
        (("start 0 recv", "recv"), "matrix.cm:4: a connection needs either"),
        (("trigger id 7 oneshot", "trigger id 7 barrier"), "matrix.cm:7: a trigger line"),
        (("trigger id 7 oneshot", "trigger id 8 oneshot"), "matrix.cm:5: trigger 7 has no line"),
        (("trigger id 7 oneshot", "trigger id 7 oneshot\ntrigger id 7 oneshot"), ":8: .* twice"),
        (("trigger id 7 oneshot", "failure switch_type TOR"), "matrix.cm:7: a failure line"),
        (("recv_done_trigger 7", ""), "matrix.cm:5: nothing pulls trigger 7"),
        (("recv_done_trigger 8", "recv_done_trigger 7"), "matrix.cm:7: 2 connections pull"),
        (("7 oneshot", "7 barrier count 2"), "matrix.cm:7: trigger 7 waits for 2; 1 pull it"),
        (
            ("recv_done_trigger 7", "send_done_trigger 7"),
            "is pulled at host 0 .line 4., but host 5",
        ),
    ],
)
def test_read__wrong_line__names_file_and_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in LINKED
    with pytest.raises(UserError, match=message):
        read(written(tmp_path, LINKED.replace(*change, 1)), request())


def test_read__cycle__names_its_lines(tmp_path: Path) -> None:
    lines = "0->1 trigger 1 recv_done_trigger 2\n1->0 trigger 2 recv_done_trigger 1"
    with pytest.raises(UserError, match="wait for each other: lines 4, 5"):
        waits_of(tmp_path, lines, "trigger id 1 oneshot\ntrigger id 2 oneshot")


def test_read__no_file__says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.cm: cannot be read"):
        read(tmp_path / "absent.cm", request())


def test_read__binary_file__says_so(tmp_path: Path) -> None:
    path = tmp_path / "binary.cm"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not text"):
        read(path, request())
