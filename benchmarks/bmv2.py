"""The native engine against BMv2's simple_switch in a k = 4 fat tree. Needs root and Mininet.

python benchmarks/bmv2.py [--scheme ofan] [--seconds 2] [--repeat 3]

The first host floods the last one with data frames, through five switches. Counted are the frames
that arrive, and the processor time of all switches for each frame that one of them sends. Both
worlds have the same fabric, programs and entries, and no rate limits; the generator, and whatever
else runs, has its share of the processors. The best of `--repeat` counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.veth import SIZES, frame
from p4.codegen.build import compiler_command
from testbed.bmv2.client import require_installed
from testbed.bmv2.errors import Bmv2Error
from testbed.bmv2.process import version
from testbed.mininet import sandbox
from testbed.planning import plan_for
from testbed.scenario import Scenario
from testbed.topology import interface

if TYPE_CHECKING:
    from testbed.mininet.emulation import Emulation
    from testbed.plan import Plan
    from testbed.topology import Topology

HERE = Path(__file__).resolve().parent
WANTED = 5.0
SETTLE_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Speed:
    """Frames a second through the fabric, and processor time of a switch for each it sends."""

    per_second: float
    hop_ns: float


def main() -> int:
    """Measure both and print their ratio; one line where simple_switch is missing."""
    options = parse()
    try:
        require_installed()
    except Bmv2Error as error:
        print(f"bmv2.py: {error}")
        return 0
    return sandbox.run_inside(partial(compare, options))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scheme", default="ofan")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--repeat", type=int, default=3)
    return parser.parse_args()


def compare(options: argparse.Namespace) -> int:
    """Measure both worlds; print a line for each, and the ratios."""
    from testbed.bmv2.emulation import Bmv2Emulation  # noqa: PLC0415 - imports Mininet
    from testbed.mininet.emulation import Emulation  # noqa: PLC0415

    plan = plan_for(Scenario(scheme=options.scheme))
    own = best("native engine", Emulation, plan, options)
    other = best(f"simple_switch {version()}", Bmv2Emulation, plan, options)
    faster, cheaper = own.per_second / other.per_second, other.hop_ns / own.hop_ns
    print(f"{faster:.1f} times the frames a second, {cheaper:.1f} times less processor time a hop")
    return 0 if faster >= WANTED else 1


def best(name: str, world: type[Emulation], plan: Plan, options: argparse.Namespace) -> Speed:
    """Return and print the best of several floods in a world."""
    from testbed.mininet.network import mtu_for  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        tool = Path(folder) / "veth"
        source = str(HERE / "veth.c")
        command = [compiler_command(), "-O2", "-D_GNU_SOURCE", "-o", str(tool), source]
        subprocess.run(command, check=True)
        with world(plan.topology, mtu_for(plan.scenario)) as emulation:
            found = [flood(emulation, plan, tool, options.seconds) for _ in range(options.repeat)]
    speed = Speed(max(each.per_second for each in found), min(each.hop_ns for each in found))
    print(
        f"{name}, {options.scheme}: {speed.per_second:,.0f} frames/s through five switches,"
        f" {speed.hop_ns:,.0f} ns of processor time a switch hop"
    )
    return speed


def flood(emulation: Emulation, plan: Plan, tool: Path, seconds: float) -> Speed:
    """Load the plan, flood the last host from the first, and see what the switches sent."""
    emulation.load(plan)
    emulation.engine.ask("start", emulation.clock(dilation=1.0, spin_ns=0))
    time.sleep(SETTLE_SECONDS)
    before, spent = sent_frames(), emulation.engine.ask("processor_ns")
    source = plan.topology.nodes[0]
    inside = ["nsenter", "--net", "--target", str(emulation.fabric.host_process(0))]
    blast = [str(tool), "blast", interface(source, 0), str(SIZES["data"]), str(seconds)]
    begun = time.monotonic()
    subprocess.run([*inside, *blast], input=frame("data"), stdout=subprocess.DEVNULL, check=True)
    elapsed = time.monotonic() - begun
    arrived = sent_frames()
    time.sleep(SETTLE_SECONDS)
    after, spent = sent_frames(), emulation.engine.ask("processor_ns") - spent
    emulation.engine.ask("halt")
    last = interface_to_last_host(plan.topology)
    hops = sum(after[name] - before[name] for name in after)
    return Speed((arrived[last] - before[last]) / elapsed, spent / max(hops, 1))


def sent_frames() -> dict[str, int]:
    """Return how many frames each port of the switches has sent."""
    command = ["ip", "-json", "-statistics", "link", "show", "type", "veth"]
    shown = subprocess.run(command, capture_output=True, check=True).stdout
    return {link["ifname"]: link["stats64"]["tx"]["packets"] for link in json.loads(shown)}


def interface_to_last_host(topology: Topology) -> str:
    """Return the name of the switch's interface that leads to the last host."""
    link = next(link for link in topology.links if link.lower == topology.hosts - 1)
    return interface(topology.nodes[link.upper], link.upper_port)


if __name__ == "__main__":
    sys.exit(main())
