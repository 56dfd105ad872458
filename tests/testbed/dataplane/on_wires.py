"""A star whose links are veth pairs, in a network namespace made for it: run by test_real.py.

Prints what came out as JSON. Both ends of a pair are in the one namespace: h0, h1, ... belong to
the hosts, s0, s1, ... to the switch.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from testbed.dataplane import Dataplane, Ended, Settings
from tests.testbed.dataplane.network import Program, balance, flows, give_addresses

HOSTS, MESSAGE, DILATION = 3, 200_000, 20_000.0
ARP = bytes.fromhex("ffffffffffff 020000000001 0806") + bytes(46)
IPV4 = bytes.fromhex("020000000002 020000000001 0800 4500") + bytes(14) + bytes([10, 0, 0, 2] * 8)


def lay(pairs: list[tuple[str, str]]) -> None:
    """Lay veth cables, without noise from the kernel."""
    lines = ["link set lo up"]
    for one, other in pairs:
        lines.append(f"link add {one} mtu 4200 type veth peer name {other} mtu 4200")
        lines += [f"link set {one} up", f"link set {other} up"]
    quiet = Path("/proc/sys/net/ipv6/conf/default/disable_ipv6")
    if quiet.exists():
        quiet.write_text("1", encoding="ascii")
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def attach(dataplane: Dataplane, sockets: list[socket.socket]) -> None:
    def opened() -> int:
        sockets.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
        return sockets[-1].fileno()

    near = [socket.if_nametoindex(f"s{i}") for i in range(HOSTS)]
    far = [socket.if_nametoindex(f"h{i}") for i in range(HOSTS)]
    ports = np.arange(HOSTS)
    inside, outside = ([opened() for _ in range(HOSTS)] for _ in range(2))
    dataplane.attach([HOSTS] * HOSTS, ports + 1, near, inside, inside[0])
    dataplane.attach(ports, 0, far, outside, outside)


def send_noise() -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as raw:
        for frame in (ARP, IPV4):
            raw.sendto(frame, ("h0", 0))


def main(folder: str) -> None:
    lay([(f"s{i}", f"h{i}") for i in range(HOSTS)])
    sockets: list[socket.socket] = []
    program = Program(Path(folder))
    dataplane = Dataplane(Settings(sample_ps=1_000_000), [1] * HOSTS + [HOSTS + 1], HOSTS)
    (switch,) = dataplane.add_switches(program.address, [HOSTS], [1])
    program.route(switch, {i + 1: i + 1 for i in range(HOSTS)})
    attach(dataplane, sockets)
    give_addresses(dataplane, HOSTS)
    dataplane.add_flows(flows([(i, (i + 1) % HOSTS, MESSAGE) for i in range(HOSTS)]))
    sys.stdout.write(json.dumps(run(dataplane)))
    dataplane.close()
    for handle in sockets:
        handle.close()


def run(dataplane: Dataplane) -> dict[str, Any]:
    asked, asking = os.pipe()
    start = time.monotonic_ns() + 100_000_000
    clock: dict[str, Any] = {"start_ns": start, "dilation": DILATION, "control": asked}
    os.write(asking, b"?")
    first = dataplane.run_real(**clock)
    early = int(dataplane.totals()["sent"])
    os.read(asked, 1)
    second = dataplane.run_real(**clock, deadline_ps=1_000_000)
    send_noise()
    third = dataplane.run_real(**clock, deadline_ps=500_000_000, stuck_ps=200_000_000)
    assert third is Ended.DONE, dataplane.message
    totals = dataplane.totals()
    records, ports, pacing = dataplane.flows(), dataplane.ports(), dataplane.pacing()
    return {
        "ended": [first.name, second.name, third.name],
        "early": early,
        "balance": balance(totals),
        "totals": totals,
        "cct_ps": int(records["finish_ps"].max() - records["start_ps"].min()),
        "acknowledged": records["acknowledged"].tolist(),
        "gaps": int(ports["gaps"].sum()),
        "gaps_within_frame": int(ports["gaps_within_frame"].sum()),
        "samples": len(dataplane.samples()),
        "achieved": pacing["achieved"].tolist(),
        "offered": pacing["offered"].tolist(),
        "late_p99_ps": pacing["late_p99_ps"].tolist(),
        "late_max_ps": pacing["late_max_ps"].tolist(),
    }


if __name__ == "__main__":
    main(sys.argv[1])
