"""The workloads by name: an explicit list, and how one is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from traffic import connection_matrix
from traffic.all_to_all import all_to_all
from traffic.double_tree import double_tree_all_reduce
from traffic.fsdp import hierarchical_ring
from traffic.moe import dispatch
from traffic.permutation import derangement, inter_pod
from traffic.request import Request, WorkloadError
from traffic.ring import ring_all_reduce

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from traffic.flows import Flows

MATRIX_SUFFIX = ".cm"


@dataclass(frozen=True, slots=True)
class Workload:
    """A collective: how it is called, what it is, how it is made, and which options it reads."""

    name: str
    summary: str
    build: Callable[[Request], Flows]
    options: tuple[str, ...] = ()


WORKLOADS = (
    Workload("permutation", "every host sends to one other, at random", derangement),
    Workload("interpod", "a permutation that leaves no message in its pod", inter_pod),
    Workload("all-to-all", "every host sends to every other", all_to_all, ("constant",)),
    Workload(
        "moe",
        "mixture-of-experts dispatch between servers",
        dispatch,
        ("skew", "server", "top", "token_bytes", "slots"),
    ),
    Workload(
        "fsdp",
        "FSDP2's parallel rings over servers",
        hierarchical_ring,
        ("server", "steps", "order", "placement"),
    ),
    Workload("ring", "ring all-reduce", ring_all_reduce, ("placement",)),
    Workload(
        "double-tree",
        "double binary tree all-reduce",
        double_tree_all_reduce,
        ("chunk", "placement"),
    ),
)


def find(name: str) -> Workload:
    """Return the workload of that name; raises WorkloadError listing the names there are."""
    for workload in WORKLOADS:
        if workload.name == name:
            return workload
    names = ", ".join(workload.name for workload in WORKLOADS)
    raise WorkloadError(f"workload {name!r} is not one of {names}, or a {MATRIX_SUFFIX} file")


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
    a pod. The same generator state gives the same flows. Raises WorkloadError for an unknown
    name or option, and for hosts or sizes that the workload cannot serve.
    """
    if message_bytes < 1:
        raise WorkloadError(f"message is {message_bytes} B; it must be at least one byte")
    if name.endswith(MATRIX_SUFFIX):
        return connection_matrix.read(Path(name), hosts, message_bytes)
    workload = find(name)
    for option in options:
        if option not in workload.options:
            raise WorkloadError(
                f"workload {name} has no option {option!r}; it has {workload.options or 'none'}"
            )
    request = Request(hosts, hosts_per_edge, hosts_per_pod, message_bytes, rng, options)
    return workload.build(request)
