"""The floor in cases small enough to be worked out by hand, at the paper's rates.

A full frame takes 41.58 ns and 0.2 ns of gap, an ACK 0.64 ns. Over six links a full frame takes
6 x (500 + 41.58) = 3249.48 ns, an ACK 6 x (500 + 0.64) = 3003.84 ns.
"""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.floor import floor
from analysis.messages import Messages, messages_of
from testbed.scenario import Scenario

PACKET = 4096
THERE, BACK, SLOT = 3249.48, 3003.84, 41.78


def messages(
    *rows: tuple[int, int, int], subflows: int = 1, after: list[str] | None = None
) -> Messages:
    """Rows of source, destination and bytes in a fat tree of k = 4, and what they wait for."""
    table = pd.DataFrame(rows, columns=["src", "dst", "bytes"])
    table = table.assign(subflows=subflows, after=after or "", not_before_ns=0.0, delay_ns=0.0)
    return messages_of(Scenario(), table)


def test_one_packet__is_its_way_there_and_back() -> None:
    assert floor(Scenario(), messages((0, 15, PACKET))) == pytest.approx(THERE + BACK)
    assert floor(Scenario(acks=False), messages((0, 15, PACKET))) == pytest.approx(THERE)
    near = 2 * (500 + 41.58) + 2 * (500 + 0.64)
    assert floor(Scenario(), messages((0, 1, PACKET))) == pytest.approx(near)


def test_permutation__with_acks_in_turn() -> None:
    """Of the 255 frames before the last, 82 may have no ACK before them: 81.27 makes ends equal."""
    both = messages((0, 15, 256 * PACKET), (15, 0, 256 * PACKET))
    without = (255 * (SLOT + 0.84) + THERE - 255 * SLOT) / (SLOT + 0.84)
    assert without == pytest.approx(81.27, abs=0.005)
    found = floor(Scenario(), both)
    assert found == pytest.approx(255 * SLOT + (255 - 82) * 0.84 + THERE + BACK)
    assert found == pytest.approx(17052.54)


def test_who_receives_nothing__sends_no_acks() -> None:
    alone = messages((0, 15, 256 * PACKET))
    assert floor(Scenario(), alone) == pytest.approx(255 * SLOT + THERE + BACK)


def test_half_the_load__leaves_room_for_acks() -> None:
    both = messages((0, 15, 256 * PACKET), (15, 0, 256 * PACKET))
    assert floor(Scenario(load=0.5), both) == pytest.approx(255 * 2 * SLOT + THERE + BACK)


def test_small_packets__need_less_time_at_every_switch() -> None:
    """4096 B in four subflows: frames of 1024 + 62 B take 10.86 ns each."""
    there = 3 * 11.06 + 6 * (500 + 10.86)
    assert floor(Scenario(), messages((0, 15, PACKET), subflows=4)) == pytest.approx(there + BACK)


def test_short_last_packet__may_overtake_the_full_one_before_it() -> None:
    """300,001 B: 73 full packets and 993 B, of which the last full one arrives last."""
    full = 72 * SLOT + THERE
    short = 73 * SLOT + 6 * (500 + 10.55)
    assert short < full
    assert floor(Scenario(), messages((0, 15, 300_001))) == pytest.approx(full + BACK)


def test_last_packet_that_is_nearly_full__arrives_last() -> None:
    size = 2 * PACKET - 10
    there = SLOT + 6 * (500 + 41.48)
    assert floor(Scenario(), messages((0, 15, size))) == pytest.approx(there + BACK)


@pytest.mark.parametrize("load", [1.0, 0.5])
def test_incast__receivers_are_not_paced(load: float) -> None:
    """Four frames on the last link, at the earliest from when one has crossed five links."""
    incast = messages(*[(host, 0, PACKET) for host in (4, 5, 8, 9)])
    last = 5 * (500 + 41.58) + 4 * SLOT - 0.2 + 500
    assert floor(Scenario(load=load), incast) == pytest.approx(last + BACK)


def test_near_and_far__the_near_ones_may_be_last() -> None:
    """The far message may be a frame ahead: 17 of 20 frames are sure to leave before its last."""
    mixed = messages((0, 15, 10 * PACKET), (0, 1, 10 * PACKET))
    assert floor(Scenario(), mixed) == pytest.approx(17 * SLOT + THERE + BACK)


def test_congestion_control__may_hold_a_message_back() -> None:
    """All ten far frames first, then ten near ones, or the other way round: 10 of 20 are sure."""
    mixed = messages((0, 15, 10 * PACKET), (0, 1, 10 * PACKET))
    near = 19 * SLOT + 2 * (500 + 41.58) + 2 * (500 + 0.64)
    far = 9 * SLOT + THERE + BACK
    assert floor(Scenario(cca="nscc"), mixed) == pytest.approx(max(near, far))


def test_several_far__one_round_may_follow_the_last() -> None:
    """Only one can be ahead, so that the last of two far ones has 10 + 10 + 9 - 1 before it."""
    mixed = messages((0, 15, 10 * PACKET), (0, 14, 10 * PACKET), (0, 1, 10 * PACKET))
    assert floor(Scenario(), mixed) == pytest.approx(28 * SLOT + THERE + BACK)


def test_chain__adds_its_messages_on_idle_links() -> None:
    """Host 1 to the other edge of its pod, from there to its neighbour, then to the next pod."""
    chain = messages((1, 2, PACKET), (2, 3, PACKET), (3, 4, PACKET), after=["", "0", "1"])
    far, middle, near = (hops * (500 + 41.58) for hops in (6, 4, 2))
    assert floor(Scenario(), chain) == pytest.approx(middle + near + far + BACK)


def test_several_awaited__the_last_of_them_counts() -> None:
    both = messages((1, 0, PACKET), (15, 0, 100 * PACKET), (0, 4, PACKET), after=["", "", "0 1"])
    assert floor(Scenario(), both) == pytest.approx(99 * SLOT + THERE + THERE + BACK)


def test_awaited_of_the_same_source__need_only_be_sent() -> None:
    """Two messages of one host, the second after the first: its frames are not in turn."""
    after = messages((0, 15, 10 * PACKET), (0, 4, PACKET), after=["", "0"])
    assert floor(Scenario(), after) == pytest.approx(10 * SLOT + THERE + BACK)
