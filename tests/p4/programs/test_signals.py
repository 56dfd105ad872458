"""The schemes that measure and tell each other: DLB, SGLB and CONGA."""

from collections import Counter

import pytest

from p4.engine import Output
from testbed.scenario import Scenario
from tests.p4.programs.bench import DATA_PS, Bench, bench, frame_bytes

KEY_AT = 14 + 20 + 8 + 2
DEFAULT_KEY = 0xFFFF
MICROSECOND = 1_000_000
SLOW = {"tau_us": 6.4}  # CONGA with estimators that remember many frames


def key_of(out: Output | None) -> int:
    assert out is not None
    return int.from_bytes(out.data[KEY_AT : KEY_AT + 2], "big")


def receive_with_key(
    stand: Bench, key: int, port: int, source: str, destination: str
) -> Output | None:
    frame = bytearray(frame_bytes(source, destination, ack=False, entropy=1))
    frame[KEY_AT : KEY_AT + 2] = key.to_bytes(2, "big")
    out = stand.switch.receive(port, bytes(frame[:70]), now=stand.now, length=4154)
    return out[0] if out else None


def load_port(stand: Bench, port: int, share: float, samples: int = 12) -> None:
    """Let the estimators see a port that is given `share` of its rate for some periods."""
    for _ in range(samples):
        stand.now += MICROSECOND
        stand.switch.register_write("given", port, round(share * MICROSECOND))
        assert stand.send(0, stand.topology.hosts - 1, ack=True) is not None


@pytest.mark.parametrize(
    ("share", "penalty"), [(0.1, 0), (0.3, 1), (0.5, 2), (0.65, 3), (0.78, 4), (1.0, 4)]
)
def test_load_has_eight_bands_of_which_half_count(share: float, penalty: int) -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="dlb"))
    load_port(stand, 3, share, samples=40)
    # The band is floor(8 (share - 0.2) / 0.6), at most 7, and averages with that of an idle queue.
    assert stand.switch.register_read("penalties", 3) == penalty


@pytest.mark.parametrize("periods", [1, 1.5, 3, 7.9])
def test_load_is_of_the_time_that_has_passed(periods: float) -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="dlb"))
    for _ in range(60):
        stand.now += round(periods * MICROSECOND)
        stand.switch.register_write("given", 3, round(0.5 * periods * MICROSECOND))
        assert stand.send(0, 15, ack=True) is not None
    assert stand.switch.register_read("loads", 3) / (1 << 16) == pytest.approx(0.5, rel=0.02)


def test_queues_are_worst_from_a_fifth_of_the_buffer() -> None:
    stand = bench("e0_0", Scenario(k=4, scheme="dlb"))
    for backlog, penalty in ((0, 0), (200_001, 1), (450_000, 1), (1_000_000, 3), (1_650_000, 4)):
        for _ in range(40):
            stand.now += MICROSECOND
            stand.switch.register_write("given", None, 0)
            stand.switch.register_write("finishes", 3, stand.now + backlog)
            stand.switch.register_write("finishes", 4, stand.now + 9 * MICROSECOND)
            assert stand.send(0, 15, ack=True) is not None
        assert stand.switch.register_read("penalties", 3) == penalty, backlog


@pytest.mark.parametrize("scheme", ["dlb", "sglb"])
def test_the_best_uplinks_share_and_the_loaded_one_rests(scheme: str) -> None:
    stand = bench("e0_0", Scenario(k=6, scheme=scheme))
    load_port(stand, 4, 1.0)
    assert stand.switch.register_read("penalties", 4) == 4
    taken = Counter(stand.uplink(0, 53) for _ in range(60))
    assert set(taken) == {1, 2}


def test_a_long_silence_is_forgotten() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="dlb"))
    load_port(stand, 4, 1.0)
    stand.now += 8 * MICROSECOND
    stand.uplink(0, 53)
    assert stand.switch.register_read("penalties", 4) == 0


def test_an_aggregation_reports_its_links_in_turn() -> None:
    stand = bench("a0_1", Scenario(k=6, scheme="sglb"))
    stand.switch.register_write("penalties", slice(0, 4), [1, 2, 3, 5])
    stand.switch.register_write("sampled", 0, stand.now)
    keys = [key_of(stand.send(53, 0, port=4)) for _ in range(5)]
    assert [key >> 4 for key in keys] == [0, 1, 2, 3, 0]
    assert [key & 15 for key in keys] == [1, 2, 3, 5, 1]


def test_a_core_reports_its_links_down_only() -> None:
    stand = bench("c0", Scenario(k=6, scheme="sglb"))
    keys = [key_of(stand.send(53, 0, port=6)) >> 4 for _ in range(8)]
    assert keys == [1, 2, 3, 4, 5, 6, 1, 2]


def test_the_uplinks_that_an_aggregation_reports_are_their_average() -> None:
    stand = bench("a0_1", Scenario(k=6, scheme="sglb"))
    for port in (4, 5):
        load_port(stand, port, 1.0, samples=1)
    for _ in range(30):
        stand.now += MICROSECOND
        stand.switch.register_write("given", None, [0, 0, 0, 0, 10**6, 10**6, 0])
        assert stand.send(53, 0, port=4) is not None
    # Penalties 4, 4 and 0.
    assert stand.switch.register_read("penalties", 0) == 2


def test_an_edge_hears_and_avoids_the_aggregation_with_a_bad_link() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="sglb"))
    # Aggregation 1 (port 5) says that its link to edge 2 of this pod has penalty 6, aggregation 2
    # (port 6) that its uplinks have 3.
    for key, port in ((3 << 4 | 6, 5), (0 << 4 | 3, 6)):
        out = receive_with_key(stand, key, port, "10.5.2.3", "10.0.0.1")
        assert key_of(out) == DEFAULT_KEY
    assert {stand.uplink(0, 6) for _ in range(40)} == {0, 2}
    assert {stand.uplink(0, 53) for _ in range(40)} == {0, 1}
    assert {stand.uplink(0, 3) for _ in range(40)} == {0, 1, 2}


def test_an_aggregation_hears_cores_by_pod() -> None:
    stand = bench("a0_1", Scenario(k=6, scheme="sglb"))
    out = receive_with_key(stand, 6 << 4 | 7, 4, "10.5.2.3", "10.0.0.1")
    assert key_of(out) != DEFAULT_KEY
    assert {stand.uplink(0, 53) for _ in range(40)} == {1, 2}
    assert {stand.uplink(0, 40) for _ in range(40)} == {0, 1, 2}


def test_conga_frames_carry_their_uplink_as_tag() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="conga", parameters=SLOW))
    for _ in range(12):
        out = stand.send(0, 53)
        assert out is not None
        assert key_of(out) >> 11 == out.port - 4
        assert key_of(out) >> 8 & 7 == 0


def test_conga_feeds_back_what_arrived_tag_by_tag() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="conga", parameters=SLOW))
    out = receive_with_key(stand, 1 << 11 | 5 << 8, 4, "10.5.2.3", "10.0.0.1")
    assert key_of(out) == DEFAULT_KEY
    keys = [key_of(stand.send(0, 53)) for _ in range(4)]
    assert [key >> 3 & 31 for key in keys] == [0, 1, 2, 0]
    assert [key & 7 for key in keys] == [0, 5, 0, 0]
    assert key_of(stand.send(0, 40)) & 7 == 0


def test_conga_avoids_paths_that_were_fed_back_until_they_are_old() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="conga", parameters=SLOW))
    receive_with_key(stand, 2 << 3 | 6, 4, "10.5.2.3", "10.0.0.1")
    assert {stand.uplink(0, 53) for _ in range(30)} == {0, 1}
    assert {stand.uplink(0, 40) for _ in range(30)} == {0, 1, 2}
    stand.now += 2 << 26
    assert {stand.uplink(0, 53) for _ in range(30)} == {0, 1, 2}


def test_conga_takes_the_worse_of_both_ends() -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="conga", parameters=SLOW))
    stand.switch.register_write("discounted", 0, stand.now)
    stand.switch.register_write("estimators", 4, 3 << 21)
    receive_with_key(stand, 1 << 3 | 2, 4, "10.5.2.3", "10.0.0.1")
    assert {stand.uplink(0, 53) for _ in range(10)} == {2}


@pytest.mark.parametrize("switch", ["a0_1", "c1"])
def test_conga_links_raise_the_congestion_of_frames(switch: str) -> None:
    stand = bench(switch, Scenario(k=6, scheme="conga", parameters=SLOW))
    stand.switch.register_write("discounted", 0, stand.now)
    stand.switch.register_write("estimators", None, 4 << 21)
    for before, after in ((0, 4), (2, 4), (6, 6)):
        out = receive_with_key(stand, 3 << 11 | before << 8 | 21, 1, "10.0.0.1", "10.5.2.3")
        assert key_of(out) == 3 << 11 | after << 8 | 21


def test_conga_estimators_lose_an_eighth_a_period() -> None:
    stand = bench("c1", Scenario(k=6, scheme="conga", parameters=SLOW))
    for periods in (1, 2, 3, 7, 20, 50):
        stand.switch.register_write("discounted", 0, stand.now)
        stand.switch.register_write("estimators", 3, 1 << 24)
        stand.now += periods * 800_000 + 5
        stand.send(0, 53, port=1)
        left = stand.switch.register_read("estimators", 3) / (1 << 24)
        assert left == pytest.approx(0.875**periods, abs=2e-3)
        assert stand.switch.register_read("discounted", 0) == stand.now - 5


def test_conga_estimators_settle_at_the_links_load() -> None:
    stand = bench("c1", Scenario(k=6, scheme="conga", parameters=SLOW))
    for _ in range(2000):
        stand.now += 2 * DATA_PS
        stand.send(0, 53, port=1)
    share = stand.switch.register_read("estimators", 6) / (1 << 24)
    assert share == pytest.approx(0.5, abs=0.07)
