"""The main job: check everything that was asked for, run it, and say what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError, telling, writing_into
from experiments import dry_run
from experiments.listing import listing
from experiments.options import parse
from experiments.out import check, claimed, fresh
from experiments.preparation import prepare
from experiments.session import Calling, plot_again, run_all
from experiments.work import announcement, check_size, same_as_ofan, unevenness
from experiments.world import choose
from testbed.capture import places_of
from testbed.mininet.sandbox import run_inside
from testbed.results import port_names
from testbed.scenario.files import BMV2, VIRTUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.options import Request
    from testbed.plan import Plan


def main(arguments: Sequence[str]) -> int:
    """Follow the options of the main job; returns the exit code. Raises UserError for bad input."""
    return _follow(parse(arguments))


def _follow(request: Request) -> int:
    if request.list_all:
        print(listing())
        return 0
    if request.plot_only and request.out:
        with writing_into(request.out):
            return plot_again(request.out, strict=request.strict)
    if request.out:
        check(request.out)
    world, notice = choose(request)
    check_size(request.scenarios, world, request.jobs)
    _say(notice, announcement(request.scenarios, world), same_as_ofan(request.scenarios))
    plans = prepare(request.scenarios, request.compiler)
    _say(unevenness(plans[0]))
    _check_watch(request, world, plans)

    def work() -> int:
        if request.dry_run:
            return _tell(request, plans, world)
        if request.cli:
            from experiments.prompt import open_prompt  # noqa: PLC0415 - imports Mininet

            return open_prompt(plans[-1], bmv2=world == BMV2, dilation=request.dilation)
        out = request.out or fresh()
        with writing_into(out), claimed(out):
            calling = Calling(
                world, request.dilation, request.jobs, strict=request.strict, watch=request.watch
            )
            return run_all(plans, calling, out)

    if world == VIRTUAL:
        return work()
    return run_inside(lambda: telling("run.py", work))


def _say(*lines: str) -> None:
    for line in lines:
        if line:
            print(line, flush=True)


def _tell(request: Request, plans: Sequence[Plan], world: str) -> int:
    """Say what would run, and what that costs."""
    print(f"{len(plans):,} runs in {world}, into {request.out or 'a new folder of results'}")
    print(dry_run.told(plans, world, request.dilation, request.jobs))
    return 0


def _check_watch(request: Request, world: str, plans: Sequence[Plan]) -> None:
    """Raise UserError for flows and links that cannot be watched."""
    watch = request.watch
    if not watch:
        return
    if world != VIRTUAL:
        raise UserError(
            "--watch-flows needs --on virtual"
            if watch.flows
            else "--pcap needs --on virtual; at the prompt of --cli, tcpdump captures on interfaces"
        )
    for plan in plans:
        places_of(port_names(plan.topology), watch.links)
        if not watch.flows:
            continue
        if plan.hosts.congestion.name == plan.hosts.recovery.name == "none":
            raise UserError("--watch-flows needs --cca or --recovery: without them no flow has any")
        count = len(plan.flows)
        beyond = [flow for flow in watch.flows if not isinstance(flow, str) and flow >= count]
        if beyond:
            raise UserError(f"--watch-flows {beyond[0]}: flows are numbered from 0 to {count - 1}")
