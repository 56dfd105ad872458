"""A training step: `run.py step`.

One step (forward and backward) of a language model under FSDP2 with hybrid sharding, and with
expert parallelism where the model has experts, runs in virtual time under each scheme. Told are the
time of a step, what of it is computation, the communication that computation does not hide
(exposed), how much of that any scheme would have (at the bound), and what the scheme adds to the
bound, in per cent. With several training jobs on the network, the slowest job counts, and
--placements says how their servers lie: packed, random, round-robin.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from environment import Parser
from errors import FAILED, UserError, writing_into
from experiments import estimate
from experiments.options import add_topology
from experiments.ownership import hand_over, topmost_missing
from experiments.preparation import prepare
from experiments.step import report, runs
from experiments.values import assignment, names, seeds, size
from experiments.work import announcement, check_size
from testbed import hosts, networks
from testbed.scenario import Scenario, SpreadName
from testbed.scenario.files import VIRTUAL
from traffic.collectives.training.jobs import PLACEMENTS
from traffic.collectives.training.step import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

EXAMPLES = """
examples:
  run.py step --schemes ecmp,ar,ofan --tokens 1024           Llama 3 8B, 2 layers, k = 4
  run.py step --k 8 --server 8 --training-jobs 4 --placements packed,random --jobs 2
"""
WORKLOAD = "training-step"
SCHEMES = ["ecmp", "reps", "ar", "ofan"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a command line asks for."""

    scenarios: tuple[Scenario, ...]
    jobs: int
    out: Path
    dry_run: bool


def main(arguments: Sequence[str]) -> int:
    """Run a command line of options; returns 0, or 1 if a run has no result."""
    options = _options(arguments)
    check_size(options.scenarios, VIRTUAL, options.jobs)
    if options.dry_run:
        print("\n".join(estimate.listed([runs.title_of(each) for each in options.scenarios])))
        print(estimate.virtual_cost(options.scenarios, options.jobs))
        return 0
    if line := announcement(options.scenarios, VIRTUAL):
        print(line, flush=True)
    prepare(options.scenarios, "ours")
    own = topmost_missing(options.out)
    with writing_into(options.out):
        options.out.mkdir(parents=True, exist_ok=True)
        table, failed = runs.run_steps(options.scenarios, options.jobs)
        if not table.empty:
            table.to_csv(options.out / "step.csv", index=False)
            print(report.told(table, options.out))
        hand_over(own, options.out)
    return FAILED if failed else 0


def _options(arguments: Sequence[str]) -> Options:
    given = _parser().parse_args(arguments)
    for name in given.placements:
        if name not in PLACEMENTS:
            raise UserError(f"--placements {name}: there are {', '.join(PLACEMENTS)}")
    chosen: dict[str, float | str] = {
        "model": given.model,
        "layers": given.layers,
        "tokens": given.tokens,
        "tflops": given.tflops,
        "efficiency": given.efficiency,
        "replicas": given.replicas,
        "server": given.server,
        "jobs": given.training_jobs,
        **dict(given.workload_option),
    }
    scenarios = tuple(
        Scenario(
            scheme=scheme,
            k=given.k,
            seed=seed,
            **{"rate_gbps": given.rate, **networks.chosen(given.topology)},
            spread=given.spread,
            payload_bytes=given.payload,
            ecn_bytes=given.ecn,
            cca=given.cca,
            workload=WORKLOAD,
            workload_options={**chosen, "placement": placement},
        )
        for placement in given.placements
        for scheme in given.schemes
        for seed in given.seeds
    )
    return Options(scenarios, given.jobs, given.out, given.dry_run)


def _parser() -> Parser:
    parser = Parser(
        prog="run.py step",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    step = parser.add_argument_group("the step")
    step.add_argument("--model", default="8b", help=f"{OPTIONS['model']} (8b)")
    step.add_argument("--layers", default="2", help="so many, or all (2)")
    step.add_argument("--tokens", type=int, default=8192, help="of one sequence, a GPU (8192)")
    step.add_argument("--tflops", type=float, default=989.0, help="of a GPU (989, an H100)")
    step.add_argument("--efficiency", type=float, default=0.4, help="share of them (0.4)")
    step.add_argument("--server", type=int, default=4, help="GPUs of a server (4)")
    step.add_argument("--replicas", type=int, default=1, help="of the sharded model (1)")
    step.add_argument("--training-jobs", type=int, default=1, help="on the network at once (1)")
    step.add_argument(
        "--placements", type=names, default=["packed"], help=f"{','.join(PLACEMENTS)} (packed)"
    )
    step.add_argument(
        "--workload-option",
        type=assignment,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="any other option of workload training-step, as run.py --list shows them",
    )
    network = parser.add_argument_group("the network")
    network.add_argument("--schemes", type=names, default=SCHEMES, help=f"({','.join(SCHEMES)})")
    network.add_argument("--seeds", type=seeds, default=[1], help="a count, or a list (1)")
    network.add_argument("--k", type=int, default=4, help="ports of a switch (4)")
    add_topology(network)
    network.add_argument(
        "--spread",
        choices=get_args(SpreadName),
        default="stripe",
        help="over the planes of a network that has several (stripe)",
    )
    network.add_argument("--rate", type=float, default=800.0, help="Gb/s of a link (800)")
    network.add_argument("--payload", type=size, default=4096, help="of a packet (4096)")
    network.add_argument("--ecn", type=size, default=80_000, help="queue that marks (80000)")
    network.add_argument(
        "--cca", default="none", help=f"{', '.join(each.name for each in hosts.CONGESTIONS)} (none)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at once (1)")
    parser.add_argument("--out", type=Path, default=Path("results") / "step")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and how long")
    return parser
