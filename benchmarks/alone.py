"""The stand-alone switch, `p4 run`, against a bare forwarder and simple_switch. Needs root.

python benchmarks/alone.py [--seconds 1.5] [--repeat 3]

For frames of 60 and of 1514 bytes: the processor time of a frame that docs/examples/tap.p4 forwards
against the barest forwarder, which calls recv and send; the most frames a second, and how many
times that of simple_switch where it is installed; then floods of 2, 5 and 20 times that rate, while
another port sends at a hundredth of it and the switch is asked for its counters as the prompt does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bmv2 import sent_frames
from p4.codegen.build import compiler_command
from p4.compiler import compile_file
from p4.console.interfaces import SoftwareSwitch
from p4.engine import Program
from testbed.bmv2.process import NOTIFY_NOBODY

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
TAP = HERE.parent / "docs" / "examples" / "tap.p4"
PORTS = {1: "in1", 2: "in2", 3: "in3", 4: "in4"}
FLOODED, QUIET = (1, 2), (3, 4)
SIZES = (60, 1514)
TIMES = (2, 5, 20)
FIRST_RATE, GROWTH, PACED_SHARE = 50_000.0, 1.4, 0.01
LEAST_SHARE, MOST_COST, LEAST_GAIN, LONGEST_ANSWER = 0.8, 1.3, 10.0, 1.0
SETTLE_SECONDS = 0.3


def main() -> int:
    """Measure in a network namespace of its own."""
    options = parse()
    if os.geteuid() != 0:
        sys.stderr.write("alone.py: needs root, for network interfaces of its own\n")
        return 2
    if not options.inside:
        words = [sys.executable, __file__, "--inside", *sys.argv[1:]]
        return subprocess.run(["unshare", "--net", *words], check=False).returncode
    make_links()
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "veth"
        source = str(HERE / "veth.c")
        command = [compiler_command(), "-O2", "-D_GNU_SOURCE", "-o", str(tool), source]
        subprocess.run(command, check=True)
        bench = Bench(tool, options.seconds, options.repeat)
        return 0 if all([bench.holds(size) for size in SIZES]) else 1  # noqa: C419 - all of them


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def make_links() -> None:
    """Make a pair for each port, `far1` to `in1` and so on, without noise from the kernel."""
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1", encoding="ascii")
    lines = []
    for number, name in PORTS.items():
        lines.append(f"link add {name} type veth peer name far{number}")
        lines += [f"link set {name} up", f"link set far{number} up"]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)


def address(number: int) -> bytes:
    """Return the Ethernet address of what is behind a port."""
    return bytes([2, 0, 0, 0, 0, number])


def sent(number: int) -> int:
    """Return how many frames the switch has sent through a port."""
    return sent_frames()[PORTS[number]]


class Bench:
    """Generators of frames, and what forwards them."""

    def __init__(self, tool: Path, seconds: float, repeat: int) -> None:
        """Remember how to measure."""
        self.tool, self.seconds, self.repeat = tool, seconds, repeat

    def holds(self, size: int) -> bool:
        """Measure everything for frames of a size; tell whether it is as it should be."""
        cost, theirs = self.cost(size), self.best_of_simple_switch(size)
        with alone() as switch:
            best = self.best(size)
            print(f"{size} B: processor time {cost:.2f} times a bare forwarder's;", end=" ")
            print(f"at best {best:,.0f} frames/s", end="")
            print(f", {best / theirs:.1f} times simple_switch" if theirs else "", flush=True)
            floods = [self.flood(size, times, best, switch) for times in TIMES]
        return all(floods) and cost <= MOST_COST and best >= LEAST_GAIN * theirs

    def cost(self, size: int) -> float:
        """Return the processor time of a frame as a multiple of the bare forwarder's."""
        own, bare = [], []
        for _ in range(self.repeat):
            bare.append(self.forwarder_ns(size))
            with alone():
                before, begun = sent(2), own_processor_ns()
                self.blast(*FLOODED, size).communicate()
                own.append((own_processor_ns() - begun) / (sent(2) - before))
        return min(own) / min(bare)

    def forwarder_ns(self, size: int) -> float:
        """Return the bare forwarder's nanoseconds of processor time a frame."""
        command = [str(self.tool), "forward", PORTS[1], PORTS[2]]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as forwarder:
            self.blast(*FLOODED, size).communicate()
            output, _ = forwarder.communicate()
        frames, nanoseconds = map(float, output.split())
        return nanoseconds / frames

    def blast(
        self, source: int, destination: int, size: int, rate: float = 0
    ) -> subprocess.Popen[bytes]:
        """Start to send frames from behind one port to behind another."""
        words = ["blast", f"far{source}", str(size), str(self.seconds), str(rate)]
        process = subprocess.Popen(
            [str(self.tool), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(address(destination) + address(source) + bytes.fromhex("88b5"))
        process.stdin.close()
        process.stdin = None
        return process

    def carried(self, size: int, rate: float = 0) -> tuple[float, float]:
        """Flood; return frames a second offered and carried."""
        before, begun = sent(2), time.monotonic()
        offered = int(self.blast(*FLOODED, size, rate).communicate()[0])
        elapsed = time.monotonic() - begun
        return offered / elapsed, (sent(2) - before) / elapsed

    def best(self, size: int) -> float:
        """Return the most frames a second that are carried, over growing rates."""
        rate, best = FIRST_RATE, 0.0
        while True:
            offered, carried = self.carried(size, rate)
            best = max(best, carried)
            if carried < offered / GROWTH or offered < rate / GROWTH:
                return max(best, *(self.carried(size)[1] for _ in range(self.repeat)))
            rate *= GROWTH

    def best_of_simple_switch(self, size: int) -> float:
        """Return the most frames a second that simple_switch carries, 0 where it is missing."""
        if not shutil.which("simple_switch"):
            return 0.0
        with simple_switch():
            return max(self.carried(size)[1] for _ in range(self.repeat))

    def flood(self, size: int, times: int, best: float, switch: SoftwareSwitch) -> bool:
        """Flood with a multiple of the best rate; tell whether its share is carried."""
        before = sent(2), sent(4)
        begun, longest = time.monotonic(), 0.0
        flooding = self.blast(*FLOODED, size, times * best)
        paced = self.blast(*QUIET, size, PACED_SHARE * best)
        while flooding.poll() is None or paced.poll() is None:
            asked = time.monotonic()
            with switch.paused():
                switch.show_ports()
            longest = max(longest, time.monotonic() - asked)
            time.sleep(0.1)
        elapsed = time.monotonic() - begun
        offered, quiet = (int(each.communicate()[0]) for each in (flooding, paced))
        time.sleep(SETTLE_SECONDS)
        share = (sent(2) - before[0]) / elapsed / best
        lost = quiet - (sent(4) - before[1])
        print(
            f"  {times:2} times (offered {offered / self.seconds / best:4.1f}): {share:4.0%} "
            f"arrived, the other port lost {lost} of {quiet}, "
            f"longest answer {longest * 1000:.0f} ms"
        )
        return share >= LEAST_SHARE and lost == 0 and longest < LONGEST_ANSWER


@contextmanager
def alone() -> Iterator[SoftwareSwitch]:
    """Run the stand-alone switch in this process, with its addresses known."""
    switch = SoftwareSwitch(Program.load(TAP), PORTS)
    for number in PORTS:
        switch.switch.table_add("hosts", [int.from_bytes(address(number))], "to", [number])
    switch.start()
    try:
        yield switch
    finally:
        switch.stop()


@contextmanager
def simple_switch() -> Iterator[None]:
    """Run simple_switch with the same program and entries, on the ports that the other one has."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "tap.json"
        program.write_text(json.dumps(compile_file(TAP)), encoding="utf-8")
        ports = [word for number, name in PORTS.items() for word in ("-i", f"{number}@{name}")]
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        command = ["simple_switch", *NOTIFY_NOBODY, *ports, str(program)]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            time.sleep(2)
            entries = [
                f"table_add Forward.hosts Forward.to 0x{address(number).hex()} => {number}"
                for number in PORTS
            ]
            subprocess.run(
                ["simple_switch_CLI"],
                input="\n".join(entries),
                text=True,
                stdout=subprocess.DEVNULL,
                check=True,
            )
            try:
                yield
            finally:
                process.terminate()


def own_processor_ns() -> int:
    """Return the processor time of this process, its threads' included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return round(1e9 * (used.ru_utime + used.ru_stime))


if __name__ == "__main__":
    sys.exit(main())
