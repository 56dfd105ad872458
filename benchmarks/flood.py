"""What a flood does to the native engine, in a k = 4 fat tree. Needs root and Mininet.

python benchmarks/flood.py [--scheme ofan] [--seconds 1.5]

First, the best rate that the fabric carries from one host to another through five switches. Then
floods of 2, 5 and 20 times that rate, from one host and from six at once, of full data frames and
of ACKs, while two other hosts send at a hundredth of it and the engine is asked for registers as
the prompt does. Shown are what arrived of the flood as a share of the best rate, how many of the
other hosts' frames were lost, and the longest answer. No port is limited in its rate. Generators
have the second processor for themselves, which may be too slow for the greatest floods: what they
offered is shown.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.bmv2 import sent_frames
from benchmarks.veth import SIZES, addressed_frame
from p4.codegen.build import compiler_command
from testbed.addressing import ipv4_text, mac_text
from testbed.mininet import sandbox
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import interface

if TYPE_CHECKING:
    from collections.abc import Sequence

    from testbed.mininet.emulation import Emulation
    from testbed.plan import Plan

HERE = Path(__file__).resolve().parent
ONE, MANY, TARGET = (0,), (0, 2, 4, 6, 8, 10), 15
OTHERS = ((1, 14), (5, 12))
TIMES = (2, 5, 20)
PACED_SHARE, LEAST_SHARE, LONGEST_ANSWER = 0.01, 0.8, 1.0
FIRST_RATE, GROWTH = 10_000.0, 1.3
SETTLE_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class Stream:
    """Frames of a kind from one host to another, at `rate` a second (0: as fast as it goes)."""

    source: int
    destination: int
    kind: str
    rate: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Frames a second offered to and carried by the fabric, others' lost, the longest answer."""

    offered: float
    carried: float
    lost: int
    paced: int
    answer_seconds: float


class Bench:
    """A fabric whose switches run, and a generator of frames."""

    def __init__(self, emulation: Emulation, plan: Plan, tool: Path, seconds: float) -> None:
        """Start the switches."""
        self.emulation, self.plan, self.tool, self.seconds = emulation, plan, tool, seconds
        emulation.load(plan)
        emulation.engine.ask("start", emulation.clock(dilation=1.0, spin_ns=0))
        time.sleep(SETTLE_SECONDS)

    def run(self, flood: Sequence[Stream], paced: Sequence[Stream] = ()) -> Outcome:
        """Let all streams send at once; ask the engine meanwhile, as the prompt does."""
        before = sent_frames()
        sending = [self._start(stream) for stream in [*flood, *paced]]
        begun, longest = time.monotonic(), 0.0
        while any(process.poll() is None for process in sending):
            asked = time.monotonic()
            self.emulation.engine.ask("registers", "e0_0")
            longest = max(longest, time.monotonic() - asked)
            time.sleep(0.1)
        elapsed = time.monotonic() - begun
        arrived = sent_frames()
        sent = [int(process.communicate()[0]) for process in sending]
        time.sleep(SETTLE_SECONDS)
        after = sent_frames()
        carried = self._towards(TARGET, arrived) - self._towards(TARGET, before)
        others = {stream.destination for stream in paced}
        reached = sum(self._towards(host, after) - self._towards(host, before) for host in others)
        count = sum(sent[len(flood) :])
        return Outcome(
            sum(sent[: len(flood)]) / self.seconds,
            carried / elapsed,
            count - reached,
            count,
            longest,
        )

    def _start(self, stream: Stream) -> subprocess.Popen[bytes]:
        topology = self.plan.topology
        source, destination = topology.nodes[stream.source], topology.nodes[stream.destination]
        inside = ["nsenter", "--net", "--target"]
        inside.append(str(self.emulation.fabric.host_process(stream.source)))
        words = ["blast", interface(source, 0), str(SIZES[stream.kind]), str(self.seconds)]
        process = subprocess.Popen(
            [*inside, str(self.tool), *words, str(stream.rate)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin is not None
        ends = [
            (mac_text(node, topology), ipv4_text(node, topology)) for node in (source, destination)
        ]
        process.stdin.write(addressed_frame(stream.kind, *ends))
        process.stdin.close()
        process.stdin = None
        return process

    def _towards(self, host: int, counts: dict[str, int]) -> int:
        topology = self.plan.topology
        link = next(link for link in topology.links if link.lower == host)
        return counts[interface(topology.nodes[link.upper], link.upper_port)]

    def best(self, kind: str) -> float:
        """Return the most that arrives in a second, over growing rates of one host."""
        rate, best = FIRST_RATE, 0.0
        while True:
            found = self.run([Stream(ONE[0], TARGET, kind, rate)])
            best = max(best, found.carried)
            if found.carried < found.offered / GROWTH:
                return best
            rate *= GROWTH


def main() -> int:
    """Measure in a sandbox; 1 if a flood took more than it may."""
    if reason := sandbox.why_not():
        sys.stderr.write(f"flood.py: {reason}\n")
        return 2
    return sandbox.run_inside(partial(measure, parse()))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scheme", default="ofan")
    parser.add_argument("--seconds", type=float, default=1.5)
    return parser.parse_args()


def measure(options: argparse.Namespace) -> int:
    """Print a line for each flood."""
    from testbed.mininet.emulation import Emulation  # noqa: PLC0415 - imports Mininet
    from testbed.mininet.network import mtu_for  # noqa: PLC0415

    plan = plan_for(Scenario(scheme=options.scheme))
    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "veth"
        source = str(HERE / "veth.c")
        command = [compiler_command(), "-O2", "-D_GNU_SOURCE", "-o", str(tool), source]
        subprocess.run(command, check=True)
        with Emulation(plan.topology, mtu_for(plan.scenario)) as emulation:
            bench = Bench(emulation, plan, tool, options.seconds)
            return 0 if all([holds(bench, kind) for kind in SIZES]) else 1  # noqa: C419 - all


def holds(bench: Bench, kind: str) -> bool:
    """Flood with one kind of frames in every way; tell whether the fabric carried its share."""
    best = bench.best(kind)
    print(f"{kind} frames: at best {best:,.0f} a second through five switches")
    good = True
    for hosts in (ONE, MANY):
        for times in TIMES:
            flood = [Stream(host, TARGET, kind, times * best / len(hosts)) for host in hosts]
            paced = [Stream(*ends, kind, PACED_SHARE * best) for ends in OTHERS]
            found = bench.run(flood, paced)
            share = found.carried / best
            good &= share >= LEAST_SHARE and not found.lost
            good &= found.answer_seconds < LONGEST_ANSWER
            print(
                f"  {len(hosts)} to 1, {times:2} times (offered {found.offered / best:4.1f}): "
                f"{share:4.0%} arrived, others lost {found.lost} of {found.paced}, "
                f"longest answer {found.answer_seconds * 1000:.0f} ms"
            )
    return good


if __name__ == "__main__":
    sys.exit(main())
