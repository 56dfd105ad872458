"""FSDP2's hierarchical rings: as many rings as a server has GPUs, over all servers (paper §6.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.costs import OPTIONS as COSTS
from traffic.collectives.costs import costs_of
from traffic.collectives.graph import Block, Graph
from traffic.collectives.models import MODELS, PAYLOAD_BYTES
from traffic.flows import Flows
from traffic.request import Request, Volume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

GPUS_PER_SERVER = 8
BYTES_PER_PARAMETER = 2
PICOSECONDS_PER_MICROSECOND = 1_000_000
OPTIONS = {
    "model": "none (the message is a shard), 8b, 70b or 405b",
    "sizes": "paper, nominal or layer",
    "layers": "1, or all",
    "steps": "1, or full",
    "pass": "ring or backward",
    "layer_us": "0 of computation a layer",
    "server": f"{GPUS_PER_SERVER} GPUs",
    "placement": "random, contiguous or rail",
    **COSTS,
}


def fsdp(request: Request) -> Flows:
    """Make the traffic of a backward pass, or of one collective of it: each host is a GPU.

    GPU r of each server sends to GPU r of the next server. A ring step carries one shard, 1/hosts
    of a layer; a GPU takes it when the one before has arrived and its own is sent. Options: `model`
    (`none`: the shard has `message_bytes`; `8b`, `70b`, `405b`) and `sizes` of its shards (`paper`:
    119, 418, 1,533 packets of 4,096 B; `nominal`: the model's name at 2 B a parameter; `layer`: its
    layers as they are); `layers` (1; `all` of the model); `steps` of a ring (1, what the paper most
    likely ran: one permutation of the hosts; `full`: one less than there are servers); `pass`
    (`ring`: one collective a layer, back to back; `backward`: an AllGather of weights and a
    ReduceScatter of gradients a layer, overlapped with `layer_us` of computation, see _backward);
    `server` GPUs a server (8); `placement` of servers (`random`: each side by side, anywhere;
    `contiguous`: in the order of the rings; `rail`: an edge has GPUs of one rank of as many
    servers); and those of traffic.collectives.costs.
    """
    host = _rings(request)
    layers, steps = _layers(request), _steps(request, len(host))
    blocks = _Blocks(request, host, shard_bytes(request))
    if request.choice("pass", ("ring", "backward")) == "ring":
        return _back_to_back(blocks, layers, steps)
    layer_ps = round(PICOSECONDS_PER_MICROSECOND * request.number("layer_us", 0))
    return _backward(blocks, layers, steps, layer_ps)


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    steps = _steps(request, max(request.hosts // server, 2))
    collectives = 1 if request.choice("pass", ("ring", "backward")) == "ring" else 2
    messages = request.hosts * _layers(request) * steps * collectives
    computations = request.hosts * _layers(request) * (collectives - 1)
    return Volume(messages + computations, messages * shard_bytes(request))


def shard_bytes(request: Request) -> int:
    """Return what one step of a ring carries."""
    name = request.choice("model", ("none", *MODELS))
    sizes = request.choice("sizes", ("paper", "nominal", "layer"))
    if name == "none":
        return request.message_bytes
    model = MODELS[name]
    if sizes == "paper":
        return model.packets * PAYLOAD_BYTES
    parameters = model.layer if sizes == "layer" else model.nominal / model.layers
    return round(parameters * BYTES_PER_PARAMETER / request.hosts)


def _layers(request: Request) -> int:
    name = request.choice("model", ("none", *MODELS))
    if request.options.get("layers") == "all":
        if name == "none":
            raise UserError("option layers is 'all'; option model must say of which model")
        return MODELS[name].layers
    return request.whole("layers", 1, at_least=1)


def _steps(request: Request, servers: int) -> int:
    if request.options.get("steps") == "full":
        return servers - 1
    return request.whole("steps", 1, at_least=1)


def _rings(request: Request) -> NDArray[np.int64]:
    """Return the host of each GPU, by place of its server in the rings and by rank."""
    server = request.whole("server", GPUS_PER_SERVER, at_least=1)
    servers, rest = divmod(request.hosts, server)
    if rest or servers < 2:
        raise UserError(f"{request.hosts} hosts do not make two or more servers of {server}")
    placement = request.choice("placement", ("random", "contiguous", "rail"))
    hosts = np.arange(request.hosts)
    attached = hosts.reshape(-1, server)
    if placement == "contiguous":
        return attached
    if placement == "rail":
        edge = request.hosts_per_edge
        if request.hosts % (edge * server):
            raise UserError(
                f"rails need edges of {edge} hosts in groups of {server}; {request.hosts} hosts do "
                "not divide so"
            )
        groups = hosts.reshape(-1, server, edge)  # a group of `server` edges, one for each rank
        attached = groups.transpose(0, 2, 1).reshape(-1, server)
    return attached[request.rng.permutation(servers)]


class _Blocks:
    """Collectives and computations of all GPUs."""

    def __init__(self, request: Request, host: NDArray[np.int64], size: int) -> None:
        self._costs, self._host, self._size = costs_of(request), host, size
        self._graph = Graph()

    def compute(self, name: str, delay_ps: int, *, ring: Block, own: Sequence[Block]) -> Block:
        """Add a computation after a ring (its last step) and own computations."""
        gpus = self._host.ravel()
        return self._graph.compute(name, gpus, delay_ps, own=(ring, *own), arriving=(ring,))

    def ring(self, name: str, steps: int, *, rings: Sequence[Block], own: Sequence[Block]) -> Block:
        """Add a collective around the rings after others and own computations.

        Returns its last step.
        """
        before = tuple(rings)
        source, destination = self._host.ravel(), np.roll(self._host, -1, axis=0).ravel()
        sizes = np.full(len(source), self._size, dtype=np.int64)
        for step in range(steps):
            summed = self._size if step and name.startswith("ReduceScatter") else 0
            delay = self._costs.delay_ps(source, summed)
            flows = Flows.of(source, destination, sizes, delay_ps=delay, phases=(name,))
            block = self._graph.add(flows, own=(*before, *own), arriving=before)
            before, own = (block,), ()
        return block

    def flows(self) -> Flows:
        """Return all of them."""
        return self._graph.flows()


def _back_to_back(blocks: _Blocks, layers: int, steps: int) -> Flows:
    """Make one collective a layer, each when the one before is over at its GPU."""
    before: tuple[Block, ...] = ()
    for layer in range(layers):
        before = (blocks.ring(f"layer {layer}", steps, rings=before, own=()),)
    return blocks.flows()


def _backward(blocks: _Blocks, layers: int, steps: int, layer_ps: int) -> Flows:
    """Make a backward pass, from the last layer to the first.

    A layer is computed when its weights are there and the layer behind is done. Weights of the next
    layer are fetched while one is computed, gradients are reduced when they are computed; both
    kinds of collective have a stream of their own, in which one comes after the other.
    """
    last = layers - 1
    gathered = blocks.ring(f"AllGather {last}", steps, rings=(), own=())
    computed: tuple[Block, ...] = ()
    reduced: tuple[Block, ...] = ()
    for layer in range(last, -1, -1):
        done = blocks.compute(f"compute {layer}", layer_ps, ring=gathered, own=computed)
        if layer:
            name = f"AllGather {layer - 1}"
            gathered = blocks.ring(name, steps, rings=(gathered,), own=computed)
        reduced = (blocks.ring(f"ReduceScatter {layer}", steps, rings=reduced, own=(done,)),)
        computed = (done,)
    return blocks.flows()
