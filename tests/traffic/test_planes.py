"""What the NICs of hosts in several planes send: compared with the rules, message by message."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from traffic.flows import Flows
from traffic.planes import over_planes
from traffic.waits import waits

HOSTS, PACKET = 4, 100


@st.composite
def flows_and_planes(draw: st.DrawFn, *, gpus: bool = False) -> tuple[Flows, int]:
    planes = draw(st.integers(1, 4))
    ranks = HOSTS * (planes if gpus else 1)
    ends: list[tuple[int, int]] = []
    rows: list[int] = []
    awaited: list[int] = []
    for row in range(draw(st.integers(0, 12))):
        ends.append((draw(st.integers(0, ranks - 1)), draw(st.integers(0, ranks - 1))))
        here = [other for other in range(row) if ends[row][0] in ends[other]]
        before = draw(st.lists(st.sampled_from(here), unique=True, max_size=3)) if here else []
        rows += [row] * len(before)
        awaited += before
    source, destination = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    sizes = [0 if a == b else draw(st.integers(1, 1_000)) for a, b in ends]
    after = waits(len(ends), rows, awaited, acknowledged=draw(st.booleans()))
    delays = np.arange(len(ends)) * 7
    size = np.array(sizes, dtype=np.int64)
    return Flows.of(source, destination, size, after=after, delay_ps=delays), planes


def rows_of(flows: Flows) -> list[dict[str, Any]]:
    return [
        {
            "ends": (int(flows.source[row]), int(flows.destination[row])),
            "bytes": int(flows.size_bytes[row]),
            "after": sorted(flows.after.of(row).tolist()),
            "delay": int(flows.delay_ps[row]),
        }
        for row in range(len(flows))
    ]


def turns(flows: Flows) -> list[int]:
    """How many messages of its source came before each message."""
    seen: dict[int, int] = {}
    found = []
    for row in rows_of(flows):
        source = row["ends"][0]
        found.append(seen.get(source, 0))
        seen[source] = seen.get(source, 0) + (row["bytes"] > 0)
    return found


@given(flows_and_planes())
def test_stripe__deals_packets_out_one_plane_after_the_other(drawn: tuple[Flows, int]) -> None:
    flows, planes = drawn
    expected: list[dict[str, Any]] = []
    parts_of: list[list[int]] = []
    for row, turn in zip(rows_of(flows), turns(flows), strict=True):
        whole, rest = divmod(row["bytes"], PACKET)
        packets = [PACKET] * whole + [rest] * (rest > 0)
        parts = max(1, min(planes, len(packets)))
        shares = np.array_split(np.array(packets, dtype=int), parts)
        parts_of.append(list(range(len(expected), len(expected) + parts)))
        for part, share in enumerate(shares):
            offset = (turn + part) % planes * HOSTS if row["bytes"] else 0
            source, destination = row["ends"]
            expected.append(
                {
                    "ends": (source + offset, destination + offset),
                    "bytes": int(share.sum()),
                    "after": sorted(each for before in row["after"] for each in parts_of[before]),
                    "delay": row["delay"],
                }
            )
    found = over_planes(flows, planes, HOSTS, "stripe", PACKET)
    assert rows_of(found) == expected
    assert set(found.after.acknowledged) == set(flows.after.acknowledged)


@given(flows_and_planes())
def test_rotate__deals_messages_out_one_plane_after_the_other(drawn: tuple[Flows, int]) -> None:
    flows, planes = drawn
    found = rows_of(over_planes(flows, planes, HOSTS, "rotate", PACKET))
    for before, after, turn in zip(rows_of(flows), found, turns(flows), strict=True):
        offset = turn % planes * HOSTS if before["bytes"] else 0
        assert after == {**before, "ends": tuple(end + offset for end in before["ends"])}


@given(flows_and_planes(gpus=True))
def test_rail__goes_through_the_receivers_plane(drawn: tuple[Flows, int]) -> None:
    flows, planes = drawn
    found = rows_of(over_planes(flows, planes, HOSTS, "rail", PACKET))
    for before, after in zip(rows_of(flows), found, strict=True):
        sender, receiver = before["ends"]
        rail = receiver % planes
        inside = sender // planes == receiver // planes
        assert after["ends"] == (sender // planes + rail * HOSTS, receiver // planes + rail * HOSTS)
        assert after["bytes"] == (0 if inside else before["bytes"])
        assert (after["after"], after["delay"]) == (before["after"], before["delay"])


@given(flows_and_planes(), st.sampled_from(["stripe", "rotate", "rail"]))
def test_one_plane__changes_nothing(drawn: tuple[Flows, int], how: Any) -> None:
    assert over_planes(drawn[0], 1, HOSTS, how, PACKET) is drawn[0]
