"""Chakra traces: bytes that protoc wrote, and schedules worked out by hand."""

from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from errors import UserError
from traffic.__main__ import main
from traffic.readers.chakra import trace
from traffic.readers.chakra.nodes import COLLECTIVE, COMPUTE, METADATA, RECEIVE, SEND, read_nodes
from traffic.request import Request
from traffic.workloads import make

if TYPE_CHECKING:
    from pathlib import Path

    from traffic.flows import Flows

pytest.importorskip("google.protobuf", reason="protobuf, an optional extra, is not installed")
from traffic.readers.chakra.schema import messages

# protoc --encode=ChakraProtoMsg.Node et_def.proto, with a list that is not read
BY_PROTOC = (
    "08071202415218072201032a020405380c520d0a09636f6d6d5f747970654800520f0a09636f6d6d5f73697a65"
    "48808004520e0a0969735f6370755f6f70d80100520d0a0770675f6e616d65ea01013152150a0c696e766f6c76"
    "65645f64696de201040a020100"
)


def node(number: int, kind: int, *before: int, us: int = 0, **values: Any) -> Any:
    made = messages()["Node"](id=number, name=f"n{number}", type=kind, duration_micros=us)
    made.data_deps.extend(before)
    for name, value in values.items():
        field = {bool: "bool_val", int: "int64_val", str: "string_val"}[type(value)]
        made.attr.add(name=name, **{field: value})
    return made


def write(folder: Path, *ranks: list[Any], name: str = "t") -> Path:
    from google.protobuf import proto  # noqa: PLC0415 - an optional extra

    for rank, nodes in enumerate(ranks):
        stream = io.BytesIO()
        proto.serialize_length_prefixed(messages()["GlobalMetadata"](version="0.0.4"), stream)
        for each in nodes:
            proto.serialize_length_prefixed(each, stream)
        (folder / f"{name}.{rank}.et").write_bytes(stream.getvalue())
    return folder / f"{name}.0.et"


def read(path: Path, hosts: int = 16, **options: Any) -> Flows:
    request = Request(hosts, 2, 4, 1000, np.random.default_rng(1), options)
    return make(str(path), request)


def rows(flows: Flows) -> list[tuple[int, int, int]]:
    ends = zip(flows.source.tolist(), flows.destination.tolist(), strict=True)
    sizes = flows.size_bytes.tolist()
    return [(*both, size) for both, size in zip(ends, sizes, strict=True)]


def finish_us(flows: Flows, message_us: float) -> float:
    """Return when all is done if each message takes the same, however many there are."""
    done: list[float] = []
    for row in range(len(flows)):
        begin = max((done[other] for other in flows.after.of(row)), default=0.0)
        lasts = 0 if flows.computes[row] else message_us
        done.append(begin + float(flows.delay_ps[row]) / 1e6 + lasts)
    return max(done)


def test_node__as_protoc_writes_it(tmp_path: Path) -> None:
    body = bytes.fromhex(BY_PROTOC)
    head = bytes([7, 0x0A, 5]) + b"0.0.4"
    plain, packed = tmp_path / "one.0.et", tmp_path / "two.0.et"
    plain.write_bytes(head + bytes([len(body)]) + body)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        (found,) = read_nodes(path, 0)
        assert (found.id, found.name, found.kind, found.before) == (7, "AR", COLLECTIVE, (3, 4, 5))
        assert found.duration_us == 12
        assert found.values == {
            "comm_type": 0,
            "comm_size": 65536,
            "is_cpu_op": False,
            "pg_name": "1",
            "involved_dim": None,
        }


def test_sends_and_receives__wait_for_each_other(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [
            node(1, COMPUTE, us=5),
            node(2, SEND, 1, comm_dst=1, comm_size=1000, comm_tag=3),
            node(3, SEND, comm_dst=1, comm_size=2000),
        ],
        [
            node(9, RECEIVE, comm_src=0, comm_tag=3),
            node(10, COMPUTE, 9, us=7),
            node(11, RECEIVE, comm_src=0, comm_tag=0),
            node(12, METADATA, 10, 11, us=100),
        ],
    )
    flows = read(path)
    assert sorted(size for *_, size in rows(flows) if size) == [1000, 2000]
    assert finish_us(flows, message_us=10) == 5 + 10 + 7  # a metadata node takes no time


@pytest.mark.parametrize(
    ("kind", "messages_us", "sent"),
    [
        (0, 6, 6 * 1000),  # a ring all-reduce of 4 ranks: 6 steps of a quarter, by 4 ranks
        (2, 3, 3 * 4 * 4000 // 4 * 4),  # all-gather: shards of 4,000 B, 3 steps
        (7, 3, 3 * 4 * 1000),
        (6, 1, 3 * 4 * 1000),
        (5, 3, 3 * 4000),
        (1, 1, 3 * 4000),
        (3, 1, 3 * 4000),
        (4, 1, 3 * 1000),
        (9, 6, 24),
    ],
)
def test_collective__is_between_what_ranks_depend_on(
    kind: int, messages_us: int, sent: int, tmp_path: Path
) -> None:
    ranks = [
        [
            node(1, COMPUTE, us=50 if rank in {0, 2} else 1),
            node(2, COLLECTIVE, 1, comm_type=kind, comm_size=4000),
            node(3, COMPUTE, 2, us=20),
        ]
        for rank in range(4)
    ]
    flows = read(write(tmp_path, *ranks))
    total = sent * 4 if kind == 0 else sent
    assert flows.size_bytes.sum() == total
    assert finish_us(flows, message_us=1) == pytest.approx(50 + messages_us + 20)


def test_groups__by_their_names_and_in_order(tmp_path: Path) -> None:
    def rank(group: str) -> list[Any]:
        return [
            node(number, COLLECTIVE, comm_type=6, comm_size=200 * number, pg_name=group)
            for number in (1, 2)
        ]

    flows = read(write(tmp_path, rank("a"), rank("b"), rank("a"), rank("b")))
    found = sorted(row for row in rows(flows) if row[2])
    assert found == sorted(
        (source, destination, size)
        for size in (100, 200)
        for pair in ((0, 2), (1, 3))
        for source, destination in (pair, pair[::-1])
    )


def test_broadcast__from_its_root(tmp_path: Path) -> None:
    ranks = [[node(1, COLLECTIVE, comm_type=5, comm_size=10, root=2)] for _ in range(3)]
    flows = read(write(tmp_path, *ranks))
    assert [row for row in rows(flows) if row[2]] == [(2, 0, 10), (0, 1, 10)]


def test_host_operators_and_missing_nodes(tmp_path: Path) -> None:
    ranks = [
        [
            node(1, COLLECTIVE, us=4, is_cpu_op=True),
            node(2, COLLECTIVE, 1, 77, comm_type=6, comm_size=100),
        ]
        for _ in range(2)
    ]
    path = write(tmp_path, *ranks)
    with pytest.raises(UserError, match=r"node 2 \('n2'\): it depends on node 77"):
        read(path)
    assert finish_us(read(path, missing="ignore"), message_us=3) == 4 + 3


COLL = {"comm_type": 0, "comm_size": 100}


@pytest.mark.parametrize(
    ("ranks", "problem"),
    [
        ([[node(1, COMPUTE, 2), node(2, COMPUTE, 1)]], r"depend on each other: [12], [12]"),
        ([[node(1, COMPUTE), node(1, COMPUTE)]], "is that of an earlier node"),
        ([[node(1, SEND, comm_dst=0, comm_size=5)]], "comm_dst is 0, which is no other of 1"),
        ([[node(1, SEND, comm_dst=1)], []], "has no attribute comm_size"),
        ([[node(1, SEND, comm_dst=1, comm_size=-5)], []], "comm_size is -5"),
        ([[node(1, SEND, comm_dst=1, comm_size="5")], []], "comm_size is '5'"),
        ([[], [node(1, RECEIVE, comm_src=0)]], "no send of rank 0 matches"),
        ([[node(1, COLLECTIVE, comm_type=10)], []], "comm_type is 10"),
        (
            [[node(1, COLLECTIVE, **COLL)], [node(1, COLLECTIVE, comm_type=0, comm_size=9)]],
            "rank 0 has a all-reduce of 100 B there",
        ),
        (
            [
                [node(1, COLLECTIVE, **COLL), node(2, COLLECTIVE, **COLL)],
                [node(1, COLLECTIVE, **COLL)],
            ],
            "rank 1 of its group takes no part",
        ),
        ([[node(1, COLLECTIVE, **COLL, root=7)], [node(1, COLLECTIVE, **COLL, root=7)]], "root is"),
        ([[node(1, COMPUTE, us=10**9)]], "at most 4,000,000"),
        ([[node(1, COMPUTE)]], "no rank sends anything"),
        ([[] for _ in range(17)], "the network has 16 hosts"),
    ],
)
def test_wrong_traces__are_refused_with_file_and_node(
    ranks: list[list[Any]], problem: str, tmp_path: Path
) -> None:
    path = write(tmp_path, *ranks)
    with pytest.raises(UserError, match=problem) as told:
        read(path)
    assert str(tmp_path) in str(told.value)


def test_files__that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path, [node(1, COMPUTE)], [node(1, COMPUTE)])
    (tmp_path / "t.1.et").unlink()
    (tmp_path / "t.2.et").write_bytes(path.read_bytes())
    with pytest.raises(UserError, match=r"but no t\.1\.et"):
        read(path)
    for name in ("u.et", "nosuch.0.et"):
        with pytest.raises(UserError, match=name):
            read(tmp_path / name)
    whole = path.read_bytes()
    for content in (b"", whole[:-1], b"\x1f\x8bnonsense", b"\xff" * 40, whole + b"\x05\x08"):
        broken = tmp_path / "v.0.et"
        broken.write_bytes(content)
        with pytest.raises(UserError, match=r"v\.0\.et"):
            read(broken)


def test_convert__to_goal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = [[node(1, COLLECTIVE, **COLL), node(2, COMPUTE, 1, us=3)] for _ in range(4)]
    path = write(tmp_path, *ranks)
    assert main(["convert", str(path), str(tmp_path / "t.goal")]) == 0, capsys.readouterr().err
    again = read(tmp_path / "t.goal")
    assert again.size_bytes.sum() == read(path).size_bytes.sum()
    assert finish_us(again, 1) == finish_us(read(path), 1)


def test_read__of_any_bytes__ends_in_flows_or_a_user_error(tmp_path: Path) -> None:
    whole = write(tmp_path, [node(1, SEND, comm_dst=1, comm_size=5)], [node(1, COMPUTE)])
    content = whole.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(500):
        mutated = bytearray(content)
        for place in rng.integers(0, len(mutated), rng.integers(1, 4)):
            mutated[place] = rng.integers(0, 256)
        whole.write_bytes(bytes(mutated))
        try:
            trace.read(whole, Request(16, 2, 4, 1000, rng))
        except UserError as error:
            assert str(tmp_path) in str(error)  # noqa: PT017
