"""Packet sockets on an interface of the host that the command runs in."""

from __future__ import annotations

import socket
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

ALL_PROTOCOLS = 0x0003
GET_ADDRESS = 0x8915  # SIOCGIFADDR
LOOPBACK = "lo"


def first_interface() -> str:
    """Return the first interface that is not the loopback; raises UserError without one."""
    for _, name in socket.if_nameindex():
        if name != LOOPBACK:
            return name
    raise UserError("there is no interface besides the loopback; run this inside a host")


def address_of(interface: str) -> str:
    """Return the IPv4 address of an interface; raises UserError if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            answer = _ioctl(asking, GET_ADDRESS, struct.pack("256s", interface.encode()[:15]))
        except OSError as error:
            raise UserError(f"{interface} has no IPv4 address; give --from") from error
    return socket.inet_ntoa(answer[20:24])


@contextmanager
def packet_socket(interface: str) -> Iterator[socket.socket]:
    """Open a packet socket bound to `interface`; raises UserError without the rights or it."""
    try:
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    except PermissionError as error:
        raise UserError("packet sockets need root: run this with sudo or in a host") from error
    with opened:
        try:
            opened.bind((interface, 0))
        except OSError as error:
            raise UserError(f"{interface}: {error.strerror}") from error
        yield opened


def _ioctl(asking: socket.socket, request: int, argument: bytes) -> bytes:
    import fcntl  # noqa: PLC0415 - Linux only, like all that sends here

    return fcntl.ioctl(asking, request, argument)
