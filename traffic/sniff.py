"""Print the RoCEv2 frames that an interface sees: what `python -m traffic sniff` does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from traffic.frames import Ends, Frame, read
from traffic.framing import ack_frame
from traffic.sockets import packet_socket

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

OUTGOING = 4  # PACKET_OUTGOING: a frame that this host sends itself
LARGEST_FRAME = 65_535


def sniff(interface: str, *, seconds: float, answer: bool) -> Iterator[tuple[float, Frame]]:
    """Yield frames that arrive at `interface` with the seconds since the call.

    Ends after `seconds`, or never if that is 0. With `answer`, each data frame is answered with its
    ACK, as a host of the testbed would. Raises UserError if the interface cannot be used.
    """
    with packet_socket(interface) as opened:
        start = time.monotonic()
        while (left := start + seconds - time.monotonic()) > 0 or not seconds:
            opened.settimeout(left if seconds else None)
            arrived = _receive(opened)
            if arrived is None:
                continue
            if answer and arrived.kind == "data":
                opened.send(_answer(arrived))
            yield time.monotonic() - start, arrived


def line(seconds: float, frame: Frame) -> str:
    """Describe a frame in one line of columns."""
    mark = "ECN" if frame.marked else ""
    if frame.bitmap is not None:
        mark = (
            f"{mark:3}  missing {frame.cumulative}, bitmap {frame.bitmap:016x} from {frame.first}"
        )
    return (
        f"{seconds:12.6f}  {frame.kind:4}  {frame.source:>15} > {frame.destination:<15}  "
        f"flow {frame.flow:<6} psn {frame.psn:<8} entropy {frame.entropy:<5}  "
        f"{frame.wire_bytes:>5} B  {mark}".rstrip()
    )


def _receive(opened: socket.socket) -> Frame | None:
    try:
        data, where = opened.recvfrom(LARGEST_FRAME)
    except TimeoutError:
        return None
    return None if where[2] == OUTGOING else read(data)


def _answer(frame: Frame) -> bytes:
    ends = Ends(frame.source, frame.destination).reversed()
    return ack_frame(
        ends, flow=frame.flow, psn=frame.psn, entropy=frame.entropy, marked=frame.marked
    )
