"""The scenario of a run as its result folder tells it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class ResultError(ValueError):
    """A result that cannot be read; the message names the file and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One run's network, frames, workload, scheme and seed, in the units of scenario.toml."""

    scheme: str
    seed: int
    topology: str
    k: int
    rate_gbps: float
    delay_ns: float
    payload_bytes: int
    header_bytes: int
    ack_bytes: int
    gap_bytes: int
    acks: bool
    workload: str
    message_bytes: int
    load: float
    failures: float = 0.0
    buffer_bytes: int | None = None
    ecn_bytes: int | None = None
    mix: tuple[str, str] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    workload_options: Mapping[str, float | str] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Hosts of an edge switch, and uplinks of a switch: k/2."""
        return self.k // 2

    @property
    def levels(self) -> int:
        """Tiers of switches: 2 in a leaf-spine, otherwise 3."""
        return 2 if self.topology == "leaf-spine" else 3

    @property
    def hosts(self) -> int:
        """Hosts of the network."""
        return self.k * self.width if self.levels == 2 else self.k * self.width**2

    @property
    def data_frame_bytes(self) -> int:
        """Bytes of a full data frame with its headers and FCS."""
        return self.payload_bytes + self.header_bytes

    @property
    def nanoseconds_per_byte(self) -> float:
        """Time that a byte takes on a link."""
        return 8 / self.rate_gbps

    @property
    def data_ns(self) -> float:
        """Time that a full data frame takes on a link, without the gap."""
        return self.data_frame_bytes * self.nanoseconds_per_byte


ACCEPTED = {int: (int,), float: (int, float), bool: (bool,), str: (str,), dict: (dict,)}
REQUIRED: dict[str, type] = {
    "scheme": str,
    "seed": int,
    "topology": str,
    "k": int,
    "rate_gbps": float,
    "delay_ns": float,
    "payload_bytes": int,
    "header_bytes": int,
    "ack_bytes": int,
    "gap_bytes": int,
    "acks": bool,
    "workload": str,
    "message_bytes": int,
    "load": float,
}
OPTIONAL: dict[str, type] = {
    "failures": float,
    "buffer_bytes": int,
    "ecn_bytes": int,
    "parameters": dict,
    "workload_options": dict,
}


def read_setting(path: Path) -> Setting:
    """Read a scenario.toml; raises ResultError naming the file and the key that is wrong."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultError(f"{path}: not TOML: {error}") from error
    values: dict[str, Any] = {name: _checked(path, raw, name) for name in REQUIRED}
    values |= {name: _checked(path, raw, name) for name in OPTIONAL if name in raw}
    for name, value in values.get("parameters", {}).items():
        if not isinstance(value, int | float):
            raise ResultError(f"{path}: parameter {name} is {value!r}; it must be a number")
    if "mix" in raw:
        values["mix"] = _mix(path, raw["mix"])
    if values["k"] < 2 or values["rate_gbps"] <= 0 or values["payload_bytes"] < 1:
        raise ResultError(f"{path}: k, rate_gbps or payload_bytes is not a size")
    return Setting(**values)


def _checked(path: Path, raw: Mapping[str, Any], name: str) -> object:
    if name not in raw:
        raise ResultError(f"{path}: {name} is missing")
    value, wanted = raw[name], (REQUIRED | OPTIONAL)[name]
    if not isinstance(value, ACCEPTED[wanted]) or (wanted is not bool and isinstance(value, bool)):
        raise ResultError(f"{path}: {name} is {value!r}; it must be of type {wanted.__name__}")
    return value


def _mix(path: Path, value: object) -> tuple[str, str]:
    match value:
        case [str(second), str(where)]:
            return second, where
    raise ResultError(f"{path}: mix is {value!r}; it must be a scheme and a place")
