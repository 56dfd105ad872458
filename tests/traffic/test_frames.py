from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from errors import UserError
from traffic.frames import (
    Ends,
    hardware_address,
    invariant_crc,
    read,
    with_psn,
)
from traffic.framing import ack_frame, data_frame

ENDS = Ends("10.0.1.2", "10.3.0.1")


def test_data_frame__has_the_bytes_of_the_contract() -> None:
    assert len(data_frame(ENDS, payload_bytes=4096)) + 4 == 4158


def test_ack_frame__has_the_bytes_of_the_contract() -> None:
    assert len(ack_frame(ENDS)) + 4 == 66


def test_data_frame__is_decoded_by_scapy() -> None:
    packet = Ether(data_frame(ENDS, flow=77, psn=5, entropy=50_000))
    assert packet[IP].dst == ENDS.destination
    assert (packet[UDP].sport, packet[UDP].dport) == (50_000, 4791)
    assert (packet[BTH].opcode, packet[BTH].dqpn, packet[BTH].psn) == (0x07, 79, 5)
    assert packet.dst == hardware_address(ENDS.destination) == "02:00:0a:03:00:01"


def test_ack_frame__is_decoded_by_scapy() -> None:
    packet = Ether(ack_frame(ENDS, flow=77, psn=5, marked=True))
    assert (packet[BTH].opcode, packet[BTH].psn, packet[BTH].becn) == (0x11, 5, 1)
    assert packet[AETH].msn == 6


@given(
    flow=st.integers(0, 2**24 - 3),
    psn=st.integers(0, 2**24 - 1),
    entropy=st.integers(0, 65_535),
    marked=st.booleans(),
)
def test_read__gives_back_what_was_built(
    flow: int, psn: int, entropy: int, *, marked: bool
) -> None:
    data = read(data_frame(ENDS, flow=flow, psn=psn, entropy=entropy, payload_bytes=64))
    assert data is not None
    assert (data.kind, data.flow, data.psn, data.entropy) == ("data", flow, psn, entropy)
    assert (data.source, data.destination, data.marked) == (ENDS.source, ENDS.destination, False)
    ack = read(ack_frame(ENDS, flow=flow, psn=psn, entropy=entropy, marked=marked))
    assert ack is not None
    assert (ack.kind, ack.psn, ack.marked) == ("ack", psn, marked)


@given(st.integers(0, 2**24 - 1))
def test_with_psn__equals_building_anew(psn: int) -> None:
    template = data_frame(ENDS, flow=9, payload_bytes=100)
    assert with_psn(template, psn) == data_frame(ENDS, flow=9, psn=psn, payload_bytes=100)


def test_invariant_crc__is_the_one_of_the_frame() -> None:
    for frame in (data_frame(ENDS), ack_frame(ENDS, marked=True)):
        assert invariant_crc(frame) == frame[-4:]


@given(st.binary(max_size=200))
def test_read__anything_else__is_none(noise: bytes) -> None:
    assert read(noise) is None or len(noise) >= 58


@pytest.mark.parametrize(
    ("problem", "fields"),
    [
        ("payload is -1", {"payload_bytes": -1}),
        ("payload is 65536", {"payload_bytes": 65_536}),
        ("flow is 16777214", {"flow": (1 << 24) - 2}),
        ("entropy is 70000", {"entropy": 70_000}),
    ],
)
def test_data_frame__wrong_field__says_which(problem: str, fields: dict[str, int]) -> None:
    with pytest.raises(UserError, match=problem):
        data_frame(ENDS, **fields)


def test_data_frame__wrong_address__says_which() -> None:
    with pytest.raises(UserError, match="'h5' is not an IPv4 address"):
        data_frame(Ends("10.0.0.1", "h5"))
