"""The schemes that look at queues: JSQ, CHOICE, DRILL and AR against a true queue."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.scenario import Scenario
from tests.p4.programs.bench import ACK_PS, DATA_PS, GAP_PS, Bench, bench

FINISHES = "Fabric.balance.finishes"
BUSY_SCHEMES = ["jsq", "choice", "drill", "ar"]


class Port:
    """A port as the event core has it: frames in order, a gap after each, kept one by one."""

    def __init__(self) -> None:
        self.ends: list[tuple[int, int]] = []

    def put(self, now: int, service: int) -> None:
        start = max(now, self.ends[-1][1] + GAP_PS) if self.ends else now
        self.ends.append((start, start + service))

    def backlog(self, now: int) -> int:
        """Return what is still to be sent with the gaps between frames that wait."""
        left = [(max(start, now), end) for start, end in self.ends if end > now]
        if not left:
            return 0
        sending = sum(end - start for start, end in left)
        gaps = sum(after[0] - before[1] for before, after in itertools.pairwise(left))
        return sending + gaps + (left[0][0] - now)


def set_backlogs(stand: Bench, *backlogs: int) -> None:
    finishes = [stand.now + length for length in backlogs]
    stand.switch.register_write(FINISHES, slice(0, len(finishes)), finishes)


arrivals = st.lists(st.tuples(st.integers(0, 120_000), st.booleans()), min_size=10, max_size=80)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(BUSY_SCHEMES), arrivals, st.integers(1, 99))
def test_the_virtual_finish_time_is_the_true_queue(
    scheme: str, sent: list[tuple[int, bool]], seed: int
) -> None:
    stand = bench("e0_0", Scenario(k=6, scheme=scheme), seed=seed)
    ports = [Port() for _ in range(3)]
    for wait, ack in sent:
        stand.now += wait
        before = [port.backlog(stand.now) for port in ports]
        uplink = stand.uplink(0, 53, ack=ack)
        if scheme == "jsq":
            frames = [-(-length // (DATA_PS + GAP_PS)) for length in before]
            assert frames[uplink] == min(frames)
        ports[uplink].put(stand.now, ACK_PS if ack else DATA_PS)
        finishes = stand.switch.register_read(FINISHES)
        assert [max(f - stand.now, 0) for f in finishes] == [p.backlog(stand.now) for p in ports]


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["choice", "drill", "jsq"]), arrivals, st.integers(1, 99))
def test_with_two_uplinks_all_join_the_shortest(
    scheme: str, sent: list[tuple[int, bool]], seed: int
) -> None:
    parameters = {"whole_frames": 0.0} if scheme == "jsq" else {}
    stand = bench("e0_0", Scenario(k=4, scheme=scheme, parameters=parameters), seed=seed)
    for wait, ack in sent:
        stand.now += wait
        lengths = [max(f - stand.now, 0) for f in stand.switch.register_read(FINISHES)]
        assert lengths[stand.uplink(0, 15, ack=ack)] == min(lengths)


SLOT_PS = DATA_PS + GAP_PS


@pytest.mark.parametrize(
    ("whole_frames", "backlogs", "shortest"),
    [
        (1, (900, 0, 0, 70, 0, 0), {1, 2, 4, 5}),
        (1, (900, 1, SLOT_PS, 70, SLOT_PS + 1, 3 * SLOT_PS), {0, 1, 2, 3}),
        (1, (3 * SLOT_PS, 2 * SLOT_PS + 1, 5 * SLOT_PS, 4 * SLOT_PS, 99 * SLOT_PS, 98 * SLOT_PS),
         {0, 1}),
        (0, (900, 0, 0, 70, 0, 0), {1, 2, 4, 5}),
        (0, (900, 1, SLOT_PS, 70, SLOT_PS + 1, 3 * SLOT_PS), {1}),
    ],
)  # fmt: skip
def test_jsq_breaks_ties_at_random__frames_that_have_begun_are_whole(
    whole_frames: float, backlogs: tuple[int, ...], shortest: set[int]
) -> None:
    parameters = {"whole_frames": whole_frames}
    stand = bench("e0_0", Scenario(k=12, scheme="jsq", parameters=parameters))
    taken = Counter()  # type: ignore[var-annotated]
    for _ in range(400):
        set_backlogs(stand, *backlogs)
        taken[stand.uplink(0, 431)] += 1
    assert set(taken) == shortest
    assert min(taken.values()) > 200 / len(shortest)


def test_choice_never_takes_the_longest_and_prefers_short_ones() -> None:
    stand = bench("e0_0", Scenario(k=12, scheme="choice"))
    taken = Counter()  # type: ignore[var-annotated]
    for _ in range(900):
        set_backlogs(stand, 50, 10, 60, 20, 40, 30)
        taken[stand.uplink(0, 431)] += 1
    assert 2 not in taken
    # The r-th shortest of six wins 6 - r of the 15 pairs.
    ranks = [taken[uplink] / 60 for uplink in (1, 3, 5, 4, 0)]
    assert ranks == pytest.approx([5, 4, 3, 2, 1], rel=0.3)


def test_drill_remembers_the_winner_which_wins_ties() -> None:
    stand = bench("e0_0", Scenario(k=12, scheme="drill"))
    set_backlogs(stand, 9, 9, 9, 0, 9, 9)
    while stand.uplink(0, 431) != 3:
        set_backlogs(stand, 9, 9, 9, 0, 9, 9)
    for _ in range(20):
        set_backlogs(stand, *[500] * 6)
        assert stand.uplink(0, 431) == 3
    set_backlogs(stand, 0, 0, 0, 1, 0, 0)
    assert stand.uplink(0, 431) != 3


def test_drill_does_without_a_memory_that_leads_nowhere() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="drill"), failed=(("e0_0", "a0_1"),))
    stand.switch.register_write("Fabric.balance.memory", 0, 1)
    assert stand.uplink(0, 53) != 1


@pytest.mark.parametrize(("edge", "level"), [(400_000, 1), (800_000, 2), (1_600_000, 3)])
def test_levels_start_at_5_10_and_20_percent(edge: int, level: int) -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="ar", parameters={"refresh_us": 0}))
    lower = {1: 0, 2: 400_000, 3: 800_000}[level]
    for _ in range(20):
        set_backlogs(stand, edge, edge - 1)
        assert stand.uplink(0, 15) == 1
    same = set()
    for _ in range(40):
        set_backlogs(stand, lower, edge - 1)
        same.add(stand.uplink(0, 15))
    assert same == {0, 1}


def test_levels_are_percentages_of_a_limited_buffer() -> None:
    scenario = Scenario(k=4, scheme="ar", buffer_bytes=80_000, parameters={"refresh_us": 0})
    stand = bench("e0_0", scenario)
    for _ in range(20):
        set_backlogs(stand, 40_000, 39_999)
        assert stand.uplink(0, 15) == 1


def test_levels_stay_for_a_tenth_of_a_microsecond() -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="ar"))
    set_backlogs(stand, 900_000, 0)
    assert stand.uplink(0, 15) == 1
    refreshed = stand.now
    for age in (1, 50_000, 99_999):
        stand.now = refreshed + age
        set_backlogs(stand, 0, 900_000)
        assert stand.uplink(0, 15) == 1
    stand.now = refreshed + 100_000
    set_backlogs(stand, 0, 900_000)
    assert stand.uplink(0, 15) == 0


def test_the_highest_level_is_still_used() -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="ar", parameters={"refresh_us": 0}))
    taken = set()
    for _ in range(40):
        set_backlogs(stand, 2_000_000, 9_000_000)
        taken.add(stand.uplink(0, 15))
    assert taken == {0, 1}
