"""What run.py does with a command line: check everything, run, and say what came out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.results import ResultError
from environment import USAGE_ERROR
from experiments.complaints import in_words, writing_into
from experiments.listing import listing
from experiments.options import parse
from experiments.preparation import InputError, prepare
from experiments.session import INTERRUPTED, plot_again, run_all
from experiments.work import announcement, check_size
from experiments.world import choose
from testbed.dataplane import DataplaneError
from testbed.mininet.interfaces import InterfaceError
from testbed.mininet.sandbox import SandboxError, run_inside
from testbed.mininet.worker import WorkerError
from testbed.scenario import ScenarioError
from testbed.scenario.files import BMV2, VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.options import Request

ERRORS = (
    DataplaneError,
    InputError,
    InterfaceError,
    ResultError,
    SandboxError,
    ScenarioError,
    WorkerError,
)
UNHEARD = 1
RESULTS = Path(__file__).resolve().parent.parent / "results"


def main(arguments: Sequence[str]) -> int:
    """Follow a command line; returns the exit code: 2 with one line for bad input."""
    if arguments and not arguments[0].startswith("-"):
        from experiments import sweep  # noqa: PLC0415 - the main job needs no figure of the paper

        return sweep.main(arguments)
    return telling(lambda: _follow(parse(arguments)))


def telling(work: Callable[[], int]) -> int:
    """Do some work and tell what went wrong in one line; returns the exit code."""
    try:
        return work()
    except (*ERRORS, OSError) as error:
        if isinstance(error, BrokenPipeError):
            return UNHEARD
        sys.stderr.write(f"run.py: {in_words(error)}\n")
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED


def _follow(request: Request) -> int:
    if request.list_all:
        print(listing())
        return 0
    if request.plot_only and request.out:
        with writing_into(request.out):
            return plot_again(request.out, strict=request.strict)
    world, notice = choose(request)
    check_size(request.scenarios, world)
    for line in (notice, announcement(request.scenarios, world)):
        if line:
            print(line, flush=True)
    plans = prepare(request.scenarios, request.compiler)
    out = request.out or RESULTS / time.strftime("%Y%m%d-%H%M%S")

    def work() -> int:
        if request.cli:
            from experiments.prompt import open_prompt  # noqa: PLC0415 - imports Mininet

            return open_prompt(plans[-1], bmv2=world == BMV2, dilation=request.dilation)
        with writing_into(out):
            return run_all(plans, world, request.dilation, out, strict=request.strict)

    return work() if world == VIRTUAL else run_inside(lambda: telling(work))
