"""A scenario: everything that defines one run, in the paper's units."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TopologyName = Literal["fat-tree", "leaf-spine"]
PICOSECONDS_PER_NANOSECOND = 1000


class ScenarioError(ValueError):
    """A scenario that cannot be run; the message names the field and its value."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: network, frames, workload, scheme and seed. Defaults are those of the paper's §6.

    `parameters` holds the scheme's own parameters where they differ from the registry's defaults;
    `workload_options` likewise for the workload. `buffer_bytes` is None for unlimited queues.
    `mix` names a second scheme and where it is deployed (paper §6.4), for example
    `("ar", "random-pods")`.
    """

    scheme: str = "ofan"
    seed: int = 1
    topology: TopologyName = "fat-tree"
    k: int = 4
    rate_gbps: float = 800.0
    delay_ns: float = 500.0
    payload_bytes: int = 4096
    header_bytes: int = 62
    ack_bytes: int = 64
    gap_bytes: int = 20
    buffer_bytes: int | None = None
    ecn_bytes: int = 80_000
    acks: bool = True
    workload: str = "permutation"
    message_bytes: int = 1 << 20
    load: float = 1.0
    failures: float = 0.0
    mix: tuple[str, str] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    workload_options: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every field that can be checked without the network; raises ScenarioError."""
        _require(self.k >= 4 and self.k % 2 == 0, "k", self.k, "an even number of at least 4")
        _require(0 < self.load <= 1, "load", self.load, "above 0 and at most 1")
        _require(self.message_bytes > 0, "message", self.message_bytes, "at least one byte")
        _require(0 < self.payload_bytes <= 65_536, "payload", self.payload_bytes, "1 to 65,536 B")
        _require(0 <= self.failures < 1, "failures", self.failures, "at least 0 and below 1")
        _require(self.rate_gbps > 0, "rate_gbps", self.rate_gbps, "above 0")
        _require(self.delay_ns >= 0, "delay_ns", self.delay_ns, "at least 0")
        _require(self.seed >= 0, "seed", self.seed, "at least 0")

    @property
    def data_frame_bytes(self) -> int:
        """Bytes of a full data frame, headers and FCS included."""
        return self.payload_bytes + self.header_bytes

    @property
    def picoseconds_per_byte(self) -> float:
        """Time a byte takes on a link."""
        return 8 * PICOSECONDS_PER_NANOSECOND / self.rate_gbps

    def serialisation_ps(self, frame_bytes: int) -> int:
        """Time that `frame_bytes` take on a link, in picoseconds, rounded to the nearest."""
        return round(frame_bytes * self.picoseconds_per_byte)

    def to_toml(self) -> str:
        """Render the scenario as TOML; from_toml reads it back unchanged."""
        flat = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        tables = {name: value for name, value in flat.items() if isinstance(value, dict)}
        lines = [
            f"{name} = {_toml(value)}"
            for name, value in flat.items()
            if name not in tables and value is not None
        ]
        for name, table in tables.items():
            lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"


def from_toml(path: Path) -> Scenario:
    """Read a scenario; raises ScenarioError naming the file and the field that is wrong."""
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        if "mix" in raw:
            raw["mix"] = tuple(raw["mix"])
        return Scenario(**raw)
    except (OSError, TypeError, ValueError) as error:
        raise ScenarioError(f"{path}: {error}") from error


def _require(holds: bool, name: str, value: object, wanted: str) -> None:  # noqa: FBT001
    if not holds:
        raise ScenarioError(f"{name} is {value}; it must be {wanted}")


def _toml(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case tuple() | list():
            return "[" + ", ".join(_toml(item) for item in value) + "]"
        case _:
            return repr(value)
