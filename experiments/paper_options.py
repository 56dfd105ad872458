"""The options of `run.py fig…` and `run.py paper`."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from errors import UserError, near
from experiments.options import add_scheme_file

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL = "paper"
COMMANDS = ("run", "cross", "sweep")
"""Other commands of run.py, for who mistypes one."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to run: figures by name, at which size, with how much, and where results go.

    `seeds` is None for each figure's own number, `cluster` the address of a Dask scheduler or
    empty, `page` whether to write the reproduction page, `keep` whether result folders stay,
    `scheme_files` the schemes of the user's own that every figure shows as well.
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
    scheme_files: tuple[Path, ...] = ()


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message)


def parse(arguments: Sequence[str], names: Sequence[str]) -> Options:
    """Read a command line; `names` are the figures there are. Raises UserError."""
    parser = _parser(names)
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
        scheme_files=tuple(given.scheme_file),
    )


def _parser(names: Sequence[str]) -> _Parser:
    parser = _Parser(
        prog="run.py",
        description="Run figures of the paper in virtual time, draw them, check their claims.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "figures", nargs="+", metavar="FIGURE", help=f"{', '.join(names)}; {ALL}: all and a page"
    )
    parser.add_argument("--quick", action="store_true", help="a size that takes under a minute")
    parser.add_argument("--seeds", type=_count, help="runs a point (default: the figure's own)")
    parser.add_argument(
        "--jobs", type=_count, default=os.cpu_count() or 1, help="points at a time (all processors)"
    )
    parser.add_argument("--cluster", default="", metavar="ADDRESS", help="a Dask scheduler's")
    parser.add_argument("--out", type=Path, help="folder for results (default: results/paper)")
    add_scheme_file(parser)
    parser.add_argument("--plot-only", action="store_true", help="draw what there is; run nothing")
    parser.add_argument("--keep", action="store_true", help="keep every run's result folder")
    return parser


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


_count.__name__ = "number above 0"
