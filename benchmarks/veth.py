"""Processor time of a switch hop over veth against the barest packet-socket forwarder. Needs root.

python benchmarks/veth.py [--scheme ofan] [--seconds 2] [--repeat 3]

A generator floods an edge switch of a k = 4 fat tree through one host port; the switch takes every
frame from its packet socket, runs the P4 program, queues it, and sends it through an uplink. The
forwarder does a recv and a send. Both in turn, in one run: the ratio is what counts.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from p4.codegen.build import compiler_command
from testbed.dataplane import Dataplane, settings_of
from testbed.messages import port_counts
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.switches import make_switches

HERE = Path(__file__).resolve().parent
MTU = 4200
SIZES = {"data": 4154, "ACK": 62}
DATA_OPCODE, ACK_OPCODE = 0x07, 0x11
FIRST_EDGE = 16  # its number among the nodes at k = 4
UPLINKS = (3, 4)


def main() -> int:
    """Measure both kinds of frames and print ratios."""
    options = parse()
    if os.geteuid() != 0:
        sys.stderr.write("veth.py: needs root, for network interfaces of its own\n")
        return 2
    if not options.inside:
        words = [sys.executable, __file__, "--inside", *sys.argv[1:]]
        return subprocess.run(["unshare", "--net", *words], check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "veth"
        source = str(HERE / "veth.c")
        subprocess.run(
            [compiler_command(), "-O2", "-D_GNU_SOURCE", "-o", str(tool), source], check=True
        )
        make_links()
        print(f"processor time a hop, {options.scheme} against a bare forwarder")
        for kind in SIZES:
            print(compare(tool, kind, options))
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scheme", default="ofan")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def make_links() -> None:
    """Make a pair for the host port, `in0` to `in1`, and one for each uplink, `up3` to `far3`."""
    lines = []
    for near, far in [("in1", "in0"), *((f"up{port}", f"far{port}") for port in UPLINKS)]:
        lines.append(f"link add {near} mtu {MTU} type veth peer name {far} mtu {MTU}")
        lines += [f"link set {near} up", f"link set {far} up"]
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1", encoding="ascii")
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def compare(tool: Path, kind: str, options: argparse.Namespace) -> str:
    """Measure both in turn; return a line with the best of each and their ratio."""
    bare, own = [], []
    for _ in range(options.repeat):
        bare.append(forwarder_ns(tool, kind, options.seconds))
        own.append(engine_ns(tool, kind, options))
    ratio = min(own) / min(bare)
    return f"{kind:>5}: {min(own):6.0f} ns, bare {min(bare):6.0f} ns, ratio {ratio:.2f}"


def generator(tool: Path, kind: str, seconds: float) -> subprocess.Popen[bytes]:
    """Start to flood the host port."""
    command = [str(tool), "blast", "in0", str(SIZES[kind]), str(seconds)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(frame(kind))
    process.stdin.close()
    return process


def frame(kind: str) -> bytes:
    """Return the headers of a frame from the first host to the last."""
    return addressed_frame(
        kind, ("02:00:0a:00:00:01", "10.0.0.1"), ("02:00:0a:03:01:02", "10.3.1.2")
    )


def addressed_frame(kind: str, source: tuple[str, str], destination: tuple[str, str]) -> bytes:
    """Return the headers of a frame between two hosts, each a MAC and an IPv4 address."""
    opcode = DATA_OPCODE if kind == "data" else ACK_OPCODE
    macs = [bytes.fromhex(mac.replace(":", "")) for mac, _ in (destination, source)]
    addresses = [socket.inet_aton(ip) for _, ip in (source, destination)]
    ethernet = b"".join(macs) + bytes.fromhex("0800")
    ipv4 = bytes.fromhex("45020000 00004000 40110000") + b"".join(addresses)
    udp = bytes.fromhex("c00012b7 00000000")
    return ethernet + ipv4 + udp + bytes([opcode, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0])


def forwarder_ns(tool: Path, kind: str, seconds: float) -> float:
    """Return the bare forwarder's nanoseconds of processor time a frame."""
    command = [str(tool), "forward", "in1", f"up{UPLINKS[0]}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as forwarder:
        generator(tool, kind, seconds).wait()
        output, _ = forwarder.communicate()
    frames, nanoseconds = map(float, output.split())
    return nanoseconds / frames


def engine_ns(tool: Path, kind: str, options: argparse.Namespace) -> float:
    """Return the event core's nanoseconds of processor time a frame, spinning included."""
    plan = plan_for(Scenario(scheme=options.scheme))
    ports = port_counts(plan.topology)
    with Dataplane(settings_of(plan), ports, plan.topology.hosts) as dataplane:
        make_switches(dataplane, plan)
        with contextlib.ExitStack() as stack:
            names = ["in1", *(f"up{port}" for port in UPLINKS)]
            handles = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in [*names, "all"]]
            *sockets, sender = (stack.enter_context(handle).fileno() for handle in handles)
            interfaces = [socket.if_nametoindex(name) for name in names]
            dataplane.attach(FIRST_EDGE, [1, *UPLINKS], interfaces, sockets, sender)
            blasting = generator(tool, kind, options.seconds)
            start, before = time.monotonic_ns(), time.process_time_ns()
            dataplane.run_real(
                start_ns=start, dilation=1.0, deadline_ps=round(options.seconds * 0.8e12)
            )
            spent = time.process_time_ns() - before
            blasting.wait()
            sent_on = dataplane.totals()["delivered"]
            return spent / sent_on


if __name__ == "__main__":
    sys.exit(main())
