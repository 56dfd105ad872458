"""Any fields of a scenario as lists or ranges, to one table and a figure: `run.py sweep`."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import Parser
from errors import FAILED, UserError, code_of, near, writing_into
from experiments.grid import assigned_values, span, spread, values_of
from experiments.options import (
    PLAIN,
    add_scheme_file,
    add_topology,
    check_parameter,
    own_schemes,
)
from experiments.out import check, claimed
from experiments.ownership import hand_over, topmost_missing
from experiments.values import count, folder, metavar_of, names, option_of, seeds, shown
from testbed import networks, schemes
from testbed.scenario import Scenario, from_toml
from testbed.scenario.files import VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from experiments.points import Point

RESULTS = "results.parquet"
TABLE = "sweep.csv"
EPILOG = """\
A value is a list (8,12), a range that doubles (256KB..16MB), adds (0.5..1+0.1) or multiplies
(1..1000*10). Finished points are kept: the same command goes on where it ended.

examples:
  run.py sweep --schemes ofan,ar --message 256KB..16MB --load 0.8,0.9,1 --k 8,12 --seeds 10
  run.py sweep --scenario mine.toml --schemes ofan,reps --ecn 20KB..160KB --x ecn
  run.py sweep --schemes reps --message 8MB --parameter reps.freezing=0,1 --k 8,12"""


def main(arguments: Sequence[str]) -> int:
    """Run a sweep; returns 0, or 1 if a point has no result. Raises UserError for bad input."""
    given = _parser().parse_args(arguments)
    out = given.out or Path("results") / "sweep"
    check(out)
    points = _points(given)
    if given.dry_run:
        from experiments import estimate  # noqa: PLC0415 - loads pandas
        from experiments.running import Means  # noqa: PLC0415

        print(estimate.of_points(points, Means(out, given.jobs)))
        return 0
    own = topmost_missing(out)
    try:
        with writing_into(out), claimed(out):
            table, errors = _run(points, out, given.jobs, given.cluster)
            picture = _draw(table, given, out)
    except KeyboardInterrupt as stop:
        print("interrupted; finished points are kept, the same command goes on")
        return code_of(stop)
    finally:
        hand_over(own)
    print(f"{len(table)} runs: {out / TABLE}, {out / RESULTS}; {picture}")
    return FAILED if errors else 0


def sweep(
    base: Scenario | None = None,
    *,
    out: Path | str = "results/sweep",
    jobs: int | None = None,
    **fields: Any,
) -> pd.DataFrame:
    """Run every combination of fields' values in virtual time; return a row a run.

    `fields` are those of a scenario, each one value or a list of them; all others are those of
    `base`. Points that finished earlier are read from `out`. Raises UserError for values that
    cannot be, and for a point that failed.
    """
    listed = {
        name: list(value) if isinstance(value, list | tuple | range) else [value]
        for name, value in fields.items()
    }
    known = Scenario.__dataclass_fields__
    for name in listed:
        if name not in known:
            raise UserError(f"a scenario has no field {name}{near(name, known)}")
    from experiments.points import Point  # noqa: PLC0415 - loads pandas

    points = [Point(scenario) for scenario in span(base or Scenario(), listed)]
    table, errors = _run(points, Path(out), jobs or os.cpu_count() or 1, "")
    for error in errors.values():
        raise UserError(error)
    return table


def _run(
    points: Sequence[Point], out: Path, jobs: int, cluster: str
) -> tuple[pd.DataFrame, Mapping[str, str]]:
    from experiments.running import Means, run_points, table_of  # noqa: PLC0415 - loads pandas

    out.mkdir(parents=True, exist_ok=True)
    means = Means(out, jobs, cluster)
    errors = run_points(points, means)
    table = table_of(points, means)
    if table.empty:
        raise UserError(f"no point has a result: {next(iter(errors.values()), 'there are none')}")
    table.to_csv(out / TABLE, index=False)
    table.to_parquet(out / RESULTS, index=False)
    return table, errors


def _points(given: argparse.Namespace) -> list[Point]:
    from experiments.points import Point  # noqa: PLC0415 - loads pandas
    from experiments.work import check_size  # noqa: PLC0415

    base = from_toml(given.scenario) if given.scenario else Scenario()
    if given.no_acks:
        base = replace(base, acks=False)
    fields = {
        field.name: getattr(given, field.name)
        for field in PLAIN
        if getattr(given, field.name) is not None
    }
    shapes: list[dict[str, Any]] = [networks.chosen(name) for name in given.topology or ()] or [{}]
    chosen = [schemes.find(name) for name in given.schemes or [base.scheme]]
    for name, _ in given.parameter:
        check_parameter(name, own_schemes(given.scheme_file))
    scenarios = [
        replace(varied, seed=seed)
        for scheme in (*chosen, *own_schemes(given.scheme_file))
        for own in shapes
        for scenario in span(
            replace(base, scheme=scheme.name, scheme_file=scheme.file, **own), fields
        )
        for varied in spread(scenario, given.parameter, given.workload_option)
        for seed in given.seeds
    ]
    check_size(scenarios, VIRTUAL)
    return [Point(scenario) for scenario in scenarios]


def _draw(table: pd.DataFrame, given: argparse.Namespace, out: Path) -> Path:
    from analysis.figures.any_field import (  # noqa: PLC0415 - matplotlib
        apart,
        column_of,
        draw_fields,
        varying,
    )
    from experiments.looks import looks  # noqa: PLC0415

    scenarios = [point.scenario for point in _points(given)]
    swept = [str(column) for column in varying(table)]
    x = column_of(table, given.x or (swept[0] if swept else "message_bytes"))
    panel = column_of(table, given.panel) if given.panel else ""
    color = column_of(table, given.color) if given.color else "variant"
    values = [column_of(table, name) for name in given.y]
    rest = [column for column in swept if column not in (x, panel, color)]
    lines = apart(table, looks(scenarios), color, rest)
    return draw_fields(out / "sweep", *lines, x=x, values=values, panel=panel)


def _parser() -> Parser:
    parser = Parser(
        prog="run.py sweep",
        description="Run any fields as lists or ranges in virtual time, to one table and a figure.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--schemes", type=names, metavar="NAME,...", help="(default: ofan)")
    add_scheme_file(parser)
    parser.add_argument(
        "--scenario", type=Path, metavar="FILE.toml", help="what all points share (default: §6's)"
    )
    add_topology(parser, several=True)
    for field in PLAIN:
        parser.add_argument(
            option_of(field),
            dest=field.name,
            type=values_of(field),
            metavar=f"{metavar_of(field)},...",
            help=f"{field.about.help} (default: {shown(field)})",
        )
    parser.add_argument("--no-acks", action="store_true", help="send no acknowledgements")
    parser.add_argument(
        "--parameter",
        type=assigned_values,
        action="append",
        default=[],
        metavar="OWNER.NAME=VALUE,...",
        help="of a scheme, CCA or recovery, for points that have it (run.py --list has them)",
    )
    parser.add_argument(
        "--workload-option",
        type=assigned_values,
        action="append",
        default=[],
        metavar="NAME=VALUE,...",
        help="of the workload (run.py --list has them)",
    )
    parser.add_argument(
        "--seeds", type=seeds, default=[1, 2, 3], metavar="N", help="a count or a list (default: 3)"
    )
    parser.add_argument("--x", help="horizontal axis (default: the first field that varies)")
    parser.add_argument(
        "--y", type=names, default=["cct_increase"], help="columns (default: cct_increase)"
    )
    parser.add_argument("--color", help="a line each (default: variant, the scheme)")
    parser.add_argument("--panel", help="a panel each (default: none)")
    parser.add_argument(
        "--jobs",
        type=count,
        default=os.cpu_count() or 1,
        metavar="N",
        help="points at a time (default: all processors)",
    )
    parser.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="a Dask scheduler's (default: run here)"
    )
    parser.add_argument(
        "--out", type=folder, metavar="FOLDER", help="folder for results (default: results/sweep)"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and how long")
    return parser
