"""The rotating schemes: SimpleRR, Ofan and POfan follow their pointers."""

from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testbed.orders import basis, port_order
from testbed.scenario import Scenario
from tests.p4.programs.bench import Bench, bench

POINTERS = "Fabric.balance.rotation.pointers"
FRESH = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

packets = st.lists(st.tuples(st.integers(0, 53), st.booleans()), min_size=20, max_size=120)


def rounds(uplinks: list[int], width: int) -> bool:
    """Tell whether every `width` consecutive packets took different uplinks."""
    return all(
        len(set(uplinks[at : at + width])) == width for at in range(len(uplinks) - width + 1)
    )


@pytest.mark.parametrize(("switch", "k"), [("e0_0", 6), ("a0_1", 6), ("e1_2", 8), ("a3_5", 12)])
def test_ports_follow_the_order_of_the_pointers_identifier(switch: str, k: int) -> None:
    stand = bench(switch, Scenario(k=k))
    topology = stand.topology
    node = next(node for node in topology.nodes if node.name == switch)
    count = topology.edges if node.tier == "edge" else topology.pods
    own = topology.edge_number(node) if node.tier == "edge" else node.pod
    stand.switch.register_write(POINTERS, slice(0, 2 * count), 0)
    for destination in set(range(count)) - {own}:
        host = destination * topology.hosts // count
        for ack in (False, True):
            taken = tuple(stand.uplink(0, host, ack=ack) for _ in range(topology.uplinks("edge")))
            expected = port_order(basis(topology.uplinks("edge")), destination + count * ack)
            assert taken == expected, (destination, ack)


@FRESH
@given(packets, st.integers(1, 1000))
def test_consecutive_packets_of_a_pointer_take_different_uplinks(
    sent: list[tuple[int, bool]], seed: int
) -> None:
    stand = bench("e0_0", Scenario(k=6, seed=seed))
    taken = defaultdict(list)
    for host, ack in sent:
        if host >= stand.topology.hosts_per_edge:
            taken[host // 3, ack].append(stand.uplink(0, host, ack=ack))
    assert all(rounds(uplinks, 3) for uplinks in taken.values())


@FRESH
@given(st.lists(st.tuples(st.integers(9, 53), st.booleans()), min_size=30), st.integers(1, 99))
def test_an_aggregations_pointers_are_per_pod(sent: list[tuple[int, bool]], seed: int) -> None:
    stand = bench("a0_2", Scenario(k=6, seed=seed))
    taken = defaultdict(list)
    for host, ack in sent:
        taken[host // 9, ack].append(stand.uplink(0, host, ack=ack))
    assert all(rounds(uplinks, 3) for uplinks in taken.values())


@pytest.mark.parametrize("scheme", ["ofan", "pofan", "simple_rr"])
@pytest.mark.parametrize(
    "cut", [("a0_0",), ("a0_3",), ("a0_5",), ("a0_1", "a0_4"), ("a0_0", "a0_1", "a0_2")]
)
def test_each_surviving_uplink_gets_one_packet_a_round(scheme: str, cut: tuple[str, ...]) -> None:
    failed = tuple(("e0_0", name) for name in cut)
    stand = bench("e0_0", Scenario(k=12, scheme=scheme), failed=failed)
    left = 6 - len(cut)
    for destination in (40, 200, 431):
        taken = [stand.uplink(0, destination) for _ in range(5 * left)]
        assert rounds(taken, left)
        assert set(taken) == set(range(6)) - {int(name[-1]) for name in cut}


def test_failed_uplinks_keep_the_order_of_the_others() -> None:
    stand = bench("e0_0", Scenario(k=12), failed=(("e0_0", "a0_2"), ("e0_0", "a0_5")))
    stand.switch.register_write(POINTERS, slice(0, 144), 0)
    order = [port for port in port_order(basis(6), 71) if port not in {2, 5}]
    assert [stand.uplink(0, 431) for _ in range(8)] == order * 2


@FRESH
@given(st.lists(st.booleans(), min_size=10, max_size=60))
def test_data_and_acks_do_not_move_each_other(sent: list[bool]) -> None:
    mixed, alone = (bench("e0_0", Scenario(k=6)) for _ in range(2))
    of_data = [mixed.uplink(0, 53, ack=ack) for ack in sent]
    assert [u for u, ack in zip(of_data, sent, strict=True) if not ack] == [
        alone.uplink(0, 53) for ack in sent if not ack
    ]
    assert [u for u, ack in zip(of_data, sent, strict=True) if ack] == [
        alone.uplink(0, 53, ack=True) for ack in sent if ack
    ]


@pytest.mark.parametrize("scheme", ["ofan", "pofan"])
def test_traffic_within_an_edge_moves_no_pointer(scheme: str) -> None:
    stand = bench("e0_0", Scenario(k=6, scheme=scheme))
    before = stand.switch.register_read(POINTERS)
    for _ in range(5):
        assert stand.send(0, 2).port == 3  # type: ignore[union-attr]
    assert stand.switch.register_read(POINTERS) == before


@FRESH
@given(packets, st.integers(1, 1000))
def test_one_pipe_is_ofan_packet_by_packet(sent: list[tuple[int, bool]], seed: int) -> None:
    scenario = Scenario(k=6, scheme="pofan", seed=seed, parameters={"pipe_ports": 4})
    one_pipe, ofan = bench("e0_0", scenario), bench("e0_0", Scenario(k=6, seed=seed))
    for place, (host, ack) in enumerate(sent):
        if host >= 3:
            source = place % 3
            assert one_pipe.uplink(source, host, ack=ack) == ofan.uplink(source, host, ack=ack)


@pytest.mark.parametrize("ports", [1, 2, 4, 5])
def test_pipes_have_pointers_of_their_own(ports: int) -> None:
    scenario = Scenario(k=12, scheme="pofan", parameters={"pipe_ports": ports})
    stand, alone = bench("e0_0", scenario), bench("e0_0", scenario)
    mixed: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for place in range(90):
        source, ack = place * 7 % 6, place % 5 < 2
        mixed[source // ports, ack].append(stand.uplink(source, 431, ack=ack))
    assert len(mixed) == 2 * -(-6 // ports)
    for (pipe, ack), uplinks in mixed.items():
        assert rounds(uplinks, 6)
        assert uplinks == [alone.uplink(pipe * ports, 431, ack=ack) for _ in uplinks]


@FRESH
@given(packets)
def test_simple_rr_has_one_pointer_for_everything(sent: list[tuple[int, bool]]) -> None:
    stand = bench("e0_0", Scenario(k=6, scheme="simple_rr"))
    first = stand.switch.register_read("Fabric.balance.pointer", 0)
    taken = [stand.uplink(0, host, ack=ack) for host, ack in sent if host >= 3]
    assert taken == [(first + place) % 3 for place in range(len(taken))]


def test_one_order_makes_all_pointers_alike() -> None:
    stand: Bench = bench("e0_0", Scenario(k=12, parameters={"one_order": 1}))
    stand.switch.register_write(POINTERS, slice(0, 144), 0)
    for host, ack in ((40, False), (431, False), (200, True)):
        assert tuple(stand.uplink(0, host, ack=ack) for _ in range(6)) == basis(6)
