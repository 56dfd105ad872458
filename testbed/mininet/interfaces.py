"""All interfaces of a fabric, made and configured in a few batches instead of a command each."""

from __future__ import annotations

import fcntl
import socket
import struct
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError
from testbed.mininet.namespaces import network_of, silence_kernel
from testbed.mininet.offloads import switch_off

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NETWORK_PREFIX = 8
GROUP = 7
RUNNING_SECONDS = 20.0
_GET_FLAGS, _RUNNING = 0x8913, 0x40  # SIOCGIFFLAGS, IFF_RUNNING


@dataclass(frozen=True, slots=True)
class Pair:
    """A veth pair: two interface names, and the process whose namespace holds the first one.

    `process` is 0 where both stay in the sandbox's first namespace.
    """

    lower: str
    upper: str
    process: int = 0


@dataclass(frozen=True, slots=True)
class HostAddress:
    """A host's addresses in text: `02:00:00:00:00:01`, `10.0.0.2`."""

    mac: str
    ip: str


def make(pairs: Sequence[Pair], mtu: int) -> None:
    """Make veth pairs with that MTU, without kernel noise and offloads, and set the switch ends up.

    Interfaces in host namespaces stay down until `bring_up_host`. Raises UserError.
    """
    silence_kernel()
    for process in {pair.process for pair in pairs if pair.process}:
        with network_of(process):
            silence_kernel()
    _batch(_make_line(pair, mtu) for pair in pairs)
    inside = [pair.upper for pair in pairs]
    inside += [pair.lower for pair in pairs if not pair.process]
    switch_off(inside)
    _batch(["link set lo up", *(f"link set {name} up" for name in inside)])


def bring_up_host(pair: Pair, own: HostAddress, others: Iterable[HostAddress]) -> None:
    """Give a host's interface its address and fixed neighbours and set it up.

    Raises UserError, or OSError if the host's process is gone.
    """
    with network_of(pair.process):
        switch_off([pair.lower])
        _batch(
            [
                "link set lo up",
                f"link set {pair.lower} address {own.mac}",
                f"link set {pair.lower} up",
                f"addr add {own.ip}/{NETWORK_PREFIX} dev {pair.lower}",
                *(
                    f"neigh add {other.ip} lladdr {other.mac} dev {pair.lower} nud permanent"
                    for other in others
                ),
            ]
        )


def wait_until_running(pairs: Sequence[Pair]) -> None:
    """Wait until the kernel lets frames through at both ends; raises UserError if it does not.

    It does so a while after both ends were set up.
    """
    deadline = time.monotonic() + RUNNING_SECONDS
    _wait_here([pair.upper for pair in pairs], deadline)
    _wait_here([pair.lower for pair in pairs if not pair.process], deadline)
    for pair in pairs:
        if pair.process:
            with network_of(pair.process):
                _wait_here([pair.lower], deadline)


def remove(pairs: Sequence[Pair]) -> None:
    """Remove all pairs that `make` made in this sandbox, at once."""
    if pairs:
        _batch([f"link del group {GROUP}"])


def set_link(pair: Pair, *, up: bool) -> None:
    """Set the switch end of a pair up or down; the other end loses or gets its carrier."""
    _batch([f"link set {pair.upper} {'up' if up else 'down'}"])


def _make_line(pair: Pair, mtu: int) -> str:
    place = f" netns {pair.process}" if pair.process else ""
    shape = f"mtu {mtu} numtxqueues 1 numrxqueues 1"
    peer = f"peer name {pair.lower} {shape}{place}"
    return f"link add {pair.upper} {shape} group {GROUP} type veth {peer}"


def _wait_here(names: Sequence[str], deadline: float) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        for name in names:
            while not _flags(handle, name) & _RUNNING:
                if time.monotonic() > deadline:
                    raise UserError(f"{name} does not come up")
                time.sleep(0.01)


def _flags(handle: socket.socket, name: str) -> int:
    answer = fcntl.ioctl(handle.fileno(), _GET_FLAGS, struct.pack("16s16x", name.encode()))
    return int(struct.unpack_from("H", answer, 16)[0])


def _batch(lines: Iterable[str]) -> None:
    done = subprocess.run(
        ["ip", "-batch", "-"], input="\n".join(lines), text=True, capture_output=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"ip: {' '.join(done.stderr.split())}")
