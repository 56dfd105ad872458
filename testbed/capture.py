"""Frames that crossed chosen links in virtual time, as a pcapng file: what --pcap writes.

A link is captured like a cable with a tap: a frame is there when its last bit has left the sender,
with the marks it got, even if it is lost on its way. Stamps are paper time in nanoseconds.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from errors import UserError
from traffic.frames import CHECKSUM, HEADERS, ROCE_PORT, invariant_crc

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import BinaryIO

    import numpy as np
    from numpy.typing import NDArray

    from testbed.results import PortNames

FORM = "write e0_0-a0_1, e0_0>a0_1 for one direction, a node for all its links, or all"
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINK_ETHERNET = 1
NAME, RESOLUTION = 2, 9  # options of an interface
NANOSECONDS = 9  # 10 to the minus
PICOSECONDS = 1000  # per nanosecond
LARGEST = 262_144  # what analysers take


def places_of(ports: PortNames, wanted: Sequence[str]) -> list[int]:
    """Return the ports, rows of `ports`, whose frames are captured for `wanted` links.

    `a-b` is both directions of a link, `a>b` what a sends to b, `a` all links of a node, `all` all
    links. Raises UserError for a link or node that is not there.
    """
    ends = [
        (place, str(node), str(peer))
        for place, (node, peer) in enumerate(zip(ports.node, ports.peer, strict=True))
        if peer
    ]
    found: dict[int, None] = {}
    for text in wanted:
        places = [place for place, node, peer in ends if _is_meant(text, node, peer)]
        if not places:
            raise UserError(f"--pcap {text}: there is no such link; {FORM}")
        found.update(dict.fromkeys(places))
    return list(found)


def _is_meant(text: str, node: str, peer: str) -> bool:
    if ">" in text:
        return text == f"{node}>{peer}"
    if "-" in text:
        return text in (f"{node}-{peer}", f"{peer}-{node}")
    return text in ("all", node, peer)


def write(
    file: Path, ports: PortNames, places: Sequence[int], rows: NDArray[np.void], stored: bytes
) -> None:
    """Write captured frames, rows of struct dp_captured in order of time and their bytes.

    Each direction of a link is an interface of the file, called `e0_0>a0_1`.
    """
    with file.open("wb") as out:
        out.write(_block(SECTION, struct.pack("<IHHq", BYTE_ORDER, 1, 0, -1)))
        for place in places:
            _interface(out, f"{ports.node[place]}>{ports.peer[place]}")
        numbers = {place: number for number, place in enumerate(places)}
        for departure, first, place, length, kept in _columns(rows):
            frame = whole_frame(stored[first : first + kept], length)
            _packet(out, numbers[place], departure // PICOSECONDS, frame, length)


def whole_frame(stored: bytes, length: int) -> bytes:
    """Return a frame of `length` bytes, of which the simulator keeps the first, with its ICRC."""
    frame = stored + bytes(length - len(stored))
    roce = len(frame) >= HEADERS + CHECKSUM and frame[12:15] == b"\x08\x00\x45" and frame[23] == 17
    if roce and int.from_bytes(frame[36:38], "big") == ROCE_PORT:
        return frame[:-CHECKSUM] + invariant_crc(frame)
    return frame


def _columns(rows: NDArray[np.void]) -> Iterable[tuple[int, int, int, int, int]]:
    names = ("departure_ps", "first", "place", "length", "stored")
    return zip(*(rows[name].tolist() for name in names), strict=True)


def _interface(out: BinaryIO, name: str) -> None:
    options = _option(NAME, name.encode()) + _option(RESOLUTION, bytes([NANOSECONDS]))
    head = struct.pack("<HHI", LINK_ETHERNET, 0, LARGEST)
    out.write(_block(INTERFACE, head + options + _option(0, b"")))


def _packet(out: BinaryIO, interface: int, time_ns: int, frame: bytes, length: int) -> None:
    kept = frame[:LARGEST]
    head = struct.pack("<IIIII", interface, time_ns >> 32, time_ns & 0xFFFFFFFF, len(kept), length)
    out.write(_block(PACKET, head + _padded(kept)))


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
