"""The options of `run.py fig…` and `run.py paper`."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from errors import UserError, near
from experiments.options import add_scheme_file
from experiments.values import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALL = "paper"
COMMANDS = ("run", "cross", "sweep")
"""Other commands of run.py, for who mistypes one."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to run: figures by name, at which size, with how much, and where results go.

    `seeds` is None for each figure's own number, `cluster` the address of a Dask scheduler or
    empty, `page` whether to write the reproduction page, `keep` whether result folders stay,
    `scheme_files` the schemes of the user's own that every figure shows as well. With `dry_run`
    nothing runs.
    """

    figures: tuple[str, ...]
    quick: bool
    seeds: int | None
    jobs: int
    cluster: str
    out: Path
    plot_only: bool
    keep: bool
    page: bool
    dry_run: bool = False
    scheme_files: tuple[Path, ...] = ()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message)


def parse(arguments: Sequence[str], titles: Mapping[str, str]) -> Options:
    """Read a command line; `titles` are those of the figures there are. Raises UserError."""
    names = list(titles)
    asked = arguments[0] if arguments else ""
    parser = _parser(asked if asked in titles or asked == ALL else "", titles)
    given, rest = parser.parse_known_args(arguments)
    unknown = [name for name in given.figures if name not in (*names, ALL)]
    if unknown:
        known = (*names, ALL, *COMMANDS)
        raise UserError(f"figure {unknown[0]} is unknown{near(unknown[0], known)}")
    if rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    page = ALL in given.figures
    default = Path("results") / ("paper-quick" if given.quick else ALL)
    return Options(
        figures=tuple(names if page else given.figures),
        quick=given.quick,
        seeds=given.seeds,
        jobs=given.jobs,
        cluster=given.cluster,
        out=given.out or default,
        plot_only=given.plot_only,
        keep=given.keep,
        page=page,
        dry_run=given.dry_run,
        scheme_files=tuple(given.scheme_file),
    )


def _about(asked: str, titles: Mapping[str, str]) -> str:
    """Say what a figure shows, what `paper` does, or what can be done with any."""
    if asked == ALL:
        return (
            f"All {len(titles)} figures, and a page about what came out.\n"
            "Runs them in virtual time, draws them, and checks their claims."
        )
    what = f"{asked}: {titles[asked]}.\n" if asked else ""
    return f"{what}Runs figures of the paper in virtual time, draws them, checks their claims."


def _parser(asked: str, titles: Mapping[str, str]) -> _Parser:
    name = asked or "fig4"
    parser = _Parser(
        prog=f"run.py {asked}".rstrip(),
        usage=f"run.py {asked or 'FIGURE'} [FIGURE ...] [options]",
        description=_about(asked, titles),
        epilog=f"""\
examples:
  run.py {name} --quick
  run.py {name} --seeds 5 --jobs 2 --out results/mine

figures:
"""
        + "\n".join(f"  {each:<10} {title}" for each, title in titles.items())
        + f"\n  {ALL:<10} all of them, and a page",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("figures", nargs="+", metavar="FIGURE", help=f"those below, or {ALL}")
    parser.add_argument("--quick", action="store_true", help="a size that takes under a minute")
    parser.add_argument(
        "--seeds", type=count, metavar="N", help="runs a point (default: the figure's own)"
    )
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
        "--out", type=Path, metavar="FOLDER", help="folder for results (default: results/paper)"
    )
    add_scheme_file(parser)
    parser.add_argument("--plot-only", action="store_true", help="draw what there is; run nothing")
    parser.add_argument("--dry-run", action="store_true", help="say what would run, and how long")
    parser.add_argument("--keep", action="store_true", help="keep every run's result folder")
    return parser
