"""Every program compiles, forwards down by address, and drops what it does not know."""

import pytest

from testbed import schemes
from testbed.scenario import Scenario
from tests.p4.programs.bench import Bench, bench, frame_bytes

PROGRAMS = {scheme.program: scheme.name for scheme in schemes.SCHEMES}


def on_bench(program: str, switch: str, k: int = 6, **given: object) -> Bench:
    return bench(switch, Scenario(scheme=PROGRAMS[program], k=k), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("program", PROGRAMS)
def test_frames_are_final_when_queued(program: str) -> None:
    assert on_bench(program, "e0_0").switch.program.pure_egress


@pytest.mark.parametrize("program", PROGRAMS)
def test_switches_send_down_by_address(program: str) -> None:
    last = 53
    for switch, port in (("e5_2", 3), ("a5_1", 3), ("c4", 6)):
        stand = on_bench(program, switch)
        out = stand.send(0, last, port=6)
        assert out is not None
        assert out.port == port, switch


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_else_goes_up_and_both_classes_do(program: str) -> None:
    for switch in ("e0_0", "a0_1"):
        stand = on_bench(program, switch)
        for ack in (False, True):
            assert {stand.uplink(0, 53, ack=ack) for _ in range(30)} <= {0, 1, 2}


@pytest.mark.parametrize("program", PROGRAMS)
def test_frames_leave_as_they_came(program: str) -> None:
    stand = on_bench(program, "e0_0")
    nodes = stand.topology.nodes
    out = stand.send(0, 1)
    assert out is not None
    assert nodes[0].name == "h0"
    assert out.data[:66] == frame_bytes("10.0.0.1", "10.0.0.2", ack=False, entropy=50_000)[:66]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("switch", ["e0_0", "a0_0", "c0"])
def test_unknown_destinations_are_dropped(program: str, switch: str) -> None:
    stand = on_bench(program, switch)
    for destination in ("10.0.0.77", "10.0.99.1", "10.77.0.1", "192.168.0.1"):
        frame = frame_bytes("10.0.0.1", destination, ack=False, entropy=1)
        if switch == "c0" and destination == "10.0.99.1":
            continue  # the next switch drops it
        if switch == "a0_0" and destination == "10.0.0.77":
            continue
        if switch == "c0" and destination == "10.0.0.77":
            continue
        assert stand.switch.receive(1, frame, now=1) == []
    assert stand.switch.receive(1, b"\xff" * 12 + b"\x08\x06" + bytes(28), now=1) == []
    assert stand.switch.receive(1, b"\x01\x02\x03", now=1) == []
    assert stand.switch.faults().register_range == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_only_uplinks_that_lead_to_the_destination_are_used(program: str) -> None:
    # e0_0 has lost its link to a0_0; the last host's edge has lost that to a5_2.
    failed = (("e0_0", "a0_0"), ("e5_2", "a5_2"))
    stand = on_bench(program, "e0_0", failed=failed)
    for place in range(30):
        stand.now += 50_000
        assert stand.uplink(0, 53, entropy=place) == 1
        assert stand.uplink(0, 20, entropy=place) in {1, 2}
        assert stand.uplink(0, 53, ack=True, entropy=place) == 1


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_destination_without_paths_is_dropped(program: str) -> None:
    failed = tuple(("e5_2", f"a5_{j}") for j in range(3))
    stand = on_bench(program, "e0_0", failed=failed)
    assert stand.send(0, 53) is None
    assert stand.uplink(0, 50) in {0, 1, 2}


@pytest.mark.parametrize("program", PROGRAMS)
def test_nothing_that_came_from_above_goes_up_again(program: str) -> None:
    for switch in ("e0_0", "a0_1"):
        assert on_bench(program, switch).send(0, 53, port=4) is None


@pytest.mark.parametrize("program", ["ecmp", "ofan", "sglb", "conga"])
def test_leaf_spines_run_the_same_programs(program: str) -> None:
    scenario = Scenario(scheme=PROGRAMS[program], topology="leaf-spine", k=6)
    leaf = bench("e0_0", scenario)
    assert leaf.uplink(0, 17) in {0, 1, 2}
    out = bench("c2", scenario).send(0, 17, port=1)
    assert out is not None
    assert out.port == 6
    assert leaf.send(0, 2, port=1).port == 3  # type: ignore[union-attr]


@pytest.mark.parametrize(("program", "width"), [("ofan", 2), ("jsq", 5), ("ofan", 31), ("jsq", 32)])
def test_any_width_compiles_and_uses_all_uplinks(program: str, width: int) -> None:
    scenario = Scenario(scheme=program, topology="leaf-spine", k=2 * width)
    stand = bench("e0_0", scenario)
    assert {stand.uplink(0, width) for _ in range(width)} == set(range(width))
