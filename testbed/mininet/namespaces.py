"""Entering network namespaces, and what is set inside them."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW_NET = 0x4000_0000
_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def network_of(process: int) -> Iterator[None]:
    """Work inside the network namespace of a process, with sockets and commands, then come back.

    It is this thread that moves. Raises OSError if the process is gone.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(f"/proc/{process}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(home)
    finally:
        os.close(home)


def silence_kernel() -> None:
    """Keep the kernel of the present network namespace from sending frames of its own.

    Interfaces made later get no IPv6 (no router solicitations, no multicast reports), and no ARP
    requests leave for addresses that have no fixed neighbour, and nobody is told that no program
    listens for RoCEv2 (errors are held back for longer than a fabric lives).
    """
    for setting, value in (
        ("ipv6/conf/all/disable_ipv6", "1"),
        ("ipv6/conf/default/disable_ipv6", "1"),
        ("ipv4/conf/all/arp_ignore", "8"),
        ("ipv4/neigh/default/mcast_solicit", "0"),
        ("ipv4/icmp_ratelimit", "100000000"),
    ):
        path = Path("/proc/sys/net", setting)
        if path.exists():
            path.write_text(value, encoding="ascii")


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, _NEW_NET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
