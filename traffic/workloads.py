"""The workloads by name: an explicit list, and how one is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError
from traffic import connection_matrix
from traffic.all_to_all import all_to_all
from traffic.double_tree import CHUNK_BYTES, double_tree_all_reduce
from traffic.fsdp import hierarchical_ring
from traffic.moe import EXPERTS_PER_TOKEN, GPUS_PER_SERVER, SKEW, TOKEN_BYTES, dispatch
from traffic.permutation import derangement, inter_pod
from traffic.request import Request
from traffic.ring import ring_all_reduce

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from traffic.flows import Flows

MATRIX_SUFFIX = ".cm"
PLACEMENT = {"placement": "in-order or random"}


@dataclass(frozen=True, slots=True)
class Workload:
    """A collective: how it is called, what it is, how it is made, and which options it reads.

    `options` says by name what an option takes, its default first.
    """

    name: str
    summary: str
    build: Callable[[Request], Flows]
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def options_text(self) -> str:
        """What may be set, in a few words; empty if nothing."""
        return "; ".join(f"{name}={values}" for name, values in self.options.items())


WORKLOADS = (
    Workload("permutation", "every host sends to one other, at random", derangement),
    Workload("interpod", "a permutation that leaves no message in its pod", inter_pod),
    Workload(
        "all-to-all",
        "every host sends to every other",
        all_to_all,
        {"constant": "flow (the message is each flow's size) or host (what a host sends in all)"},
    ),
    Workload(
        "moe",
        "mixture-of-experts dispatch between servers",
        dispatch,
        {
            "skew": f"{SKEW:g} (busiest GPU over the mean)",
            "server": f"{GPUS_PER_SERVER} GPUs",
            "top": f"{EXPERTS_PER_TOKEN} experts a token",
            "token_bytes": f"{TOKEN_BYTES}",
            "slots": "1 expert a GPU",
        },
    ),
    Workload(
        "fsdp",
        "FSDP2's parallel rings over servers",
        hierarchical_ring,
        {
            "server": f"{GPUS_PER_SERVER} GPUs",
            "steps": "1",
            "order": "random or in-order",
            "placement": "contiguous or rail",
        },
    ),
    Workload("ring", "ring all-reduce", ring_all_reduce, PLACEMENT),
    Workload(
        "double-tree",
        "double binary tree all-reduce",
        double_tree_all_reduce,
        {"chunk": f"{CHUNK_BYTES} bytes", **PLACEMENT},
    ),
)


def find(name: str) -> Workload:
    """Return the workload of that name; raises UserError listing the names there are."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    names = ", ".join(workload.name for workload in WORKLOADS)
    raise UserError(f"workload {name!r} is not one of {names}, or a {MATRIX_SUFFIX} file")


def make(
    name: str,
    *,
    hosts: int,
    hosts_per_edge: int,
    hosts_per_pod: int,
    message_bytes: int,
    options: Mapping[str, float | str],
    rng: np.random.Generator,
) -> Flows:
    """Make the flows of the workload `name`, or of the connection matrix file of that name.

    Hosts are numbered along the network, `hosts_per_edge` to an edge switch and `hosts_per_pod` to
    a pod. The same generator state gives the same flows. Raises UserError for an unknown
    name or option, and for hosts or sizes that the workload cannot serve.
    """
    if message_bytes < 1:
        raise UserError(f"message is {message_bytes} B; it must be at least one byte")
    if name.endswith(MATRIX_SUFFIX):
        return connection_matrix.read(Path(name), hosts, message_bytes)
    workload = find(name)
    for option in options:
        if option not in workload.options:
            raise UserError(
                f"workload {name} has no option {option!r}; it has "
                f"{', '.join(workload.options) or 'none'}"
            )
    request = Request(hosts, hosts_per_edge, hosts_per_pod, message_bytes, rng, options)
    return workload.build(request)
