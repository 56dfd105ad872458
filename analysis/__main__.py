"""What results tell: summary and page of a folder, why a run was late, traces for other tools."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from environment import Parser
from errors import telling

# isort: split
from analysis.report import write_report
from analysis.results import read_run

if TYPE_CHECKING:
    from collections.abc import Sequence

DESCRIPTION = """\
Recompute summary.csv, figures/ and report.html from the result files in a folder: a run's own
folder, or one with the folders of many runs. Nothing is run again.

Also: python -m analysis explain RUN   what made the collective late
      python -m analysis trace RUN     a trace that Perfetto opens"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 after an error told in one line."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    commands = {"explain": _explain, "trace": _trace}
    work = commands.get(given[0] if given else "")
    return telling("analysis", lambda: work(given[1:]) if work else _report(given))


def _report(given: Sequence[str]) -> int:
    parser = Parser(
        prog="python -m analysis",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="RESULTS_DIR", help="folder with results")
    report = write_report(parser.parse_args(given).folder)
    shown = ["scheme", "seed", "world", "cct_us", "cct_increase", "max_queue_bytes", "verdict"]
    print(report.table[shown].to_string(index=False))
    print(f"{len(report.figures)} figures and {report.page}")
    return 0


def _explain(given: Sequence[str]) -> int:
    from analysis import explain  # noqa: PLC0415 - the page needs none of it

    parser = Parser(prog="python -m analysis explain", description=explain.__doc__)
    parser.add_argument("run", type=Path, help="result folder of one run")
    parser.add_argument("--flow", type=int, help="explain this flow (default: the last one)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of words")
    parser.add_argument(
        "-o", "--out", type=Path, help="stem of the figure (default: explain, in the run's folder)"
    )
    options = parser.parse_args(given)
    run = read_run(options.run)
    if not explain.can_be_traced(run):
        print(explain.from_logs(run))
        return 0
    found = explain.explain(run, options.flow)
    picture = explain.drawn(found, options.out or options.run / "explain")
    print(explain.as_json(found) if options.json else explain.in_words(found))
    if not options.json:
        print(f"\n{picture}")
    return 0


def _trace(given: Sequence[str]) -> int:
    from analysis import perfetto  # noqa: PLC0415 - the page needs none of it
    from analysis.trace import trace_of  # noqa: PLC0415

    parser = Parser(prog="python -m analysis trace", description=perfetto.__doc__)
    parser.add_argument("run", type=Path, help="result folder of one run in virtual time")
    parser.add_argument("-o", "--out", type=Path, help="file (default: trace.json.gz in RUN)")
    options = parser.parse_args(given)
    out = options.out or options.run / "trace.json.gz"
    count = perfetto.write(trace_of(read_run(options.run)), out)
    print(f"{count:,} events: {out} (open it at ui.perfetto.dev)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
