"""Switching off what a network card does to frames: a veth pair carries them as they are.

Scatter-gather stays on: without it the kernel copies every frame once more to send it.
"""

from __future__ import annotations

import array
import fcntl
import socket
import struct

_ETHTOOL = 0x8946  # SIOCETHTOOL
# name: (get, set) of include/uapi/linux/ethtool.h, in an order that the kernel accepts
_SWITCHES = {
    "rx checksums": (0x14, 0x15),
    "generic segmentation": (0x23, 0x24),
    "TCP segmentation": (0x1E, 0x1F),
    "tx checksums": (0x16, 0x17),
    "generic receive": (0x2B, 0x2C),
}


def switch_off(interfaces: list[str]) -> None:
    """Switch all offloads of interfaces in this network namespace off, and check that they are.

    Raises OSError naming interface and offload if one stays on or the interface does not exist.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for interface in interfaces:
            for name, (get, put) in _SWITCHES.items():
                if _ask(handle, interface, get) == 0:
                    continue
                _ask(handle, interface, put)
                if _ask(handle, interface, get) != 0:
                    raise OSError(f"{interface}: offload of {name} stays on")


def _ask(handle: socket.socket, interface: str, command: int) -> int:
    value = array.array("I", [command, 0])
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    try:
        fcntl.ioctl(handle.fileno(), _ETHTOOL, request)
    except OSError as error:
        raise OSError(error.errno, f"{interface}: {error.strerror}") from error
    return value[1]
