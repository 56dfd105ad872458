"""Rings against trees: `run.py collectives`.

All-reduces of 8 B to 1 GB run in virtual time over a ring and over NCCL's double binary tree, and
are told as nccl-tests tell them: time, algorithm and bus bandwidth. Alpha and beta are fitted to
the ring's times; with them the cost model says where the ring overtakes the tree, which is drawn
beside what was measured. Then: how tree edges that cross the spine fare under several schemes, and
with --slow-host what a slow host does to either.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from environment import Parser
from errors import FAILED, writing_into
from experiments import estimate
from experiments.collectives import report, runs, tables
from experiments.ownership import hand_over, topmost_missing
from experiments.preparation import prepare
from experiments.values import names, size
from experiments.work import announcement, check_size
from testbed.scenario import Scenario
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """
examples:
  run.py collectives                                     16 ranks (k = 4), 8 B to 64 MB
  run.py collectives --k 8 --group 64 --to 1G --jobs 2   two groups of 64 ranks
  run.py collectives --slow-host 5:0.5 --to 1M           host 5 sums at half speed
"""
SPINE_MESSAGE = 4 << 20
SUMMING = 40.0  # picoseconds a byte, about what one channel of NCCL adds at


@dataclass(frozen=True, slots=True)
class Options:
    """What a command line asks for."""

    base: Scenario
    sizes: tuple[int, ...]
    schemes: tuple[str, ...]
    slow: str
    jobs: int
    out: Path
    dry_run: bool


def main(arguments: Sequence[str]) -> int:
    """Run a command line of options; returns 0, or 1 if a run has no result."""
    options = _options(arguments)
    cases = runs.cases(options.base, options.sizes, options.schemes, options.slow, SPINE_MESSAGE)
    scenarios = [case.scenario for case in cases]
    check_size(scenarios, VIRTUAL)
    if options.dry_run:
        print("\n".join(estimate.listed([case.title for case in cases])))
        print(estimate.virtual_cost(scenarios, options.jobs))
        return 0
    if line := announcement(scenarios, VIRTUAL):
        print(line, flush=True)
    prepare(scenarios, "ours")
    own = topmost_missing(options.out)
    with writing_into(options.out):
        options.out.mkdir(parents=True, exist_ok=True)
        print(tables.trees(options.base), flush=True)
        table, failed = runs.run(cases, options.jobs)
        table.to_csv(options.out / "collectives.csv", index=False)
        print(report.told(options.base, table, options.out))
        hand_over(own, options.out)
    return FAILED if failed else 0


def _options(arguments: Sequence[str]) -> Options:
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.factor < 2 or not 0 < given.least <= given.most:
        parser.error("--from, --to and --factor make no sizes")
    if given.reduce_ps_per_byte is None:
        given.reduce_ps_per_byte = SUMMING if given.slow_host else 0.0
    costs: dict[str, float | str] = {
        "alpha_ns": given.alpha_ns,
        "reduce_ps_per_byte": given.reduce_ps_per_byte,
        "group": given.group,
    }
    chunk = given.chunk if given.chunk == "nccl" else size(given.chunk)
    base = Scenario(
        scheme=given.scheme,
        k=given.k,
        seed=given.seed,
        rate_gbps=given.rate,
        payload_bytes=given.payload,
        workload="double-tree",
        workload_options={**costs, "chunk": chunk},
    )
    sizes, step = [], given.least
    while step < given.most:
        sizes.append(step)
        step *= given.factor
    return Options(
        base=base,
        sizes=(*sizes, given.most),
        schemes=tuple(given.schemes),
        slow=given.slow_host,
        jobs=given.jobs,
        out=given.out,
        dry_run=given.dry_run,
    )


def _parser() -> Parser:
    parser = Parser(
        prog="run.py collectives",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--k", type=int, default=4, help="ports of a switch (4)")
    parser.add_argument("--group", type=int, default=0, help="ranks of a group (all hosts)")
    parser.add_argument("--from", dest="least", type=size, default=8, help="smallest (8)")
    parser.add_argument("--to", dest="most", type=size, default=64 << 20, help="largest (64M)")
    parser.add_argument("--factor", type=int, default=4, help="from size to size (4)")
    parser.add_argument("--rate", type=float, default=200.0, help="Gb/s of a link (200)")
    parser.add_argument("--alpha-ns", type=float, default=10_000.0, help="of a message (10000)")
    parser.add_argument(
        "--reduce-ps-per-byte",
        type=float,
        help=f"what a sum takes (0; {SUMMING:g} with --slow-host, 25 GB/s)",
    )
    parser.add_argument("--payload", type=size, default=4096, help="of a packet (4096)")
    parser.add_argument("--chunk", default="nccl", help="of trees: nccl, or a size (nccl)")
    parser.add_argument("--scheme", default="ofan", help="of the table (ofan)")
    parser.add_argument(
        "--schemes",
        type=names,
        default=["ecmp", "reps", "ar", "ofan"],
        help="that the spine's edges are tried under (ecmp,reps,ar,ofan)",
    )
    parser.add_argument(
        "--slow-host",
        default="",
        metavar="HOST:SPEED",
        help="a host that sums at so much of the others' speed",
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (1)")
    parser.add_argument("--out", type=Path, default=Path("results") / "collectives")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and how long")
    return parser
