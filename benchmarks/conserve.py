"""Conservation over many random scenarios: every packet once, or the run says why not.

python benchmarks/conserve.py [--runs 10000] [--first 1]

Each number stands for one scenario (k = 4; every scheme, CCA and recovery, buffers of 1 to 200
packets, losses, links that fail, trimming, ACK priority). Ends with 1 at the first that breaks
what `tests/testbed/virtual/conserving.py` checks, and prints it.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from testbed.scenario import to_toml
from tests.testbed.virtual.conserving import drawn, run_and_check

TELL_EVERY = 500


def main() -> int:
    """Run the scenarios of the numbers that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=1, help="number of the first scenario")
    options = parser.parse_args()
    begin, ends, slowest = time.monotonic(), collections.Counter[str](), 0.0
    for number in range(options.first, options.first + options.runs):
        chance = random.Random(number)
        scenario = drawn(chance.choice, chance.randint)
        started = time.monotonic()
        try:
            ends[run_and_check(scenario, threads=chance.choice([1, 2])).name.lower()] += 1
        except AssertionError as error:
            print(f"scenario {number} does not conserve: {error}\n\n{to_toml(scenario)}")
            return 1
        slowest = max(slowest, time.monotonic() - started)
        if ends.total() % TELL_EVERY == 0 or ends.total() == options.runs:
            told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
            took = time.monotonic() - begin
            print(f"{ends.total()} runs: {told}; {took:.0f} s, slowest {slowest:.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
