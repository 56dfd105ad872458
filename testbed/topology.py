"""Networks as pure data: nodes, links and stages of fat trees and leaf-spines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Tier = Literal["host", "edge", "aggregation", "core"]


@dataclass(frozen=True, slots=True)
class Node:
    """A host or switch. `pod` is -1 for cores; `index` counts within the pod, or the tier."""

    name: str
    tier: Tier
    pod: int
    index: int
    ports: int


@dataclass(frozen=True, slots=True)
class Link:
    """A cable: (lower node, its port) to (upper node, its port), numbers into Topology.nodes."""

    lower: int
    lower_port: int
    upper: int
    upper_port: int
    up: bool = True


@dataclass(frozen=True, slots=True)
class Topology:
    """Nodes and links; hosts come first, so that a host's number is its place in `nodes`."""

    name: str
    k: int
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
