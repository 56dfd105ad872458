"""Half-and-half deployments: which switches run a second scheme (paper §6.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from errors import UserError, near
from testbed.streams import stream

if TYPE_CHECKING:
    from testbed.topology import Topology

WHERE = ("random-switches", "random-pods", "aggregation", "edge")


def switches_of_second(topology: Topology, where: str, seed: int) -> frozenset[int]:
    """Return the numbers of the switches that run the second scheme of a mix.

    They are half of the edge and aggregation switches at random, those of half of the pods at
    random, or one of the two tiers; cores balance nothing. Raises UserError for an unknown
    place, or one that a leaf-spine does not have.
    """
    if where not in WHERE:
        raise UserError(f"mix: {where} is unknown{near(where, WHERE)}")
    if topology.levels == 2 and where in {"random-pods", "aggregation"}:
        raise UserError(f"mix: a leaf-spine has no {where.removeprefix('random-')}")
    balancing = [n for n in topology.switches if topology.nodes[n].tier != "core"]
    match where:
        case "random-switches":
            return frozenset(_half_of(balancing, seed))
        case "random-pods":
            pods = set(_half_of(list(range(topology.pods)), seed))
            return frozenset(n for n in balancing if topology.nodes[n].pod in pods)
        case _:
            return frozenset(n for n in balancing if topology.nodes[n].tier == where)


def _half_of(members: list[int], seed: int) -> list[int]:
    order = stream(seed, "mix").permutation(len(members))
    return [members[place] for place in order[: len(members) // 2]]
