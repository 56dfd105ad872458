"""Recompute summary, figures and page of a result folder: `python -m analysis RESULTS_DIR`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from environment import Parser
from errors import telling

# isort: split
from analysis.report import write_report

DESCRIPTION = """\
Recompute summary.csv, figures/ and report.html from the result files in a folder: a run's own
folder, or one with the folders of many runs. Nothing is run again."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit code: 0, or 2 after an error told in one line."""
    parser = Parser(
        prog="python -m analysis",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="RESULTS_DIR", help="folder with results")
    options = parser.parse_args(arguments)
    return telling("analysis", lambda: _report(options.folder))


def _report(folder: Path) -> int:
    report = write_report(folder)
    shown = ["scheme", "seed", "world", "cct_us", "cct_increase", "max_queue_bytes", "verdict"]
    print(report.table[shown].to_string(index=False))
    print(f"{len(report.figures)} figures and {report.page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
