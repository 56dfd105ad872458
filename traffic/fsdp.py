"""FSDP2's hierarchical ring: as many rings as a server has GPUs, over all servers (paper §6.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.flows import Flows
from traffic.waits import waits_for_one

if TYPE_CHECKING:
    from traffic.request import Request

GPUS_PER_SERVER = 8


def hierarchical_ring(request: Request) -> Flows:
    """Make `steps` steps of the rings: GPU r of each server sends to GPU r of the next server.

    `message_bytes` is the shard that one step carries; the paper's are 119, 418 and 1,533 packets
    of 4,096 B. A GPU starts a step when the step before has arrived from its predecessor. Options:
    `server` GPUs a server (8), `steps` (1: one permutation of the hosts), `order` of the servers in
    the rings (`random`, or `in-order`), and `placement` (`contiguous`: a server is attached side by
    side; `rail`: an edge holds GPUs of the same rank of as many servers).
    """
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    steps = request.whole("steps", 1, at_least=1)
    servers, rest = divmod(request.hosts, server)
    if rest or servers < 2:
        raise UserError(f"{request.hosts} hosts do not make two or more servers of {server}")
    order = np.arange(servers)
    if request.choice("order", ("random", "in-order")) == "random":
        order = request.rng.permutation(servers)
    host = _attached(request, server)[order]  # place in the ring, rank -> host
    source = np.tile(host.ravel(), steps)
    destination = np.tile(np.roll(host, -1, axis=0).ravel(), steps)
    sizes = request.equal_messages(len(source))
    after = waits_for_one(_after(steps, servers, server))
    return Flows.of(source, destination, sizes, after=after)


def _attached(request: Request, server: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return the host at which GPU `rank` of each server is attached, shape (servers, ranks)."""
    hosts = np.arange(request.hosts)
    if request.choice("placement", ("contiguous", "rail")) == "contiguous":
        return hosts.reshape(-1, server)
    edge = request.hosts_per_edge
    if request.hosts % (edge * server):
        raise UserError(
            f"rails need edges of {edge} hosts in groups of {server}; {request.hosts} hosts do not"
            " divide so"
        )
    groups = hosts.reshape(-1, server, edge)  # a group of `server` edges, one for each rank
    return groups.transpose(0, 2, 1).reshape(-1, server)


def _after(
    steps: int, servers: int, server: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Rows of the flows that must have arrived first: the predecessor's of the step before."""
    a_step = np.arange(servers * server).reshape(servers, server)
    before = np.roll(a_step, 1, axis=0).ravel()
    rows = [np.full(servers * server, -1)]
    rows += [before + step * servers * server for step in range(steps - 1)]
    return np.concatenate(rows).astype(np.int64)
