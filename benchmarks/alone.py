"""The stand-alone switch, `p4 run`, against a bare forwarder and simple_switch. Needs root.

python benchmarks/alone.py [--seconds 1] [--repeat 3] [--core-share 0.05]

For frames of 60 and of 1514 bytes: the processor time of a frame that docs/examples/tap.p4 forwards
against the barest forwarder, which calls recv and send; the most frames a second, and how many
times that of simple_switch where it is installed; then floods of 2, 5 and 20 times that rate, while
another port sends at a hundredth of it and the switch is asked for its counters as the prompt does.

The switch has the first processor, and generators the others; all go before other programs. Each
flood runs between two runs at the best rate, and its share is of their mean: a machine is not
always equally fast. The median of `--repeat` shares counts. No generator offers many times what the
switch carries, so in floods it has but a share of its processor: something goes before it there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bmv2 import sent_frames
from benchmarks.processors import core_share, stand_aside
from p4.codegen.build import compiler_command
from p4.compiler import compile_file
from p4.console.interfaces import SoftwareSwitch
from p4.engine import Program
from testbed.bmv2.process import NOTIFY_NOBODY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent
TAP = HERE.parent / "docs" / "examples" / "tap.p4"
PORTS = {1: "in1", 2: "in2", 3: "in3", 4: "in4"}
FLOODED, QUIET = (1, 2), (3, 4)
SIZES = (60, 1514)
TIMES = (2, 5, 20)
FIRST_RATE, GROWTH, PACED_SHARE = 5_000.0, 1.4, 0.01
LEAST_SHARE, MOST_COST, LEAST_GAIN, LONGEST_ANSWER = 0.8, 1.3, 10.0, 1.0
START_SECONDS = 0.3
ASK_SECONDS = 0.1


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
        bench = Bench(tool, stand_aside(), options.seconds, options.repeat)
        good = [bench.is_cheap(size) for size in SIZES]
        with core_share(tool, bench.core, options.core_share):
            print(f"with {options.core_share:.0%} of its processor:", flush=True)
            good += [bench.holds(size) for size in SIZES]
        return 0 if all(good) else 1


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--core-share", type=float, default=0.05)
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


@dataclass(frozen=True, slots=True)
class Rates:
    """Frames a second that were offered to the switch, and those that it carried."""

    offered: float
    carried: float


class Bench:
    """Generators of frames, and what forwards them."""

    def __init__(self, tool: Path, core: int, seconds: float, repeat: int) -> None:
        """Remember how to measure, and the processor of the switch."""
        self.tool, self.core, self.seconds, self.repeat = tool, core, seconds, repeat

    def is_cheap(self, size: int) -> bool:
        """Compare with the bare forwarder and simple_switch; tell whether it is as it should be."""
        cost, theirs = self.cost(size), self.best_of_simple_switch(size)
        with alone(self.core):
            best = self.best(size).carried
        print(f"{size} B: processor time {cost:.2f} times a bare forwarder's;", end=" ")
        print(f"at best {best:,.0f} frames/s", end="")
        print(f", {best / theirs:.1f} times simple_switch" if theirs else "", flush=True)
        return cost <= MOST_COST and best >= LEAST_GAIN * theirs

    def holds(self, size: int) -> bool:
        """Flood with frames of a size; tell whether the switch carried its share."""
        with alone(self.core) as switch:
            best = self.best(size)
            print(f"{size} B: at best {best.carried:,.0f} frames/s", flush=True)
            return all([self.withstands(size, times, best, switch) for times in TIMES])  # noqa: C419

    def cost(self, size: int) -> float:
        """Return the processor time of a frame as a multiple of the bare forwarder's."""
        own, bare = [], []
        for _ in range(self.repeat):
            bare.append(self.forwarder_ns(size))
            with alone(self.core):
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
        words = ["blast", f"far{source}", str(size), str(self._sending_seconds), str(rate)]
        process = subprocess.Popen(
            [str(self.tool), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(address(destination) + address(source) + bytes.fromhex("88b5"))
        process.stdin.close()
        process.stdin = None
        return process

    @property
    def _sending_seconds(self) -> float:
        return self.seconds + 2 * START_SECONDS

    def rates(self, size: int, rate: float, ask: Callable[[], object] = int) -> Rates:
        """Flood at a rate (0: as fast as it goes), and ask something while it lasts."""
        flooding = self.blast(*FLOODED, size, rate)
        time.sleep(START_SECONDS)
        first, begun = sent(2), time.monotonic()
        while time.monotonic() < begun + self.seconds:
            ask()
            time.sleep(ASK_SECONDS)
        carried = (sent(2) - first) / (time.monotonic() - begun)
        return Rates(int(flooding.communicate()[0]) / self._sending_seconds, carried)

    def best(self, size: int) -> Rates:
        """Return the most frames a second that are carried, over growing rates, and that rate."""
        rate = FIRST_RATE
        found = [self.rates(size, rate)]
        while found[-1].carried > rate / GROWTH:
            rate *= GROWTH
            found.append(self.rates(size, rate))
        return max(found, key=lambda rates: rates.carried)

    def best_of_simple_switch(self, size: int) -> float:
        """Return the most frames a second that simple_switch carries, 0 where it is missing."""
        if not shutil.which("simple_switch"):
            return 0.0
        with simple_switch():
            return max(self.rates(size, 0).carried for _ in range(self.repeat))

    def withstands(self, size: int, times: int, best: Rates, switch: SoftwareSwitch) -> bool:
        """Flood with a multiple of the best rate; tell whether its share is carried."""
        answers, shares, offered = [0.0], [], []
        lost = quiet = 0

        def ask() -> None:
            asked = time.monotonic()
            with switch.paused():
                switch.show_ports()
            answers.append(time.monotonic() - asked)

        around = [self.rates(size, best.offered).carried]
        for _ in range(self.repeat):
            before = sent(4)
            paced = self.blast(*QUIET, size, PACED_SHARE * best.carried)
            found = self.rates(size, times * best.carried, ask)
            count = int(paced.communicate()[0])
            time.sleep(START_SECONDS)
            quiet, lost = quiet + count, lost + count - (sent(4) - before)
            around.append(self.rates(size, best.offered).carried)
            shares.append(found.carried / statistics.mean(around[-2:]))
            offered.append(found.offered / statistics.mean(around[-2:]))
        share, longest = statistics.median(shares), max(answers)
        print(
            f"  {times:2} times (offered {statistics.median(offered):4.1f}): {share:4.0%} arrived "
            f"({', '.join(f'{each:.0%}' for each in shares)}), the other port lost {lost} of "
            f"{quiet}, longest answer {longest * 1000:.0f} ms",
            flush=True,
        )
        return share >= LEAST_SHARE and lost == 0 and longest < LONGEST_ANSWER


@contextmanager
def alone(core: int) -> Iterator[SoftwareSwitch]:
    """Run the stand-alone switch in this process, on a processor, with its addresses known."""
    switch = SoftwareSwitch(Program.load(TAP), PORTS)
    for number in PORTS:
        switch.switch.table_add("hosts", [int.from_bytes(address(number))], "to", [number])
    switch.start()
    (thread,) = (each for each in threading.enumerate() if each.name == "switches")
    assert thread.native_id is not None
    os.sched_setaffinity(thread.native_id, {core})
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
