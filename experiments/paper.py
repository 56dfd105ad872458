"""Run the paper's figures: `run.py fig4 --quick`, `run.py fig1 fig3 --jobs 2`, `run.py paper`.

A figure is a sweep of scenarios, each run in virtual time with several seeds. Points that are
finished are kept and not run again, whatever interrupted the rest. Then the figure is drawn, and
its claims are compared with what came out.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from errors import FAILED, UserError, code_of, writing_into
from experiments import estimate, reproduction
from experiments.figures import FIGURES
from experiments.looks import looks
from experiments.options import own_schemes
from experiments.out import check, claimed
from experiments.ownership import hand_over, topmost_missing
from experiments.paper_options import Options, parse
from experiments.points import Point, kept_row
from experiments.preparation import prepare
from experiments.running import Means, run_points, table_of
from testbed.scenario import Scenario, to_toml

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.figures import Claim, Figure


@dataclass(frozen=True, slots=True)
class Made:
    """A figure that was drawn: its files, its claims as they came out, and what it took.

    `failed` tells how many of its points have no result, `seeds` how many runs its scenarios have,
    such as `3 to 10`.
    """

    figure: Figure
    pictures: tuple[Path, ...]
    claims: tuple[Claim, ...]
    runs: int
    failed: int
    seeds: str
    minutes: float


def main(arguments: Sequence[str]) -> int:
    """Run a command line of figures' names and options; returns the exit code.

    0 if every point has a result (whether or not the claims hold), 1 if points failed. Raises
    UserError for bad input.
    """
    options = parse(arguments, {figure.name: figure.title for figure in FIGURES})
    check(options.out)
    if options.dry_run:
        asked = [figure for figure in FIGURES if figure.name in options.figures]
        points = [point for figure in asked for point in points_of(figure, options)]
        print(estimate.of_points(points, Means(options.out, options.jobs)))
        return 0
    try:
        with writing_into(options.out), claimed(options.out):
            return _run(options)
    except KeyboardInterrupt as stop:
        sys.stderr.write("interrupted; finished points are kept, the same command goes on\n")
        return code_of(stop)


def points_of(figure: Figure, options: Options) -> list[Point]:
    """List a figure's points: each scenario of its sweep with each seed."""
    count = options.seeds or (figure.quick_seeds if options.quick else figure.seeds)
    scenarios = figure.sweep(options.quick)
    scenarios = [*scenarios, *_with_own(scenarios, options.scheme_files)]
    return [
        Point(replace(scenario, seed=seed))
        for seed in range(1, count + 1)
        for scenario in scenarios
    ]


def _with_own(scenarios: Sequence[Scenario], files: Sequence[Path]) -> list[Scenario]:
    """Return what a sweep varies, once for each of the user's own schemes."""
    own = [
        replace(scenario, scheme=scheme.name, scheme_file=scheme.file, parameters={}, mix=None)
        for scheme in own_schemes(files)
        for scenario in scenarios
    ]
    return list({to_toml(scenario): scenario for scenario in own}.values())


def make_figure(figure: Figure, options: Options) -> Made:
    """Run what is missing of a figure, draw it, and compare its claims with what came out.

    Raises UserError if none of its points has a result.
    """
    points = points_of(figure, options)
    means = Means(options.out, options.jobs, options.cluster, options.keep)
    errors = {} if options.plot_only else run_points(points, means)
    table = table_of(points, means)
    if points and table.empty:
        reason = next(iter(errors.values()), "nothing was run yet")
        raise UserError(f"{figure.name}: no point has a result: {reason}")
    stem = options.out / figure.name
    scenarios = [point.scenario for point in points]
    pictures = figure.plot(table, looks(scenarios), stem)
    table.to_csv(options.out / f"{figure.name}.csv", index=False)
    return Made(
        figure=figure,
        pictures=tuple(pictures),
        claims=tuple(figure.claims(table)),
        runs=len(table),
        failed=len(points) - len(table),
        seeds=_seeds(points, means),
        minutes=float(table["seconds"].sum()) / 60 if len(table) else 0.0,
    )


def _seeds(points: Sequence[Point], means: Means) -> str:
    finished = [point for point in points if kept_row(means.points / point.key) is not None]
    kept = Counter(to_toml(replace(point.scenario, seed=0)) for point in finished)
    fewest, most = min(kept.values(), default=0), max(kept.values(), default=0)
    return str(most) if fewest == most else f"{fewest} to {most}"


def _run(options: Options) -> int:
    prepare(
        [
            Scenario(scheme=scheme.name, scheme_file=scheme.file)
            for scheme in own_schemes(options.scheme_files)
        ]
    )
    own = topmost_missing(options.out)
    options.out.mkdir(parents=True, exist_ok=True)
    made, left_out = [], []
    for figure in FIGURES:
        if figure.name not in options.figures:
            continue
        print(f"{figure.name}: {figure.title}")
        if options.page and options.plot_only and not _begun(figure, options):
            left_out.append(figure)
            print("  nothing was run yet: left out")
            continue
        made.append(make_figure(figure, options))
        _tell(made[-1])
    if options.page:
        page = reproduction.write_page(options.out, made, left_out, quick=options.quick)
        print(f"\n{page}")
    hand_over(own, options.out)
    return FAILED if any(figure.failed for figure in made) else 0


def _tell(made: Made) -> None:
    for claim in made.claims:
        print(f"  {claim}")
    failed = f", {made.failed} points FAILED (run again to retry)" if made.failed else ""
    print(f"  {made.runs} runs{failed}; {', '.join(str(path) for path in made.pictures)}")


def _begun(figure: Figure, options: Options) -> bool:
    points = points_of(figure, options)
    folder = options.out / "points"
    return not points or any(kept_row(folder / point.key) is not None for point in points)
