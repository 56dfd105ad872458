"""The software switch between veth pairs, in a network namespace of its own: run by test_run.py.

Prints what happened as JSON. Where frames flood a port they come before the switch runs, so that
the outcome does not depend on anyone's speed.
"""

from __future__ import annotations

import dataclasses
import json
import socket
import struct
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4.console.interfaces import SoftwareSwitch
from p4.console.values import ConsoleError
from p4.engine import Program
from p4.wire.front import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
TRAFFIC = ROOT / "tests" / "p4" / "engine_programs" / "traffic.p4"
TAP = ROOT / "docs" / "examples" / "tap.p4"
PORTS = {1: "in1", 2: "in2", 3: "in3"}
SLOTS = 512  # as in front.c
FLOOD, FEW, SENT_TO_LIMIT, DEPTH = 700, 5, 20, 10
LENGTHS = (14, 60, 1500, 2000, 9014)
SOL_PACKET, AUXDATA, TAG = 263, 8, 42
TO = bytes.fromhex("020000000002 020000000001")
SECONDS = 20.0


def make_links() -> None:
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1", encoding="ascii")
    lines = []
    for number, name in PORTS.items():
        lines.append(f"link add {name} mtu 9000 type veth peer name far{number} mtu 9000")
        lines += [f"link set {name} up", f"link set far{number} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def end(number: int) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    opened.setsockopt(SOL_PACKET, AUXDATA, 1)
    opened.bind((f"far{number}", 0))
    opened.settimeout(SECONDS)
    return opened


def tap() -> SoftwareSwitch:
    switch = SoftwareSwitch(Program.load(TAP), PORTS)
    switch.switch.table_add("hosts", [int.from_bytes(TO[:6])], "to", [2])
    return switch


def wait(switch: SoftwareSwitch, holds: Callable[[dict[int, Any]], bool]) -> dict[int, Any]:
    deadline = time.monotonic() + SECONDS
    while True:
        with switch.paused():
            counts = {number: dataclasses.asdict(switch.counts(number)) for number in PORTS}
        if holds(counts) or time.monotonic() > deadline:
            return counts
        time.sleep(0.02)


def forwarded() -> tuple[list[str], str]:
    switch = SoftwareSwitch(Program.load(TRAFFIC), PORTS)
    with closing(end(1)) as near, closing(end(2)) as far:
        switch.start()
        near.send(bytes(4) + b"over the wire")
        frame = far.recv(2000)
        with switch.paused():
            shown = switch.show_ports()
        switch.stop()
    return [frame[:12].hex()], shown


def whole() -> tuple[list[bool], bool]:
    switch = tap()
    switch.start()
    frames = [TO + bytes.fromhex("88b5") + bytes(range(256)) * 40 for _ in LENGTHS]
    frames = [frame[:length] for frame, length in zip(frames, LENGTHS, strict=True)]
    tagged = TO + bytes.fromhex("8100 002a 88b5") + bytes(60)
    with closing(end(1)) as near, closing(end(2)) as far:
        same = []
        for frame in frames:
            near.send(frame)
            same.append(far.recv(20_000) == frame)
        near.send(tagged)
        data, ancillary, _, _ = far.recvmsg(2000, socket.CMSG_SPACE(20))
        tag = struct.unpack("IIIHHHH", ancillary[0][2])[5] if ancillary else 0
        switch.stop()
    return same, tag == TAG and data == tagged[:12] + tagged[16:]


def flood() -> list[Any]:
    switch = tap()
    with closing(end(1)) as first, closing(end(3)) as third:
        for _ in range(FLOOD):
            first.send(TO + bytes(48))
        for _ in range(FEW):
            third.send(TO + bytes(48))
    switch.start()
    counts = wait(switch, lambda seen: seen[1]["received"] + seen[3]["received"] == SLOTS + FEW)
    switch.stop()
    return [counts[1], counts[3]]


def limited() -> tuple[Any, str]:
    switch = tap()
    switch.limit(2, Limits(depth=DEPTH, frames_a_second=1e-3))
    with closing(end(1)) as first:
        for _ in range(SENT_TO_LIMIT):
            first.send(TO + bytes(48))
    switch.start()
    counts = wait(switch, lambda seen: seen[1]["received"] == SENT_TO_LIMIT)
    with switch.paused():
        switch.port_remove("2")
        try:
            switch.set_queue_depth("1", "2")
            said = ""
        except ConsoleError as error:
            said = str(error)
    switch.stop()
    return counts[2], said


def main() -> None:
    make_links()
    (frames, shown), (same, tagged), (port, removed) = forwarded(), whole(), limited()
    found = {
        "forwarded": frames,
        "shown": shown,
        "whole": same,
        "tagged": tagged,
        "flood": flood(),
        "limited": port,
        "removed": removed,
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
