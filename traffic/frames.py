"""RoCEv2 frames: Ethernet, IPv4, UDP, base transport header, and for ACKs the ACK header.

They are read by hand, as a sniffer meets thousands in a second; traffic.framing makes them.
"""

from __future__ import annotations

import ipaddress
import struct
import zlib
from dataclasses import dataclass
from typing import Literal

from errors import UserError

ROCE_PORT = 4791
WRITE_MIDDLE = 0x07  # data: RC RDMA WRITE MIDDLE
ACKNOWLEDGE = 0x11  # ACK: RC ACKNOWLEDGE
ETHERNET, IPV4, UDP_HEADER, BASE_TRANSPORT, ACK_HEADER, CHECKSUM = 14, 20, 8, 12, 4, 4
BTH_AT = ETHERNET + IPV4 + UDP_HEADER
PSN_AT = BTH_AT + 9
HEADERS = BTH_AT + BASE_TRANSPORT
LARGEST_PAYLOAD = 65_535 - (HEADERS - ETHERNET) - CHECKSUM
PSNS = 1 << 24
FIRST_QUEUE_PAIR = 2  # 0 and 1 are those of management: analysers decode them so
ECN_CAPABLE, ECN_MARKED = 2, 3
NAKS = (0x60, 0x7F)  # syndromes: PSN sequence error; ours, that a packet came as its header
TRIMMED = 0x24  # DSCP of a data frame that a full port cut to its header
BITMAP = 8
BECN = 0x40
_IPV4_TYPE = b"\x08\x00"
_UDP_PROTOCOL = 17


@dataclass(frozen=True, slots=True)
class Frame:
    """What a RoCEv2 frame says. `entropy` is its UDP source port, `flow` its destination QP less 2.

    In an ACK, `psn` is the acknowledged packet's and `marked` says that this packet had an ECN
    mark; in a data frame `marked` is its own mark. A data frame that a full port cut to its header
    is a `cut`. `wire_bytes` counts the FCS. ACKs and NAKs of
    hosts that recover from losses say more: `cumulative` is the first packet that is missing, and
    bit i of `bitmap` that packet `first + i` has arrived; None in other frames.
    """

    kind: Literal["data", "cut", "ack", "nak"]
    source: str
    destination: str
    flow: int
    psn: int
    entropy: int
    marked: bool
    wire_bytes: int
    cumulative: int | None = None
    bitmap: int | None = None

    @property
    def first(self) -> int | None:
        """The packet of the bitmap's lowest bit; None without a bitmap."""
        if self.cumulative is None:
            return None
        ahead = (self.psn - self.cumulative) % PSNS
        return (self.psn - 63) % PSNS if 63 < ahead < PSNS // 2 else self.cumulative


@dataclass(frozen=True, slots=True)
class Ends:
    """Sender and receiver of a frame as IPv4 addresses in text."""

    source: str
    destination: str

    def reversed(self) -> Ends:
        """Return the way back."""
        return Ends(self.destination, self.source)


def with_psn(frame: bytes, psn: int) -> bytes:
    """Return a data frame with another PSN and its ICRC: cheaper than building it anew."""
    changed = bytearray(frame)
    changed[PSN_AT : PSN_AT + 3] = (psn % PSNS).to_bytes(3, "big")
    changed[-CHECKSUM:] = invariant_crc(bytes(changed))
    return bytes(changed)


def invariant_crc(frame: bytes) -> bytes:
    """Return the ICRC of a frame: the CRC of all that no router changes, fields it does as ones."""
    masked = bytearray(b"\xff" * 8 + frame[ETHERNET:-CHECKSUM])
    ip, udp, bth = 8, 8 + IPV4, 8 + IPV4 + UDP_HEADER
    for ones in (ip + 1, ip + 8, ip + 10, ip + 11, udp + 6, udp + 7, bth + 4):
        masked[ones] = 0xFF
    return zlib.crc32(masked).to_bytes(4, "little")


def read(frame: bytes) -> Frame | None:
    """Read a frame as captured, without FCS; None if it is not a data frame or ACK of RoCEv2."""
    if len(frame) < HEADERS + CHECKSUM or frame[12:14] != _IPV4_TYPE:
        return None
    header_bytes = (frame[14] & 0x0F) * 4
    if frame[23] != _UDP_PROTOCOL or header_bytes != IPV4:
        return None
    entropy, port = struct.unpack_from("!HH", frame, ETHERNET + IPV4)
    opcode = frame[BTH_AT]
    if port != ROCE_PORT or opcode not in (WRITE_MIDDLE, ACKNOWLEDGE):
        return None
    ack = opcode == ACKNOWLEDGE
    marked = frame[BTH_AT + 4] & BECN != 0 if ack else frame[15] & 3 == ECN_MARKED
    extended = ack and len(frame) == HEADERS + ACK_HEADER + BITMAP + CHECKSUM
    return Frame(
        kind=_kind_of(frame, ack=ack, extended=extended),
        source=str(ipaddress.IPv4Address(frame[26:30])),
        destination=str(ipaddress.IPv4Address(frame[30:34])),
        flow=int.from_bytes(frame[BTH_AT + 5 : BTH_AT + 8], "big") - FIRST_QUEUE_PAIR,
        psn=int.from_bytes(frame[PSN_AT : PSN_AT + 3], "big"),
        entropy=entropy,
        marked=marked,
        wire_bytes=len(frame) + CHECKSUM,
        cumulative=int.from_bytes(frame[HEADERS + 1 : HEADERS + 4], "big") if extended else None,
        bitmap=int.from_bytes(frame[HEADERS + 4 : HEADERS + 12], "big") if extended else None,
    )


def _kind_of(frame: bytes, *, ack: bool, extended: bool) -> Literal["data", "cut", "ack", "nak"]:
    if ack:
        return "nak" if extended and frame[HEADERS] in NAKS else "ack"
    return "cut" if frame[15] >> 2 == TRIMMED else "data"


def hardware_address(address: str) -> str:
    """Return the Ethernet address of the host with an IPv4 address: 02:00 and its four bytes."""
    return (b"\x02\x00" + _packed(address)).hex(":")


def _packed(address: str) -> bytes:
    try:
        return ipaddress.IPv4Address(address).packed
    except ValueError as error:
        raise UserError(f"{address!r} is not an IPv4 address") from error
