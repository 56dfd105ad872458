"""What a flood does to the native engine, in a k = 4 fat tree. Needs root and Mininet.

python benchmarks/flood.py [--scheme ofan] [--seconds 1] [--repeat 3] [--core-shares 1 0.2]

First, the best rate that the fabric carries from one host to another through five switches. Then
floods of 2, 5 and 20 times that rate, from one host and from six at once, of full data frames and
of ACKs, while two other hosts send at a hundredth of it and the engine is asked for registers as
the prompt does. Shown are what arrived of the flood as a share of the best rate, how many of the
other hosts' frames were lost, and the longest answer. No port is limited in its rate.

Each flood runs between two runs at the best rate, and its share is of their mean: a machine is
not always equally fast. The median of `--repeat` shares counts. Generators stay off the engine's
processor and go before other programs on theirs, but are too slow for the greatest floods: what
they offered is shown. With `--core-shares`, what goes before the engine leaves it a share of its
processor, so that floods of 20 times what it carries are to be had.
"""

from __future__ import annotations

import argparse
import statistics
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
from benchmarks.processors import core_share, stand_aside
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
FIRST_RATE, GROWTH = 4_000.0, 1.3
START_SECONDS = 0.3
ASK_SECONDS = 0.1


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
    """A fabric whose switches run, and generators of frames on the other processors."""

    def __init__(self, emulation: Emulation, plan: Plan, tool: Path, seconds: float) -> None:
        """Start the switches."""
        self.emulation, self.plan, self.tool, self.seconds = emulation, plan, tool, seconds
        emulation.load(plan)
        emulation.engine.ask("start", emulation.clock(dilation=1.0, spin_ns=0))
        time.sleep(START_SECONDS)

    def run(self, flood: Sequence[Stream], paced: Sequence[Stream] = ()) -> Outcome:
        """Let all streams send at once; count and ask the engine while all of them do."""
        before = sent_frames()
        sending = [self._start(stream) for stream in [*flood, *paced]]
        time.sleep(START_SECONDS)
        first, begun, longest = sent_frames(), time.monotonic(), 0.0
        while (asked := time.monotonic()) < begun + self.seconds:
            self.emulation.engine.ask("registers", "e0_0")
            longest = max(longest, time.monotonic() - asked)
            time.sleep(ASK_SECONDS)
        last, elapsed = sent_frames(), time.monotonic() - begun
        sent = [int(process.communicate()[0]) for process in sending]
        time.sleep(START_SECONDS)
        after = sent_frames()
        others = {stream.destination for stream in paced}
        count = sum(sent[len(flood) :])
        return Outcome(
            sum(sent[: len(flood)]) / self._sending_seconds,
            self._towards(TARGET, first, last) / elapsed,
            count - sum(self._towards(host, before, after) for host in others),
            count,
            longest,
        )

    @property
    def _sending_seconds(self) -> float:
        return self.seconds + 2 * START_SECONDS

    def _start(self, stream: Stream) -> subprocess.Popen[bytes]:
        topology = self.plan.topology
        source, destination = topology.nodes[stream.source], topology.nodes[stream.destination]
        inside = ["nsenter", "--net", "--target"]
        inside.append(str(self.emulation.fabric.host_process(stream.source)))
        words = ["blast", interface(source, 0), str(SIZES[stream.kind])]
        words += [str(self._sending_seconds), str(stream.rate)]
        process = subprocess.Popen(
            [*inside, str(self.tool), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        ends = [
            (mac_text(node, topology), ipv4_text(node, topology)) for node in (source, destination)
        ]
        process.stdin.write(addressed_frame(stream.kind, *ends))
        process.stdin.close()
        process.stdin = None
        return process

    def _towards(self, host: int, before: dict[str, int], after: dict[str, int]) -> int:
        topology = self.plan.topology
        link = next(link for link in topology.links if link.lower == host)
        name = interface(topology.nodes[link.upper], link.upper_port)
        return after[name] - before[name]

    def carried(self, kind: str, rate: float) -> float:
        """Return what arrives in a second if one host sends at a rate."""
        return self.run([Stream(ONE[0], TARGET, kind, rate)]).carried

    def best(self, kind: str) -> tuple[float, float]:
        """Return the growing rate of one host at which the most arrives, and how much that is."""
        rate = FIRST_RATE
        found = [(self.carried(kind, rate), rate)]
        while max(found)[0] > rate / GROWTH:
            rate *= GROWTH
            found.append((self.carried(kind, rate), rate))
        carried, rate = max(found)
        return rate, carried

    def shares(self, kind: str, rate: float, flood: Sequence[Stream], repeat: int) -> list[Flooded]:
        """Flood between runs at the best rate; return what came of it each time."""
        paced = [Stream(*ends, kind, PACED_SHARE * rate) for ends in OTHERS]
        best, found = [self.carried(kind, rate)], []
        for _ in range(repeat):
            outcome = self.run(flood, paced)
            best.append(self.carried(kind, rate))
            found.append(Flooded(outcome, statistics.mean(best[-2:])))
        return found


@dataclass(frozen=True, slots=True)
class Flooded:
    """What came of a flood, and the best rate about that time."""

    outcome: Outcome
    best: float

    @property
    def share(self) -> float:
        """What arrived, of the best rate."""
        return self.outcome.carried / self.best


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
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--core-shares", type=float, nargs="+", default=[1.0, 0.2])
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
        good = True
        with Emulation(plan.topology, mtu_for(plan.scenario)) as emulation:
            core = stand_aside()
            bench = Bench(emulation, plan, tool, options.seconds)
            for share in options.core_shares:
                with core_share(tool, core, share):
                    print(f"The engine has {share:.0%} of its processor.")
                    for kind in SIZES:
                        good &= holds(bench, kind, options.repeat)
        return 0 if good else 1


def holds(bench: Bench, kind: str, repeat: int) -> bool:
    """Flood with one kind of frames in every way; tell whether the fabric carried its share."""
    rate, best = bench.best(kind)
    print(f"{kind} frames: at best {best:,.0f} a second through five switches")
    good = True
    for hosts in (ONE, MANY):
        for times in TIMES:
            flood = [Stream(host, TARGET, kind, times * best / len(hosts)) for host in hosts]
            found = bench.shares(kind, rate, flood, repeat)
            share = statistics.median(each.share for each in found)
            offered = statistics.median(each.outcome.offered / each.best for each in found)
            lost = sum(each.outcome.lost for each in found)
            paced = sum(each.outcome.paced for each in found)
            answer = max(each.outcome.answer_seconds for each in found)
            good &= share >= LEAST_SHARE and not lost and answer < LONGEST_ANSWER
            print(
                f"  {len(hosts)} to 1, {times:2} times (offered {offered:4.1f}): "
                f"{share:4.0%} arrived ({', '.join(f'{each.share:.0%}' for each in found)}), "
                f"others lost {lost} of {paced}, longest answer {answer * 1000:.0f} ms",
                flush=True,
            )
    return good


if __name__ == "__main__":
    sys.exit(main())
