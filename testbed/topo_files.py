"""Networks of htsim, whose `.topo` files tell tiers by their ports down and up.

The format is that of the Ultra Ethernet htsim (fat_tree_topology.cpp): a line is a key and its
value, keys in any case; `Tier N` begins what is said of the switches of tier N, 0 next to hosts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from errors import UserError, near
from testbed.scenario import speeds
from testbed.scenario.speeds import TIERS

if TYPE_CHECKING:
    from pathlib import Path

NETWORK = ("nodes", "tiers", "podsize")
DOWN, UP, RATE, DELAY = "radix_down", "radix_up", "downlink_speed_gbps", "downlink_latency_ns"
SPEEDS = ((RATE, speeds.RATE), (DELAY, speeds.DELAY))
ONLY = {"bundle": 1, "switch_latency_ns": 0}
"""Keys of a tier that may say nothing else: links are single, switches take no time."""
UNREAD = ("oversubscribed",)  # follows from the ports
MOST_DIGITS = 15
KEYS = (DOWN, UP, RATE, DELAY, *ONLY, *UNREAD)


@dataclass(slots=True)
class _Part:
    """What a file says of the network or of one tier: values, and the lines they are in."""

    name: str
    values: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def read(path: Path) -> dict[str, Any]:
    """Return the fields of a scenario that a file says: topology, network, rate and delay.

    Raises UserError naming the file, the line, the key, its value and what was wanted.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    return _Reader(path).fields(text)


class _Reader:
    """Reads one file; all its faults begin with the file and the line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.network = _Part("the network")
        self.tiers: list[_Part] = []

    def fields(self, text: str) -> dict[str, Any]:
        part = self.network
        for line, written in enumerate(text.splitlines(), 1):
            words = written.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or not words[1].isdecimal():
                raise self._fault(line, f"{written.strip()!r}: write a key and a whole number")
            if len(words[1]) > MOST_DIGITS:
                raise self._fault(line, f"{words[0]}: numbers have {MOST_DIGITS} digits at most")
            key, value = words[0].lower(), int(words[1])
            if key == "tier":
                part = self._tier(line, value)
            else:
                self._note(part, line, key, value)
        levels = self._value(self.network, "tiers")
        if levels not in {2, 3}:
            self._refuse(self.network, "tiers", "2 or 3")
        if len(self.tiers) != levels:
            raise UserError(f"{self.path}: it describes {len(self.tiers)} tiers of {levels}")
        found = self._shape(levels)
        found["network"] |= self._others()
        return found | {name: float(self._value(self.tiers[0], key)) for key, name in SPEEDS}

    def _tier(self, line: int, number: int) -> _Part:
        if number != len(self.tiers):
            raise self._fault(line, f"Tier {number}: wanted Tier {len(self.tiers)} here")
        self.tiers.append(_Part(f"tier {number}"))
        return self.tiers[-1]

    def _note(self, part: _Part, line: int, key: str, value: int) -> None:
        known = NETWORK if part is self.network else KEYS
        if key not in known:
            hint = near(key, known)
            if key.startswith("queue_"):
                hint = ": queues are the same everywhere, --buffer says how long"
            raise self._fault(line, f"{key} is not read of {part.name}{hint}")
        part.values[key], part.lines[key] = value, line
        if key in ONLY and value != ONLY[key]:
            self._refuse(part, key, f"{ONLY[key]}; nothing else is modelled")

    def _shape(self, levels: int) -> dict[str, Any]:
        nodes, pod = (self._value(self.network, name) for name in ("nodes", "podsize"))
        below, above = (self._value(self.tiers[0], key) for key in (DOWN, UP))
        if levels == 2:
            self._must(self.network, "podsize", nodes, "all nodes are one pod in two tiers")
            edges = self._parts("nodes", below)
            self._must(self.tiers[1], DOWN, edges, "a port for each edge switch")
            counts = {"edges": edges, "hosts": below, "spines": above}
        else:
            edges, pods = self._parts("podsize", below), self._parts("nodes", pod)
            self._must(self.tiers[1], DOWN, edges, "a port for each edge switch of a pod")
            self._must(self.tiers[2], DOWN, pods, "a port for each pod")
            cores = above * self._value(self.tiers[1], UP)
            counts = {"pods": pods, "edges": edges, "hosts": below, "aggregations": above}
            counts["cores"] = cores
        topology = "leaf-spine" if levels == 2 else "fat-tree"
        return {"topology": topology, "network": {name: float(n) for name, n in counts.items()}}

    def _others(self) -> dict[str, float]:
        """Return rates and delays of links that are not as those of hosts."""
        return {
            f"{name}.{tier}": float(value)
            for key, name in SPEEDS
            for tier, part in zip(TIERS[1:], self.tiers[1:], strict=False)
            if (value := self._value(part, key)) != self._value(self.tiers[0], key)
        }

    def _value(self, part: _Part, key: str) -> int:
        if key not in part.values:
            raise UserError(f"{self.path}: {key} is missing in what it says of {part.name}")
        if part.values[key] == 0 and key != DELAY:
            self._refuse(part, key, "above 0")
        for speed, name in SPEEDS:
            if key == speed and part.values[key] > speeds.LARGEST[name]:
                self._refuse(part, key, f"at most {speeds.LARGEST[name]:,.0f}")
        return part.values[key]

    def _parts(self, key: str, size: int) -> int:
        whole = self._value(self.network, key)
        if whole % size:
            self._refuse(self.network, key, f"a multiple of {size}")
        return whole // size

    def _must(self, part: _Part, key: str, wanted: int, why: str) -> None:
        if self._value(part, key) != wanted:
            self._refuse(part, key, f"{wanted}: {why}")

    def _refuse(self, part: _Part, key: str, wanted: str) -> None:
        raise self._fault(part.lines[key], f"{key} is {part.values[key]}; it must be {wanted}")

    def _fault(self, line: int, what: str) -> UserError:
        return UserError(f"{self.path}:{line}: {what}")
