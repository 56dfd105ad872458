"""Making RoCEv2 frames, with scapy's layers."""

from __future__ import annotations

from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from errors import UserError
from traffic.frames import (
    ACKNOWLEDGE,
    ECN_CAPABLE,
    FIRST_QUEUE_PAIR,
    LARGEST_PAYLOAD,
    PSNS,
    ROCE_PORT,
    WRITE_MIDDLE,
    Ends,
    hardware_address,
)


def data_frame(
    ends: Ends, *, flow: int = 1, psn: int = 0, entropy: int = 49_152, payload_bytes: int = 4096
) -> bytes:
    """Build a data frame of `payload_bytes` zeros: payload + 58 B here, + 4 B of FCS on the wire.

    Raises UserError for an address, number or size that does not fit its field.
    """
    _fits("payload", payload_bytes, LARGEST_PAYLOAD)
    layers = _stack(ends, flow, psn, entropy, WRITE_MIDDLE)
    return bytes(layers / Raw(bytes(payload_bytes)))


def ack_frame(
    ends: Ends, *, flow: int = 1, psn: int = 0, entropy: int = 49_152, marked: bool = False
) -> bytes:
    """Build the ACK of packet `psn`, echoing its entropy and its ECN mark (as BECN).

    `ends` are the ACK's own: from the data's receiver to its sender.
    """
    layers = _stack(ends, flow, psn, entropy, ACKNOWLEDGE)
    layers[BTH].becn = int(marked)
    return bytes(layers / AETH(msn=(psn + 1) % PSNS))


def _stack(ends: Ends, flow: int, psn: int, entropy: int, opcode: int) -> Ether:
    _fits("flow", flow, PSNS - 1 - FIRST_QUEUE_PAIR)
    _fits("psn", psn, PSNS - 1)
    _fits("entropy", entropy, 65_535)
    return (
        Ether(src=hardware_address(ends.source), dst=hardware_address(ends.destination))
        / IP(src=ends.source, dst=ends.destination, tos=ECN_CAPABLE, ttl=64, id=0)
        / UDP(sport=entropy, dport=ROCE_PORT, chksum=0)
        / BTH(opcode=opcode, dqpn=flow + FIRST_QUEUE_PAIR, psn=psn)
    )


def _fits(name: str, value: int, largest: int) -> None:
    if not 0 <= value <= largest:
        raise UserError(f"{name} is {value}; it must be from 0 to {largest}")
