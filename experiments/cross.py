"""The same scenarios in several worlds: `run.py cross`.

Every scheme, message size and congestion control runs in each world; drawn side by side, with the
difference to the first world and how far the rankings of schemes agree.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.agreement import paired, ranking
from analysis.figures.style import PAGE, draw, legend_above
from analysis.figures.worlds import agreement, worlds
from analysis.summary import read_all, summarise, write_summary
from errors import UserError, near, telling, writing_into
from experiments import dry_run
from experiments.looks import looks
from experiments.options import add_scheme_file, own_schemes
from experiments.out import check, claimed, folder_of
from experiments.ownership import hand_over
from experiments.preparation import prepare
from experiments.progress import RunProgress
from experiments.session import Session
from experiments.values import folder, names, positive, seeds, size
from experiments.work import announcement, check_size
from experiments.world import open_world
from testbed import schemes
from testbed.bmv2.client import require_installed
from testbed.hosts import congestion
from testbed.mininet import sandbox
from testbed.scenario import Scenario
from testbed.scenario.files import BMV2, MANIFEST, MININET, VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from matplotlib.figure import Figure

    from analysis.figures.style import Look
    from testbed.plan import Plan

WORLDS = (VIRTUAL, MININET, BMV2)
SUMMARY = "cross.csv"
EPILOG = """\
Runs that have a result in the folder already are not run again.

examples:
  run.py cross --schemes ecmp,rsq,ofan --messages 256KB --seeds 2
  run.py cross --on virtual,bmv2 --schemes ofan --out results/bmv2"""


@dataclass(frozen=True, slots=True)
class Crossing:
    """Plans to run in each world, the first being the reference, and where results go.

    With `dry_run` they are only told.
    """

    worlds: tuple[str, ...]
    plans: tuple[Plan, ...]
    dilation: float | None
    out: Path
    dry_run: bool

    def folder(self, world: str, plan: Plan) -> Path:
        """Return the folder of a plan's message size and congestion control in a world."""
        scenario = plan.scenario
        cca = "" if scenario.cca == "none" else f"-{scenario.cca}"
        return self.out / world / f"{scenario.message_bytes}{cca}"

    def done(self, world: str, plan: Plan) -> bool:
        """Tell whether a plan has a result in a world already."""
        return (folder_of(self.folder(world, plan), plan.scenario, world) / MANIFEST).exists()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message)


def main(arguments: Sequence[str]) -> int:
    """Run a command line of options; returns 0, or 1 if a run has no result."""
    crossing = _crossing(arguments)
    check(crossing.out)

    def work() -> int:
        if crossing.dry_run:
            for world in crossing.worlds:
                _tell(crossing, world)
            return 0
        with writing_into(crossing.out), claimed(crossing.out):
            failed = sum(_run_world(crossing, world) for world in crossing.worlds)
            _show(crossing)
            hand_over(crossing.out)
        return 1 if failed else 0

    if set(crossing.worlds) == {VIRTUAL}:
        return work()
    if reason := sandbox.why_not():
        raise UserError(f"cross needs Mininet: {reason}")
    return sandbox.run_inside(lambda: telling("run.py", work))


def _crossing(arguments: Sequence[str]) -> Crossing:
    given = _parser().parse_args(arguments)
    if unknown := [world for world in given.on if world not in WORLDS]:
        raise UserError(f"world {unknown[0]} is unknown{near(unknown[0], WORLDS)}")
    if BMV2 in given.on:
        require_installed()
    chosen = [*(schemes.find(name) for name in given.schemes), *own_schemes(given.scheme_file)]
    scenarios = [
        Scenario(
            scheme=scheme.name,
            scheme_file=scheme.file,
            seed=seed,
            k=given.k,
            message_bytes=message,
            cca=cca,
            buffer_bytes=given.buffer,
        )
        for message in given.messages
        for cca in given.cca
        for seed in given.seeds
        for scheme in chosen
    ]
    for world in given.on:
        check_size(scenarios, world)
        if line := announcement(scenarios, world):
            print(f"{world}: {line}", flush=True)
    plans = tuple(prepare(scenarios))
    return Crossing(tuple(given.on), plans, given.dilation, given.out, given.dry_run)


def _parser() -> _Parser:
    parser = _Parser(
        prog="run.py cross",
        description="Run the same scenarios in several worlds and compare what comes out.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--on",
        type=names,
        default=list(WORLDS[:2]),
        metavar="WORLD,...",
        help=f"of {', '.join(WORLDS)}; the first is the reference (default: virtual,mininet)",
    )
    parser.add_argument(
        "--schemes",
        type=names,
        default=list(schemes.names()),
        metavar="NAME,...",
        help="(default: all)",
    )
    add_scheme_file(parser)
    parser.add_argument(
        "--messages",
        type=lambda text: [size(part) for part in names(text)],
        default=[1 << 18, 1 << 20],
        metavar="BYTES,...",
        help="sizes of messages (default: 256KB,1MB)",
    )
    parser.add_argument("--k", type=int, default=4, metavar="N", help="ports (default: 4)")
    parser.add_argument(
        "--cca",
        type=names,
        default=["none"],
        metavar="NAME,...",
        help="congestion control of hosts (default: none; run.py --list has all)",
    )
    parser.add_argument(
        "--buffer", type=size, metavar="BYTES", help="of each queue (default: unlimited)"
    )
    parser.add_argument(
        "--seeds", type=seeds, default=[1, 2, 3], metavar="N", help="a count or a list (default: 3)"
    )
    parser.add_argument(
        "--dilation", type=positive, metavar="X", help="how many times slower (default: chosen)"
    )
    parser.add_argument(
        "--out",
        type=folder,
        default=Path("results") / "cross",
        metavar="FOLDER",
        help="folder for results (default: results/cross)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would run, how long and how large it is"
    )
    return parser


def _tell(crossing: Crossing, world: str) -> None:
    """Say what would run in a world, and what that costs."""
    number = len(crossing.plans)
    missing = [plan for plan in crossing.plans if not crossing.done(world, plan)]
    print(f"{number:,} runs in {world}, {len(missing):,} of them to run, into {crossing.out}")
    if missing:
        print(dry_run.told(missing, world, crossing.dilation, jobs=1), flush=True)


def _run_world(crossing: Crossing, name: str) -> int:
    """Run what has no result yet in one world; returns how many runs failed."""
    world, failed = open_world(name), 0
    try:
        with RunProgress(len(crossing.plans)) as progress:
            for plan in crossing.plans:
                if crossing.done(name, plan):
                    progress.finish()
                    continue
                out = crossing.folder(name, plan)
                session = Session(world, name, crossing.dilation, out, progress)
                failed += not session.run(plan)
    finally:
        world.close()
    return failed


def _show(crossing: Crossing) -> None:
    table = pd.concat(
        [summarise(read_all(crossing.out / world)) for world in crossing.worlds], ignore_index=True
    )
    write_summary(table, crossing.out / SUMMARY)
    known = looks(plan.scenario for plan in crossing.plans)
    picture = draw(crossing.out / "cross", lambda figure: _plot(figure, table, known), width=PAGE)
    print(f"{len(table)} runs; {picture}")
    for other in crossing.worlds[1:]:
        _compare(table, crossing.worlds[0], other)


def _compare(table: pd.DataFrame, reference: str, other: str) -> None:
    pairs = paired(table, reference, other)
    if pairs.empty:
        sys.stdout.write(f"{other}: no scenario has a valid run in both worlds\n")
        return
    ranks = ranking(pairs)
    worst = pairs["error"].abs().max()
    sys.stdout.write(
        f"{other} against {reference}: CCT {pairs['error'].mean():+.2%} on average, at most "
        f"{worst:.2%} off; {ranks.alike} of {ranks.pairs} pairs of schemes ranked alike\n"
    )


def _plot(figure: Figure, table: pd.DataFrame, known: dict[str, Look]) -> None:
    keys = table[["message_bytes", "cca"]].drop_duplicates()
    parts = list(keys.itertuples(index=False, name=None))
    panels = figure.subplots(1, len(parts) + 1, squeeze=False)[0]
    with_cca = set(table["cca"]) != {"none"}
    for panel, (message, cca) in zip(panels, parts, strict=False):
        rows = table[(table["message_bytes"] == message) & (table["cca"] == cca)]
        worlds(panel, rows, known, legend=False)
        title = f"{message / (1 << 20):g} MB messages"
        panel.set_title(f"{title}, {congestion(cca).label}" if with_cca else title)
    agreement(panels[-1], table, known)
    legend_above(panels[0])
