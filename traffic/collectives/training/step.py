"""A training step under FSDP2 with hybrid sharding, and expert parallelism where there are experts.

Schedule as PyTorch's FSDP2 has it: the weights of a layer are gathered while the one before is
computed, those of the last layer stay for the backward pass, and gradients of a layer are reduced
while the next ones are computed. Weights, gradients and sums between replicas each have a stream of
their own, in which one collective comes after the other. The optimizer takes no time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from errors import UserError
from traffic.collectives.all_to_all import ORDER
from traffic.collectives.costs import OPTIONS as COSTS
from traffic.collectives.costs import costs_of
from traffic.collectives.graph import Block, Graph
from traffic.collectives.models import EXPERT_MODELS, MODELS, Model
from traffic.collectives.moe import exchange as moe
from traffic.collectives.training.jobs import OPTIONS as JOBS
from traffic.collectives.training.jobs import places
from traffic.collectives.training.rings import Rings, Turn
from traffic.flows import Flows, joined
from traffic.request import Request, Volume

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

KNOWN = {**MODELS, **EXPERT_MODELS}
TOKENS = 8192
TFLOPS = 989  # an H100's, dense, BF16
EFFICIENCY = 0.4  # Llama 3's training had 38 to 43 % (Grattafiori et al., 2024, Table 4)
BACKWARD = 2  # times the operations of forward
BYTES_A_NUMBER = 2
PICOSECONDS = 1e12
OPTIONS = {
    "model": ", ".join(KNOWN),
    "layers": "2, or all",
    "parameters": "those of a layer of the model, without experts",
    "tokens": f"{TOKENS} of one sequence, a GPU",
    "tflops": f"{TFLOPS} of a GPU",
    "efficiency": f"{EFFICIENCY} of them",
    "weight_bytes": "2 a parameter",
    "gradient_bytes": "4 a parameter",
    "replicas": "1 of the sharded model",
    "skew": "1.48 of what GPUs receive for experts",
    **JOBS,
    **ORDER,
    **COSTS,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """One job in numbers: layers, times of a layer's forward pass, bytes of a shard."""

    model: Model
    layers: int
    tokens: int
    outside_ps: int
    experts_ps: int
    weights: int
    gradients: int


def training_step(request: Request) -> Flows:
    """Make one step of each job: each host is a GPU.

    A GPU computes all layers on its own `tokens` (one sequence), 2 operations a parameter and
    token, twice that backward, at `efficiency` times `tflops`. A layer is sharded over the servers
    of a replica and their GPUs; `replicas` of the sharded model each have as many servers, and sum
    their gradients in rings. A layer with experts dispatches its tokens after attention and
    combines them after, and the other way round in the backward pass, between all GPUs of the job
    as traffic.collectives.moe has it; experts are taken to compute equally long. Options as listed
    in OPTIONS. Raises UserError for hosts that do not make the servers wanted.
    """
    return joined([_job(request, gpus, number) for number, gpus in enumerate(places(request))])


def volume(request: Request) -> Volume:
    """Say how much it comes to."""
    jobs, servers, server = places(replace(request, rng=np.random.default_rng(0))).shape
    plan, replicas = _plan(request, servers, server), _replicas(request, servers)
    within = servers // replicas - 1
    gpus = jobs * servers * server
    rings = (3 * plan.layers - 1) * within + plan.layers * 2 * (replicas - 1)
    sent = ((2 * plan.layers - 1) * plan.weights + plan.layers * plan.gradients) * within
    sent += plan.layers * 2 * (replicas - 1) * -(-plan.gradients // replicas)
    messages, steps = rings, 2 * plan.layers
    if plan.model.experts:
        messages += 4 * plan.layers * (servers - 1)
        sent += 4 * plan.layers * _dispatched(plan, servers)
        steps += 4 * plan.layers
    return Volume(gpus * (messages + steps), gpus * sent)


def _replicas(request: Request, servers: int) -> int:
    replicas = request.whole("replicas", 1, at_least=1)
    if servers % replicas:
        raise UserError(f"option replicas is {replicas}; a job has {servers} servers")
    return replicas


def _plan(request: Request, servers: int, server: int) -> Plan:
    model = KNOWN[request.choice("model", tuple(KNOWN))]
    model = replace(model, layer=request.number("parameters", model.layer))
    if not 1 <= model.layer < float("inf"):
        raise UserError(f"option parameters is {model.layer:g}; it must be at least 1")
    all_layers = request.options.get("layers") == "all"
    layers = model.layers if all_layers else request.whole("layers", 2, at_least=1)
    tokens = request.whole("tokens", TOKENS, at_least=1)
    rate = 1e12 * request.number("tflops", TFLOPS) * request.number("efficiency", EFFICIENCY)
    if not 0 < rate < float("inf"):
        raise UserError("options tflops and efficiency must be above 0")
    outside, inside = model.forward_flops(tokens)
    shards = servers // _replicas(request, servers) * server

    def shard(name: str, default: int) -> int:
        return max(1, round(model.layer * request.whole(name, default, at_least=1) / shards))

    return Plan(
        model,
        layers,
        tokens,
        round(outside / rate * PICOSECONDS),
        round(inside / rate * PICOSECONDS),
        shard("weight_bytes", 2),
        shard("gradient_bytes", 4),
    )


def _job(request: Request, gpus: NDArray[np.int64], number: int) -> Flows:
    servers, server = gpus.shape
    replicas = _replicas(request, servers)
    rings = Rings(gpus.reshape(replicas, servers // replicas, server), costs_of(request))
    plan = _plan(request, servers, server)
    exchange = _exchange(request, gpus, plan) if plan.model.experts else None
    prefix = f"job {number}: " if request.whole("jobs", 1) > 1 else ""
    return _Step(plan, rings, gpus.ravel(), exchange, prefix).flows()


def _dispatched(plan: Plan, servers: int) -> int:
    """Return the bytes that a GPU sends to other servers' experts, on average."""
    experts = plan.model.experts
    copies = plan.tokens * experts.top if experts else 0
    return round(copies * plan.model.hidden * BYTES_A_NUMBER * (servers - 1) / servers)


def _exchange(request: Request, gpus: NDArray[np.int64], plan: Plan) -> Flows:
    """Make one dispatch between the GPUs of a job."""
    servers, server = gpus.shape
    if servers < 2 or plan.model.experts is None:
        raise UserError("experts need two or more servers for each job")
    experts, total = plan.model.experts.number, gpus.size
    if experts % total:
        raise UserError(f"{experts} experts do not divide among the {total} GPUs of a job")
    options = {
        "server": server,
        "experts": experts,
        "dispatch_bytes": plan.model.hidden * BYTES_A_NUMBER,
        **{name: request.options[name] for name in ("skew", "order") if name in request.options},
    }
    inner = replace(request, hosts=total, message_bytes=_dispatched(plan, servers), options=options)
    sent = moe.moe(inner)
    hosts = gpus.ravel()
    return Flows.of(hosts[sent.source], hosts[sent.destination], sent.size_bytes)


class _Step:
    """The schedule of one job's step."""

    def __init__(
        self,
        plan: Plan,
        rings: Rings,
        gpus: NDArray[np.int64],
        exchange: Flows | None,
        prefix: str,
    ) -> None:
        self._plan, self._rings, self._gpus = plan, rings, gpus
        self._exchange, self._prefix = exchange, prefix
        self._graph = Graph()

    def flows(self) -> Flows:
        """Return the whole step."""
        self._backward(*self._forward())
        return self._graph.flows()

    def _forward(self) -> tuple[Block, tuple[Block, ...]]:
        """Add the forward pass; returns what it ends with, and the last gathering."""
        gathered = self._gather("forward", 0, (), ())
        before: tuple[Block, ...] = ()
        for layer in range(self._plan.layers):
            weights = gathered
            if layer + 1 < self._plan.layers:
                gathered = self._gather("forward", layer + 1, gathered, before)
            name = f"forward {layer}"
            done = self._compute(name, self._plan.outside_ps, (*before, *weights), weights)
            done = self._through_experts(name, done, 1)
            before = (done,)
        return done, gathered

    def _backward(self, done: Block, gathered: tuple[Block, ...]) -> None:
        reduced: tuple[Block, ...] = ()
        summed: tuple[Block, ...] = ()
        weights: tuple[Block, ...] = ()  # those of the last layer are still there
        for layer in range(self._plan.layers - 1, -1, -1):
            if layer:
                gathered = self._gather("backward", layer - 1, gathered, (done,))
            name = f"backward {layer}"
            done = self._through_experts(name, done, BACKWARD)
            work = BACKWARD * self._plan.outside_ps
            done = self._compute(name, work, (done, *weights), weights)
            reduced = self._rings.scatter(
                self._graph,
                f"{self._prefix}ReduceScatter {layer}",
                self._plan.gradients,
                Turn(reduced, (done,)),
            )
            summed = self._rings.reduce(
                self._graph,
                f"{self._prefix}AllReduce {layer}",
                self._plan.gradients,
                Turn((*summed, *reduced), (done,)),
            )
            weights = gathered

    def _gather(
        self, direction: str, layer: int, before: Sequence[Block], own: Sequence[Block]
    ) -> tuple[Block, ...]:
        name = f"{self._prefix}{direction} AllGather {layer}"
        return self._rings.gather(self._graph, name, self._plan.weights, Turn(before, own))

    def _compute(
        self, name: str, delay_ps: int, own: Sequence[Block], arriving: Sequence[Block]
    ) -> Block:
        name = f"{self._prefix}{name}"
        return self._graph.compute(name, self._gpus, delay_ps, own=own, arriving=arriving)

    def _through_experts(self, name: str, done: Block, times: int) -> Block:
        """Send tokens (or their gradients) to their experts and back, if there are any."""
        if self._exchange is None:
            return done
        there = replace(self._exchange, phases=(f"{self._prefix}{name} dispatch",))
        sent = self._graph.add(there, own=(done,))
        work = times * self._plan.experts_ps
        computed = self._compute(f"{name} experts", work, (done, sent), (sent,))
        back = replace(
            there,
            source=there.destination,
            destination=there.source,
            phases=(f"{self._prefix}{name} combine",),
        )
        returned = self._graph.add(back, own=(computed,))
        return self._compute(f"{name} combined", 0, (computed, returned), (returned,))
