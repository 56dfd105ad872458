"""The workloads by name: an explicit list, and how one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError, near
from traffic import readers
from traffic.collectives import (
    all_to_all,
    double_tree,
    fsdp,
    halving_doubling,
    incast,
    permutation,
    ring,
)
from traffic.collectives.moe import exchange as moe
from traffic.collectives.moe.model import OPTIONS as MOE_OPTIONS
from traffic.collectives.training import step
from traffic.request import Request, Volume

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from traffic.flows import Flows

MOST_FLOWS = 1 << 24
"""Queue pair numbers have 24 bits."""


def _one_a_host(request: Request) -> Volume:
    return Volume(request.hosts, request.hosts * request.message_bytes)


@dataclass(frozen=True, slots=True)
class Workload:
    """A collective: how it is called, what it is, how it is made, and which options it reads.

    `volume` says how much it comes to before it is made. `options` says by name what an option
    takes, its default first.
    """

    name: str
    summary: str
    build: Callable[[Request], Flows]
    volume: Callable[[Request], Volume] = _one_a_host
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def options_text(self) -> str:
        """What may be set, in a few words; empty if nothing."""
        return "; ".join(f"{name}={values}" for name, values in self.options.items())


WORKLOADS = (
    Workload(
        "permutation",
        "every host sends to one other, at random",
        permutation.derangement,
        permutation.volume,
        permutation.OPTIONS,
    ),
    Workload("interpod", "a permutation that leaves no message in its pod", permutation.inter_pod),
    Workload("incast", "many hosts send to one", incast.incast, incast.volume, incast.OPTIONS),
    Workload(
        "all-to-all",
        "every host sends to every other",
        all_to_all.all_to_all,
        all_to_all.volume,
        all_to_all.OPTIONS,
    ),
    Workload("moe", "mixture of experts, between servers", moe.moe, moe.volume, MOE_OPTIONS),
    Workload("fsdp", "FSDP2's parallel rings over servers", fsdp.fsdp, fsdp.volume, fsdp.OPTIONS),
    Workload(
        "training-step",
        "forward and backward passes under FSDP2, of one or several jobs",
        step.training_step,
        step.volume,
        step.OPTIONS,
    ),
    Workload(
        "ring",
        "ring all-reduce",
        ring.ring_all_reduce,
        lambda request: ring.volume(request, passes=2),
        ring.OPTIONS,
    ),
    Workload(
        "reduce-scatter",
        "ring reduce-scatter",
        ring.reduce_scatter,
        lambda request: ring.volume(request, passes=1),
        ring.OPTIONS,
    ),
    Workload(
        "all-gather",
        "ring all-gather",
        ring.all_gather,
        lambda request: ring.volume(request, passes=1),
        ring.OPTIONS,
    ),
    Workload(
        "broadcast",
        "pipelined broadcast along a ring",
        ring.broadcast,
        ring.broadcast_volume,
        ring.OPTIONS,
    ),
    Workload(
        "double-tree",
        "double binary tree all-reduce",
        double_tree.double_tree_all_reduce,
        double_tree.volume,
        double_tree.OPTIONS,
    ),
    Workload(
        "halving-doubling",
        "all-reduce by recursive halving and doubling",
        halving_doubling.halving_doubling,
        halving_doubling.volume,
        halving_doubling.OPTIONS,
    ),
)


def find(name: str) -> Workload:
    """Return the workload of that name; raises UserError listing the names there are."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    known = [workload.name for workload in WORKLOADS]
    raise UserError(
        f"workload {name!r} is unknown, and no file that ends in {readers.endings()}"
        f"{near(name, known)}"
    )


def make(name: str, request: Request) -> Flows:
    """Make the flows of the workload `name`, or of the file of that name (traffic.readers).

    The same state of the request's generator gives the same flows. Raises UserError for an
    unknown name or option, for hosts or sizes that the workload cannot serve, and for more messages
    than there are queue pair numbers.
    """
    if request.message_bytes < 1:
        raise UserError(f"message is {request.message_bytes} B; it must be at least one byte")
    volume(name, request)
    if reader := readers.find(name):
        return reader.read(Path(name), request)
    return find(name).build(request)


def volume(name: str, request: Request) -> Volume | None:
    """Say how much a workload comes to before it is made; None for a file.

    Raises UserError as make does.
    """
    reader = readers.find(name)
    known = (reader or find(name)).options
    for option in request.options:
        if option not in known:
            raise UserError(f"workload {name} has no option {option!r}{near(option, known)}")
    if reader:
        return None
    found = find(name).volume(request)
    if found.messages > MOST_FLOWS:
        raise UserError(
            f"workload {name} of {request.hosts} hosts has {found.messages:,} messages; "
            f"{MOST_FLOWS:,} can be told apart"
        )
    return found
