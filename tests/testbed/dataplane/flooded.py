"""Two switches in a row, three of whose entries are flooded at once: run by test_flood.py.

Some frames are for a port of the first switch whose interface is down, among others for the second.

The frames come before the switches run, so that the outcome does not depend on anyone's speed.
Prints what the switches did with them as JSON.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from testbed.dataplane import Dataplane, Settings
from tests.testbed.dataplane.network import Program
from tests.testbed.dataplane.on_wires import lay

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOODED, QUIET, UPLINK, CUT = (1, 2, 3), 4, 5, 6
FLOOD, FEW, LARGE = 3000, 7, 3
FIRST, SECOND = 0, 1
DESTINATION, BEHIND_CUT = 9, 8
ROCE = bytes.fromhex(
    "020000000009 020000000001 0800 4502 0000 0000 4000 4011 0000 0a000001 0a000009"
)
ROCE += bytes.fromhex("c000 12b7 0000 0000 07") + bytes(40)
LOST = ROCE[:33] + bytes([BEHIND_CUT]) + ROCE[34:]
UDP = ROCE[:36] + bytes.fromhex("0009") + ROCE[38:] + bytes(1300)


def main(folder: str) -> None:
    pairs = [(f"in{port}", f"out{port}") for port in (*FLOODED, QUIET)]
    lay([*pairs, ("uplink", "below"), ("last", "end"), ("cut", "gone")])
    program = Program(Path(folder))
    dataplane = Dataplane(Settings(), [CUT + 1, 3], 0)
    first, second = dataplane.add_switches(program.address, [FIRST, SECOND], [1, 1])
    program.route(first, {DESTINATION: UPLINK, BEHIND_CUT: CUT})
    program.route(second, {DESTINATION: 2})
    names = [name for name, _ in pairs] + ["uplink", "cut", "below", "last"]
    sockets = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in names]
    descriptors = [handle.fileno() for handle in sockets]
    nodes, numbers = [FIRST] * 6 + [SECOND] * 2, [*FLOODED, QUIET, UPLINK, CUT, 1, 2]
    indices = [socket.if_nametoindex(name) for name in names]
    ranks = [0, 0, 0, 0, 1, 1, 1, 1]
    dataplane.attach(nodes, numbers, indices, descriptors, descriptors[0], rank=ranks)
    subprocess.run(["ip", "link", "set", "cut", "down"], check=True)
    send_all()
    dataplane.run_real(start_ns=time.monotonic_ns(), dilation=1.0, deadline_ps=2 * 10**11)
    ports = dataplane.ports()
    sys.stdout.write(
        json.dumps(
            {
                "overruns": by_port(ports, "overruns"),
                "drops": by_port(ports, "drops"),
                "sent": int(ports[(ports["node"] == SECOND) & (ports["port"] == 2)]["packets"][0]),
                "socket_drops": dataplane.totals()["socket_drops"],
            }
        )
    )


def by_port(ports: NDArray[np.void], counter: str) -> dict[str, int]:
    """Return what each port has counted, if anything."""
    return {
        f"{row['node']}-{row['port']}": int(row[counter])
        for row in ports[np.flatnonzero(ports[counter])]
    }


def send_all() -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        for _ in range(FLOOD):
            for port in FLOODED:
                raw.sendto(ROCE, (f"out{port}", 0))
        for _ in range(FEW):
            for frame in (ROCE, LOST):
                raw.sendto(frame, (f"out{QUIET}", 0))
        for _ in range(LARGE):
            raw.sendto(UDP, (f"out{QUIET}", 0))


if __name__ == "__main__":
    main(sys.argv[1])
