"""How fast links are: by the tier of their lower end, and links that are named."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from testbed.scenario.shape import Shape

RATE, DELAY = "rate_gbps", "delay_ns"
LEAST = {RATE: 0.0001, DELAY: 0.0}
LARGEST = {RATE: 100_000.0, DELAY: 10_000_000_000.0}
"""A frame takes some picoseconds at least; times of many frames and delays stay within 63 bits."""
TIERS = ("host", "edge", "core")
"""Links by what they are for: of a host, above an edge switch, and between aggregation and core."""
STAGES = ("host", "edge", "core", "core", "edge", "host")
"""The links of the longest way; a shorter one leaves out those in the middle."""
NODE = re.compile(r"([hea])(\d+)(?:_(\d+))?")


@dataclass(frozen=True, slots=True)
class Speed:
    """A link's rate and propagation delay."""

    rate_gbps: float
    delay_ns: float

    @property
    def picoseconds_per_byte(self) -> float:
        """Time a byte takes."""
        return 8000 / self.rate_gbps

    @property
    def delay_ps(self) -> int:
        """The delay in whole picoseconds."""
        return round(self.delay_ns * 1000)


@dataclass(frozen=True, slots=True)
class Speeds:
    """The speeds of all links: a tier's, or a link's own by the names of its ends, lower first."""

    tiers: Mapping[str, Speed]
    links: Mapping[tuple[str, str], Speed]

    @property
    def uniform(self) -> bool:
        """Whether all links are alike."""
        return len({*self.tiers.values(), *self.links.values()}) == 1

    def between(self, one: str, other: str) -> Speed:
        """Return the speed of the link between two nodes, given in any order."""
        own = self.links.get((one, other)) or self.links.get((other, one))
        return own or self.tiers[tier_of(one, other)]

    def best(self, tier: str) -> Speed:
        """Return the highest rate and the least delay that any link of a tier has."""
        all_of_them = [self.tiers[tier]]
        all_of_them += [each for ends, each in self.links.items() if tier_of(*ends) == tier]
        rate = max(each.rate_gbps for each in all_of_them)
        return Speed(rate, min(each.delay_ns for each in all_of_them))


def tier_of(one: str, other: str) -> str:
    """Tell of which tier the link between two nodes is."""
    kinds = {one[0], other[0]}
    return "host" if "h" in kinds else "edge" if "e" in kinds else "core"


def speeds_of(
    shape: Shape, rate_gbps: float, delay_ns: float, network: Mapping[str, float]
) -> Speeds:
    """Return the speeds of a network whose host links are as given.

    `network` has what differs: `rate_gbps.core`, `delay_ns.a0_1-c2`. Raises UserError naming the
    entry that is wrong.
    """
    rates = _entries(RATE, shape, network)
    delays = _entries(DELAY, shape, network)
    tiers = {tier: Speed(rates.pop(tier, rate_gbps), delays.pop(tier, delay_ns)) for tier in TIERS}
    links: dict[tuple[str, str], Speed] = {}
    for name in dict.fromkeys((*rates, *delays)):
        ends = _ends(shape, name)
        usual = tiers[tier_of(*ends)]
        if ends in links:
            raise UserError(f"{name}: this link is named twice")
        links[ends] = Speed(rates.get(name, usual.rate_gbps), delays.get(name, usual.delay_ns))
    return Speeds(tiers, links)


def _entries(kind: str, shape: Shape, network: Mapping[str, float]) -> dict[str, float]:
    found = {
        name.removeprefix(f"{kind}."): value
        for name, value in network.items()
        if name.startswith(f"{kind}.")
    }
    for name, value in found.items():
        if name == TIERS[0]:
            raise UserError(f"{name}: the scenario's own {kind} says it")
        if name == TIERS[2] and shape.levels == 2:
            raise UserError(f"{name} = {value:g}: a leaf-spine has links of hosts and edges only")
        check_speed(kind, name, value)
    return found


def check_speed(kind: str, name: str, value: float) -> None:
    """Raise UserError naming the tier or link whose rate or delay cannot be."""
    least, most = LEAST[kind], LARGEST[kind]
    if not least <= value <= most:
        raise UserError(
            f"{name} = {value:g}: {kind} must be at least {least:g} and at most {most:,.0f}"
        )


def _ends(shape: Shape, name: str) -> tuple[str, str]:
    """Return the ends of a link, the lower one first."""
    one, _, other = name.partition("-")
    for lower, upper in ((one, other), (other, one)):
        if upper in _above(shape, lower):
            return lower, upper
    raise UserError(
        f"{name}: there is no such link; write host, edge or core, or a link: h0-e0_0, e0_0-a0_1, "
        "a0_1-c1, and e0_0-c1 in a leaf-spine"
    )


def _above(shape: Shape, lower: str) -> list[str]:
    """List the nodes right above one; none for a name that no host, edge or aggregation has."""
    match = NODE.fullmatch(lower)
    kind, first, second = (match[1], int(match[2]), int(match[3] or 0)) if match else ("", 0, 0)
    uplinks = range(shape.edge_uplinks)
    if kind == "h" and first < shape.hosts:
        pod, edge = divmod(first // shape.hosts_per_edge, shape.edges_per_pod)
        return [f"e{pod}_{edge}"]
    if kind == "e" and first < shape.pods and second < shape.edges_per_pod:
        spines = first * shape.paths
        return [f"a{first}_{j}" if shape.levels == 3 else f"c{spines + j}" for j in uplinks]
    if kind == "a" and first < shape.pods and shape.levels == 3 and second in uplinks:
        cores = first // shape.pods_per_plane * shape.paths + second
        return [f"c{cores + layer * len(uplinks)}" for layer in range(shape.aggregation_uplinks)]
    return []
