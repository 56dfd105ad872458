"""How long emulated fabrics take to come up and go down: `python benchmarks/fabric.py [K ...]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from testbed.mininet import sandbox
from testbed.topology import fat_tree


def measure(k: int) -> str:
    """Start and stop a fat tree, and describe it in a line."""
    from testbed.mininet import network  # noqa: PLC0415 - imports Mininet

    topology = fat_tree(k)
    begun = time.monotonic()
    fabric = network.start(topology, network.LEAST_MTU)
    up = time.monotonic()
    fabric.stop()
    down = time.monotonic()
    return (
        f"k = {k}: {topology.hosts} hosts, {len(topology.switches)} switches, "
        f"{len(topology.links)} links: up in {up - begun:.2f} s, down in {down - up:.2f} s"
    )


def main() -> int:
    """Measure the sizes named on the command line."""
    for k in [int(word) for word in sys.argv[1:]] or [4, 8]:
        print(measure(k))
    return 0


if __name__ == "__main__":
    sys.exit(sandbox.run_inside(main))
