"""What hosts send: the frames' bytes, and the entropy that they choose."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from testbed.dataplane import Ended
from tests.testbed.dataplane.network import Program, chain, flows, star
from traffic.frames import read

DATA, ACK = 0x07, 0x11
SOURCE_PORT, OPCODE = slice(34, 36), 42


def entropies(frames: NDArray[np.uint8], opcode: int) -> list[int]:
    chosen = frames[frames[:, OPCODE] == opcode][:, SOURCE_PORT].astype(int)
    return list(chosen[:, 0] * 256 + chosen[:, 1])


def run(program: Program, packets: int, entropy: str, **columns: Any) -> NDArray[np.uint8]:
    paths = columns.pop("paths", ())
    knobs = columns.pop("parameters", {})
    network = chain(program, 1, entropy=entropy, entropy_parameters=knobs)
    network.dataplane.add_flows(flows([(0, 1, packets * 4096)], **columns), paths)
    network.dataplane.run_virtual()
    frames = network.frames()
    network.dataplane.close()
    return frames


def test_data_frame__is_rocev2(program: Program) -> None:
    frame = Ether(run(program, 3, "flow")[1].tobytes())
    assert (frame.src, frame.dst) == ("02:00:00:00:00:01", "02:00:00:00:00:02")
    assert (frame[IP].src, frame[IP].dst) == ("10.0.0.1", "10.0.0.2")
    assert frame[IP].tos == 2
    assert frame[IP].len == 4154 - 14
    assert frame[UDP].dport == 4791
    assert frame[UDP].len == 4154 - 34
    assert (frame[BTH].opcode, frame[BTH].dqpn, frame[BTH].psn) == (DATA, 2, 1)
    assert checksum_is_right(frame)


def test_ack__is_rocev2_and_echoes(program: Program) -> None:
    frames = run(program, 3, "random")
    acks = frames[frames[:, OPCODE] == ACK]
    frame = Ether(acks[2].tobytes())
    assert (frame.src, frame.dst) == ("02:00:00:00:00:02", "02:00:00:00:00:01")
    assert (frame[IP].src, frame[IP].dst) == ("10.0.0.2", "10.0.0.1")
    assert frame[IP].len == 62 - 14
    assert (frame[BTH].opcode, frame[BTH].dqpn, frame[BTH].psn) == (ACK, 2, 2)
    assert frame[BTH].becn == 0
    assert (frame[AETH].syndrome, frame[AETH].msn) == (0x1F, 2)
    assert checksum_is_right(frame)


def test_ack_of_recovering_hosts__is_decoded_by_the_sniffer(program: Program) -> None:
    """A port that is down for a moment makes a hole of packets 0 to 3."""
    network = chain(program, 1, recovery="selective")
    network.dataplane.add_flows(flows([(0, 1, 100 * 4096)]))
    network.dataplane.set_port(2, 2, up=False)
    network.dataplane.run_virtual(deadline_ps=500_000 + 4 * 41_780)
    network.dataplane.set_port(2, 2, up=True)
    network.dataplane.run_virtual()
    acks = [frame for frame in network.frames() if frame[OPCODE] == ACK]
    network.dataplane.close()
    headers = acks[69][:70].tobytes()
    frame = read(headers)
    assert frame is not None
    assert (frame.kind, frame.psn, frame.cumulative, frame.first) == ("ack", 73, 0, 10)
    assert frame.bitmap == 2**64 - 1
    early = read(acks[1][:70].tobytes())
    assert early is not None
    assert (early.cumulative, early.first, early.bitmap) == (0, 0, 0b110000)
    assert checksum_is_right(Ether(headers))


@pytest.mark.parametrize("delay_ps", [1_000, 20_000, 500_000])
def test_mark__is_set_before_the_frame_arrives_and_echoed(program: Program, delay_ps: int) -> None:
    network = star(program, 4, ecn_bytes=9_000, delay_ns=delay_ps / 1000, load=0.4)
    rows = [(i, 3, 409_600) for i in range(3)]
    network.dataplane.add_flows(flows(rows))
    network.dataplane.run_virtual()
    frames = network.frames()
    acks = frames[frames[:, OPCODE] == ACK]
    marks = int(network.dataplane.ports()["marks"].sum())
    echoed = int((acks[:, 46] & 0x40 > 0).sum())
    assert 0 < echoed == marks
    network.dataplane.close()


def test_mark__keeps_the_checksum_right(program: Program) -> None:
    network = chain(program, 2, ecn_bytes=1)
    network.dataplane.add_flows(flows([(0, 1, 50 * 4096)]))
    network.dataplane.run_virtual()
    second = network.frames(1)
    data = second[second[:, OPCODE] == DATA]
    assert (data[:, 15] == 3).all()
    assert all(checksum_is_right(Ether(row.tobytes())) for row in data)
    network.dataplane.close()


def checksum_is_right(frame: Ether) -> bool:
    header = bytes(frame[IP])[:20]
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2))
    return (total & 0xFFFF) + (total >> 16) == 0xFFFF


def test_last_packet__has_the_rest(program: Program) -> None:
    network = chain(program, 1)
    network.dataplane.add_flows(flows([(0, 1, 4096 + 5)]))
    network.dataplane.run_virtual()
    frames = network.frames()
    lengths = frames[frames[:, OPCODE] == DATA][:, 16:18].astype(int)
    assert (lengths[:, 0] * 256 + lengths[:, 1]).tolist() == [4140, 5 + 58 - 14]
    network.dataplane.close()


def test_flow_entropy__keeps_one_value_and_acks_echo_it(program: Program) -> None:
    frames = run(program, 20, "flow")
    assert len(set(entropies(frames, DATA))) == 1
    assert set(entropies(frames, ACK)) == set(entropies(frames, DATA))


def test_random_entropy__draws_each_time(program: Program) -> None:
    frames = run(program, 200, "random")
    data, acks = entropies(frames, DATA), entropies(frames, ACK)
    assert len(set(data)) > 190
    assert len(set(acks)) > 190
    assert not np.array_equal(data, acks)
    assert max(data) > 60_000
    assert min(data) < 5_000


def test_drb__rotates_over_paths_with_a_pointer_for_acks(program: Program) -> None:
    paths = [3, 4, 5, 6, 7]
    frames = run(program, 40, "drb", path_first=[0], path_count=[5], paths=paths)
    for opcode in (DATA, ACK):
        chosen = np.array(entropies(frames, opcode))
        assert set(chosen) == set(paths)
        assert (np.diff(chosen) % 5 == 1).all()


def test_drb__shares_pointers_between_flows_of_a_pair(program: Program) -> None:
    network = chain(program, 1, entropy="drb", acks=False)
    rows = flows([(0, 1, 8 * 4096), (0, 1, 8 * 4096)], pair=[0, 0], path_count=[4, 4])
    network.dataplane.add_flows(rows, [0, 1, 2, 3])
    network.dataplane.run_virtual()
    assert (np.diff(entropies(network.frames(), DATA)) % 4 == 1).all()
    network.dataplane.close()


def test_ethereal__sends_equal_subflows_in_turn(program: Program) -> None:
    paths = [9, 2, 4]
    size = 10 * 4096
    network = chain(program, 1, entropy="ethereal")
    network.dataplane.add_flows(flows([(0, 1, size)], subflows=[3], path_count=[3]), paths)
    network.dataplane.run_virtual()
    frames = network.frames()
    data = frames[frames[:, OPCODE] == DATA]
    chosen = np.array(entropies(frames, DATA))
    lengths = data[:, 16].astype(int) * 256 + data[:, 17] - 44
    assert chosen.tolist() == (paths * 4)[: len(chosen)]
    per_subflow = [int(lengths[chosen == path].sum()) for path in paths]
    assert sum(per_subflow) == size
    assert max(per_subflow) - min(per_subflow) <= 1
    assert sorted(entropies(frames, ACK)) == sorted(chosen)
    network.dataplane.close()


def test_reps__recycles_what_came_back(program: Program) -> None:
    frames = run(program, 256, "reps")
    data = entropies(frames, DATA)
    acks = entropies(frames, ACK)
    first_back = next(i for i, value in enumerate(data) if value in data[:i])
    assert first_back > 10
    assert data[first_back:] == acks[: len(data) - first_back]


def test_reps__never_reuses_marked_values(program: Program) -> None:
    network = chain(program, 1, entropy="reps", ecn_bytes=1, entropy_parameters={"values": 65536})
    network.dataplane.add_flows(flows([(0, 1, 256 * 4096)]))
    network.dataplane.run_virtual()
    data = entropies(network.frames(), DATA)
    assert len(set(data)) > 250
    network.dataplane.close()


@pytest.mark.parametrize(("freezing", "least", "most"), [(1, 2, 8), (0, 50, 64)])
def test_reps__freezes_on_a_value_that_is_overdue(
    program: Program, freezing: int, least: int, most: int
) -> None:
    """A link fails: the values that came back last go in turn, instead of all at random."""
    knobs = {"values": 64, "freezing": freezing}
    network = chain(program, 1, entropy="reps", entropy_parameters=knobs)
    network.dataplane.add_flows(flows([(0, 1, 800 * 4096)]))
    assert network.dataplane.run_virtual(deadline_ps=10_000_000) is Ended.DEADLINE
    network.dataplane.set_port(2, 2, up=False)
    assert network.dataplane.run_virtual() is Ended.STUCK
    late = set(entropies(network.frames(), DATA)[-200:])
    assert least <= len(late) <= most
    network.dataplane.close()


def test_reps__does_not_freeze_on_values_in_flight_twice(program: Program) -> None:
    """Nothing is lost: any ACK of a value ends its timer, so that none is ever overdue."""
    knobs = {"values": 32, "timeout_initial_us": 5}
    frozen, free = (
        run(program, 400, "reps", parameters={**knobs, "freezing": freezing}) for freezing in (1, 0)
    )
    first = entropies(free, DATA)[:50]
    assert len(set(first)) < len(first), "no value was in flight twice"
    assert (frozen == free).all()
