"""What a small run costs from the command to the page, against importing what it draws with.

python benchmarks/startup.py [--repeat 3]

One scheme, k = 4, 64 KB, in virtual time. Both take turns, each in a process of its own, and the
best of `--repeat` counts. Processor time is what other work on the machine disturbs least.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = "import numpy, pandas, matplotlib.pyplot"
SMALL = ["--on", "virtual", "--schemes", "ofan", "--seeds", "1", "--message", "64KB"]
COMMAND = ["experiments/run.py", *SMALL, "--out"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process took, in seconds: of the clock, and of processors."""

    clock: float
    processor: float


def main() -> None:
    """Print both costs and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as out:
        commands = {
            "the libraries": ["-c", LIBRARIES],
            "and all of ours": ["-c", f"{LIBRARIES}, experiments.job"],
            "the run to its page": [*COMMAND, out],
        }
        cost_of(commands["the run to its page"])  # compiles what is not in the cache
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(repeat):
            for name, words in commands.items():
                costs[name].append(cost_of(words))
    libraries = best(costs["the libraries"])
    print(f"{'':20}{'clock s':>10}{'processor s':>13}{'ratio of processor time':>26}")
    for name, measured in costs.items():
        least = best(measured)
        ratio = least.processor / libraries.processor
        print(f"{name:20}{least.clock:10.2f}{least.processor:13.2f}{ratio:26.2f}")


def cost_of(words: list[str]) -> Cost:
    """Run the project's Python with these arguments; raises RuntimeError if it fails."""
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{words} ended with {process.returncode}")
    return Cost(time.monotonic() - begun, used.ru_utime + used.ru_stime)


def best(costs: list[Cost]) -> Cost:
    """Return the least of several costs, each kind by itself."""
    return Cost(min(cost.clock for cost in costs), min(cost.processor for cost in costs))


if __name__ == "__main__":
    main()
