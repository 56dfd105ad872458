"""Ports with two bands, and ports that trim, against a few lines of Python that do the same."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from errors import UserError
from testbed.dataplane import Dataplane, Ended
from tests.testbed.dataplane.network import (
    Network,
    Program,
    balance,
    flows,
    give_addresses,
    settings_with,
    star,
)
from traffic.frames import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PAYLOAD, HEADER, GAP, BYTE_PS, ACK_BYTES, CUT_BYTES = 4096, 62, 20, 10, 64, 64
DATA, ACK, CUT = 1, 2, 3
ALL_BITS = 2**64 - 1


@dataclass
class Frame:
    """A frame at a port; `key` tells it from all others there."""

    key: tuple[int, ...]
    arrived: int
    size: int
    urgent: bool
    departure: int = 0
    cut: bool = False


@dataclass
class Coin:
    """splitmix64, seeded as a port is: the highest bit decides who is cut."""

    state: int

    def __call__(self) -> bool:
        self.state = (self.state + 0x9E3779B97F4A7C15) & ALL_BITS
        z = self.state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & ALL_BITS
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & ALL_BITS
        return bool((z ^ z >> 31) >> 63)


@dataclass
class Port:
    """Two FIFOs, the urgent one first; a full one of the others cuts what comes, or its tail."""

    coin: Coin
    limit: int = 0
    urgent: list[Frame] = field(default_factory=list)
    others: list[Frame] = field(default_factory=list)
    done: list[Frame] = field(default_factory=list)
    free_at: int = 0

    def serve_until(self, time: int) -> None:
        while line := self.urgent or self.others:
            start = max(self.free_at, line[0].arrived)
            if start > time:
                return
            frame = line.pop(0)
            frame.departure = start + frame.size * BYTE_PS
            self.free_at = frame.departure + GAP * BYTE_PS
            self.done.append(frame)

    def fits(self, frame: Frame) -> bool:
        inside = [each for each in self.others if not each.urgent]
        inside += [each for each in self.done[-1:] if not each.urgent]
        queued = sum(each.size for each in inside if not 0 < each.departure <= frame.arrived)
        return self.limit == 0 or queued + frame.size <= self.limit

    def cut(self, frame: Frame) -> None:
        frame.size, frame.urgent, frame.cut = CUT_BYTES, True, True
        self.urgent.append(frame)

    def arrive(self, frame: Frame) -> None:
        self.serve_until(frame.arrived)
        if frame.urgent:
            self.urgent.append(frame)
            return
        room = self.fits(frame)
        if not room and self.coin() and self.others and self.others[-1].key[0] == DATA:
            self.cut(self.others.pop())
            room = self.fits(frame)
        if room:
            self.others.append(frame)
        else:
            self.cut(frame)


def served(
    hops: "NDArray[np.void]", sizes: dict[tuple[int, int], int], port: Port, *, acks: bool
) -> list[Frame]:
    """What the reference makes of all that came to a port, by the hops of a trace."""
    for hop in sorted(hops, key=lambda hop: int(hop["arrived_ps"])):
        kind = DATA if hop["kind"] == CUT else int(hop["kind"])
        key = (kind, int(hop["flow"]), int(hop["psn"]), int(hop["arrived_ps"]))
        size = ACK_BYTES if kind == ACK else sizes[key[1], key[2]]
        urgent = kind == ACK and acks
        port.arrive(Frame(key, int(hop["arrived_ps"]), size, urgent))
    port.serve_until(ALL_BITS)
    return port.done


def traced(network: Network, rows: "Sequence[tuple[int, int, int]]", **columns: Any) -> Any:
    network.dataplane.trace(on=True)
    network.dataplane.add_flows(flows(rows, routes=1, **columns))
    ended = network.dataplane.run_virtual(deadline_ps=10**11)
    hops, totals = network.dataplane.hops(), network.dataplane.totals()
    ports = network.dataplane.ports()
    assert ended is Ended.DONE, network.dataplane.message
    assert balance(totals) == 0
    assert (ports["queue_bytes"] == 0).all()
    assert (ports["queue_packets"] == 0).all()
    network.dataplane.close()
    return hops, ports, totals


MESSAGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 60_000)), min_size=1, max_size=6
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    messages=MESSAGES,
    acks=st.booleans(),
    limit=st.sampled_from([0, 5_000, 13_000, 40_000]),
    held=st.booleans(),
)
def test_port__serves_as_two_fifos_do(
    program: Program,
    held_program: Program,
    *,
    messages: list[tuple[int, int, int]],
    acks: bool,
    limit: int,
    held: bool,
) -> None:
    rows = [(a, b if a != b else (b + 1) % 4, size) for a, b, size in messages]
    trim = limit > 0
    network = star(
        held_program if held else program,
        4,
        recovery="selective",
        buffer_bytes=limit or None,
        trim=trim,
        ack_priority=acks,
        seed=7,
    )
    starts = [1_000 + 7_919 * i for i in range(len(rows))]
    hops, ports, totals = traced(network, rows, start_ps=starts)
    sent = hops[(hops["place"] < 4) & (hops["kind"] == DATA)]
    sizes = {(int(hop["flow"]), int(hop["psn"])): int(hop["bytes"]) for hop in sent}
    assert totals["trimmed"] == ports["trims"].sum()
    for place in range(5, 9):
        here = hops[hops["place"] == place]
        if len(np.unique(here["arrived_ps"])) < len(here) or ports["drops"][place]:
            continue  # who of those that came together was first is not in the trace
        reference = Port(Coin(7 ^ place << 24 ^ 0x7472696D), limit)
        wanted = {f.key: (f.departure, f.cut) for f in served(here, sizes, reference, acks=acks)}
        for hop in here:
            key = (
                DATA if hop["kind"] == CUT else int(hop["kind"]),
                *(int(hop[name]) for name in ("flow", "psn", "arrived_ps")),
            )
            assert (int(hop["departure_ps"]), bool(hop["kind"] == CUT)) == wanted[key]


def test_acks__go_before_the_data_of_their_host(program: Program) -> None:
    """A hundred tiny packets come while a host sends long ones: their ACKs do not take turns."""
    finished = {}
    for priority in (False, True):
        network = star(program, 2, ack_priority=priority)
        rows = [(1, 0, 400_000), *[(0, 1, 1)] * 100]
        network.dataplane.add_flows(flows(rows))
        assert network.dataplane.run_virtual() is Ended.DONE
        finished[priority] = network.dataplane.flows()["finish_ps"][1:].max()
        network.dataplane.close()
    frame_ps = (PAYLOAD + HEADER + GAP) * BYTE_PS
    assert finished[True] < 2_200_000 + 100 * 2 * (ACK_BYTES + GAP) * BYTE_PS + 2 * frame_ps
    assert finished[False] > finished[True] + 50 * frame_ps


def incast(program: Program, **changed: Any) -> Network:
    values = {"recovery": "selective", "buffer_bytes": 20_000, "trim": True, **changed}
    return star(program, 5, **values)


INTO_FOUR = [(i, 4, 200_000) for i in range(4)]


@pytest.mark.parametrize("cca", ["none", "dctcp", "nscc", "mswift"])
@pytest.mark.parametrize("recovery", ["selective", "go-back-n"])
def test_what_was_cut__is_sent_again_and_arrives_once(
    program: Program, cca: str, recovery: str
) -> None:
    network = incast(program, recovery=recovery, congestion=cca)
    network.dataplane.add_flows(flows(INTO_FOUR, routes=1))
    assert network.dataplane.run_virtual(deadline_ps=10**11) is Ended.DONE
    records, totals = network.dataplane.flows(), network.dataplane.totals()
    network.dataplane.close()
    assert totals["trimmed"] > 0
    assert balance(totals) == 0
    assert (records["received"] == records["packets"]).all()
    assert records["retransmitted"].sum() > 0
    if recovery == "selective" and totals["dropped_queue"] == 0:
        assert records["retransmitted"].sum() == totals["trimmed"]
        assert records["timeouts"].sum() == 0


def test_nack__has_a_packet_sent_again_without_a_timeout(program: Program) -> None:
    finished = {}
    for trim in (False, True):
        network = incast(program, trim=trim, congestion="nscc")
        network.dataplane.add_flows(flows(INTO_FOUR, routes=1))
        assert network.dataplane.run_virtual() is Ended.DONE
        finished[trim] = network.dataplane.flows()["finish_ps"].max()
        network.dataplane.close()
    assert finished[True] + 15_000_000 < finished[False]


def test_threads__do_not_change_what_is_cut(program: Program) -> None:
    found = []
    for threads in (1, 3):
        network = star(
            program, 40, congestion="nscc", recovery="selective", buffer_bytes=20_000, trim=True
        )
        rows = [(i, (i * 7 + 3) % 10, 100_000) for i in range(40) if i != (i * 7 + 3) % 10]
        network.dataplane.add_flows(flows(rows, routes=1))
        assert network.dataplane.run_virtual(threads=threads) is Ended.DONE
        assert network.dataplane.totals()["trimmed"] > 0
        found.append((network.dataplane.flows(), network.dataplane.ports()))
        network.dataplane.close()
    for one, other in zip(*found, strict=True):
        assert (one == other).all()


def test_buffer_below_a_frame__makes_a_flow_give_up(program: Program) -> None:
    """Every frame is cut, every cut is told: timeouts alone would never end it."""
    knobs = {"retries": 3}
    network = star(
        program, 2, recovery="selective", recovery_parameters=knobs, buffer_bytes=1_000, trim=True
    )
    network.dataplane.add_flows(flows([(0, 1, 40_000)]))
    assert network.dataplane.run_virtual(deadline_ps=10**12) is Ended.STUCK
    assert "gave up" in network.dataplane.message
    network.dataplane.close()


def test_trim__without_recovery__is_refused(program: Program) -> None:
    with pytest.raises(UserError, match="recovery"):
        star(program, 2, trim=True)


def dumbbell(program: Program, **changed: Any) -> Network:
    """Hosts 0 to 2 at one switch, host 3 at another; the cable between them is the bottleneck."""
    values = {"recovery": "selective", "buffer_bytes": 20_000, "trim": True, **changed}
    dataplane = Dataplane(settings_with(**values), [1, 1, 1, 1, 5, 3], 4)
    made = dataplane.add_switches(program.address, [4, 5], [1, 1])
    program.route(made[0], {1: 1, 2: 2, 3: 3, 4: 4})
    program.route(made[1], {1: 1, 2: 1, 3: 1, 4: 2})
    dataplane.connect([0, 1, 2, 4, 5], [0, 0, 0, 4, 2], [4, 4, 4, 5, 3], [1, 2, 3, 1, 0])
    give_addresses(dataplane, 4)
    return Network(dataplane, program, list(made))


OPCODE, TOS, BECN, SYNDROME = 42, 15, 46, 54


@pytest.mark.parametrize("last", [False, True])
def test_header__says_that_it_was_cut_and_nack_where(program: Program, last: bool) -> None:  # noqa: FBT001
    """Cut before the last hop, it counts as marked, and so does the NACK; at the last, not."""
    network = incast(program, ecn_bytes=0) if last else dumbbell(program, ecn_bytes=0)
    into = 4 if last else 3
    network.dataplane.add_flows(flows([(i, into, 200_000) for i in range(into)], routes=1))
    assert network.dataplane.run_virtual() is Ended.DONE
    logged = network.frames(0 if last else 1)
    network.dataplane.close()
    nacks = logged[(logged[:, OPCODE] == 0x11) & (logged[:, SYNDROME] == 0x7F)]
    assert len(nacks) > 0
    assert ((nacks[:, BECN] != 0) == (not last)).all()
    decoded = read(nacks[0][:70].tobytes())
    assert decoded is not None
    assert decoded.kind == "nak"
    assert (Ether(nacks[0].tobytes())[AETH].syndrome, decoded.psn) == (
        0x7F,
        Ether(nacks[0].tobytes())[BTH].psn,
    )
    if last:
        return
    cut = logged[(logged[:, OPCODE] == 0x07) & (logged[:, TOS] >> 2 == 0x24)]
    frame = Ether(cut[0][:54].tobytes() + bytes(4))
    assert (frame[IP].tos & 3, frame[IP].len, frame[UDP].len) == (3, 46, 26)
    header = read(cut[0][:54].tobytes() + bytes(6))
    assert header is not None
    assert header.kind == "cut"


@pytest.mark.parametrize("last", [False, True])
def test_reps__does_not_recycle_a_value_that_was_cut_on_its_way(
    program: Program,
    last: bool,  # noqa: FBT001
) -> None:
    """At the last hop no other path would have helped: the value is as good as any."""
    changed: dict[str, Any] = {"entropy": "reps", "ecn_bytes": 0}
    network = incast(program, **changed) if last else dumbbell(program, **changed)
    into = 4 if last else 3
    network.dataplane.add_flows(flows([(i, into, 120_000) for i in range(into)], routes=1))
    network.dataplane.run_virtual()
    logged = network.frames(0)
    network.dataplane.close()
    values = logged[:, 34].astype(int) * 256 + logged[:, 35]
    uses: dict[tuple[int, int], list[int]] = {}
    for place in np.flatnonzero(logged[:, OPCODE] == 0x07):
        uses.setdefault((int(logged[place, 29]), int(values[place])), []).append(int(place))
    again = [
        any(used > place for used in uses[key])
        for place in np.flatnonzero((logged[:, OPCODE] == 0x11) & (logged[:, SYNDROME] == 0x7F))
        if (key := (int(logged[place, 33]), int(values[place])))
        and sum(used < place for used in uses[key]) == 1
    ]
    assert len(again) > 5
    assert any(again) is last
