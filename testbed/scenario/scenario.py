"""The scenario: one line a field, from which all else that knows a field is made.

A field added here is in scenario.toml, an option of run.py, a column of summary.csv, and can be
swept.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from errors import UserError, near
from testbed.scenario.about import ABOUT, About, checked, of
from testbed.scenario.shape import Shape, given, k_ary
from testbed.scenario.speeds import DELAY, LARGEST, LEAST, RATE, STAGES, Speed, Speeds, speeds_of
from testbed.scenario.toml import read_toml

TopologyName = Literal["fat-tree", "leaf-spine"]
SpreadName = Literal["stripe", "rotate", "rail"]
PICOSECONDS_PER_NANOSECOND = 1000
DEFAULT_K = 4


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: network, frames, workload, scheme and seed. Defaults are those of the paper's §6.

    `parameters` holds the scheme's own parameters where they differ from the registry's defaults;
    `cca_parameters`, `recovery_parameters` and `workload_options` likewise. `network` has
    what each tier of a network of the user's own has, by the names of docs/networks.md; it is empty
    for those that follow from k. `scheme_file` is the
    path of the P4 program of a scheme that is not in the registry. `mix` names a second scheme and
    where it is deployed (paper §6.4), for example `("ar", "random-pods")`. Raises UserError for
    a value that can be seen to be wrong without the network.
    """

    scheme: str = of("ofan", "load-balancing scheme")
    scheme_file: str | None = of(None, "P4 program of a scheme of the user's own")
    seed: int = of(1, "what all random choices follow from", least=0, most=2**63 - 1)
    topology: TopologyName = of("fat-tree", "shape of the network")
    k: int = of(DEFAULT_K, "ports of a switch", least=4, even=True)
    network: Mapping[str, float] = of({}, "the tiers of a network that is not k-ary")
    rate_gbps: float = of(
        800.0,
        "rate of a link, or of hosts' where a network of your own has others",
        unit="Gb/s",
        least=LEAST[RATE],
        most=LARGEST[RATE],
    )
    delay_ns: float = of(
        500.0,
        "propagation delay of a link, likewise",
        unit="ns",
        least=LEAST[DELAY],
        most=LARGEST[DELAY],
    )
    payload_bytes: int = of(4096, "most payload of a packet", unit="B", least=1, most=65_536)
    header_bytes: int = of(62, "headers and FCS of a data frame", unit="B", least=62, most=9_000)
    ack_bytes: int = of(64, "what an ACK is charged as", unit="B", least=1, most=9_000)
    gap_bytes: int = of(20, "preamble and gap between frames", unit="B", least=0, most=9_000)
    buffer_bytes: int | None = of(
        None, "most that a switch's output queues", unit="B", least=1, none="unlimited"
    )
    shared_bytes: int | None = of(
        None, "buffer that all ports of a switch share", unit="B", least=1, none="none"
    )
    alpha: float = of(1.0, "times of what is left of it that one queue may have", above=0)
    ecn_bytes: int = of(80_000, "queue from which frames are marked; 0: never", unit="B", least=0)
    acks: bool = of(default=True, words="whether receivers acknowledge packets")
    workload: str = of("permutation", "who sends to whom, of --list, or a .cm file")
    message_bytes: int = of(1 << 20, "size of a message", unit="B", least=1)
    load: float = of(1.0, "share of the line rate at which hosts send", above=0, most=1)
    spread: SpreadName = of("stripe", "how messages go to the planes of a network that has several")
    failures: float = of(0.0, "share of links that failed", least=0, below=1)
    cca: str = of("none", "congestion control of hosts")
    recovery: str | None = of(
        None, "loss recovery of hosts", none="selective with congestion control, none without"
    )
    trim: bool = of(default=False, words="whether full ports cut data frames to their headers")
    ack_priority: bool = of(default=False, words="whether ACKs go before data in every queue")
    loss: float = of(0.0, "share of frames that are lost on their last link", least=0, below=1)
    link_events: tuple[str, ...] = of((), "links that fail or come back: 20:e0_0-a0_1:down, in us")
    reaction_us: float = of(
        50.0, "how long after a link event the control plane reacts", unit="us", least=0
    )
    mix: tuple[str, str] | None = of(None, "a second scheme and where it is deployed")
    parameters: Mapping[str, float] = of({}, "a scheme's own, as --list shows them")
    cca_parameters: Mapping[str, float] = of({}, "a congestion control's own, as --list shows them")
    recovery_parameters: Mapping[str, float] = of({}, "a recovery's own, as --list shows them")
    workload_options: Mapping[str, float | str] = of({}, "a workload's own, as --list shows them")

    def __post_init__(self) -> None:
        """Check every field that can be checked without the network; raises UserError."""
        for field in FIELDS:
            value = checked(field.name, getattr(self, field.name), field.kind, field.about)
            object.__setattr__(self, field.name, value)
        if self.network and self.k != DEFAULT_K:
            raise UserError(f"k is {self.k}; a network of your own has no k")
        _ = self.shape, self.speeds

    @property
    def shape(self) -> Shape:
        """How many nodes each tier of the network has."""
        if self.network:
            return given(self.topology, self.network)
        return k_ary(self.topology, self.k)

    @property
    def speeds(self) -> Speeds:
        """How fast the network's links are."""
        return speeds_of(self.shape, self.rate_gbps, self.delay_ns, self.network)

    @property
    def levels(self) -> int:
        """Tiers of switches: 2 in a leaf-spine, otherwise 3."""
        return 2 if self.topology == "leaf-spine" else 3

    @property
    def hosts(self) -> int:
        """Hosts of the network; NICs, where hosts have one in each of several planes."""
        return self.shape.hosts

    @property
    def ranks(self) -> int:
        """Hosts or GPUs that a workload is between."""
        return self.shape.hosts_per_plane * self.gpus

    @property
    def gpus(self) -> int:
        """Ranks of a host: one with rails for each of its NICs."""
        return self.shape.planes if self.spread == "rail" else 1

    @property
    def hops(self) -> int:
        """Links between the farthest hosts, one way."""
        return 2 * self.levels

    @property
    def round_trip_ps(self) -> int:
        """What a full data frame and its ACK take between the farthest hosts, without queues."""
        return self.round_trip_over(self.hops)

    def round_trip_over(self, hops: int) -> int:
        """Return the same for hosts so many links apart, over links as most of their tier."""
        tiers, half = self.speeds.tiers, hops // 2
        way = (*STAGES[:half], *STAGES[len(STAGES) - half :])
        return sum(self._there_and_back_ps(tiers[tier]) for tier in way)

    def _there_and_back_ps(self, speed: Speed) -> int:
        sizes = (self.data_frame_bytes, self.ack_bytes)
        frames = sum(round(size * speed.picoseconds_per_byte) for size in sizes)
        return 2 * speed.delay_ps + frames

    @property
    def recovers(self) -> str:
        """The loss recovery that hosts really have."""
        return self.recovery or ("none" if self.cca == "none" else "selective")

    @property
    def data_frame_bytes(self) -> int:
        """Bytes of a full data frame, headers and FCS included."""
        return self.payload_bytes + self.header_bytes

    @property
    def picoseconds_per_byte(self) -> float:
        """Time a byte takes on a link."""
        return 8 * PICOSECONDS_PER_NANOSECOND / self.rate_gbps

    @property
    def data_ns(self) -> float:
        """Time that a full data frame takes on a link, without the gap: T_d."""
        return self.time_ns(self.data_frame_bytes)

    @property
    def ack_ns(self) -> float:
        """Time that an ACK takes on a link: T_a."""
        return self.time_ns(self.ack_bytes)

    @property
    def gap_ns(self) -> float:
        """Time between two frames: T_g."""
        return self.time_ns(self.gap_bytes)

    def time_ns(self, wire_bytes: float) -> float:
        """Time that `wire_bytes` take on a link, in nanoseconds."""
        return wire_bytes * 8 / self.rate_gbps

    def serialisation_ps(self, frame_bytes: int) -> int:
        """Time that `frame_bytes` take on a link, in picoseconds, rounded to the nearest."""
        return round(frame_bytes * self.picoseconds_per_byte)

    def packets(self, message_bytes: int) -> int:
        """Count the data frames of a message."""
        return -(-message_bytes // self.payload_bytes)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a scenario: its name, type, default, and what there is to say of it."""

    name: str
    kind: Any
    default: Any
    about: About


FIELDS: tuple[Field, ...] = tuple(
    Field(
        field.name,
        field.type,
        {} if field.default is dataclasses.MISSING else field.default,
        field.metadata[ABOUT],
    )
    for field in dataclasses.fields(Scenario)
)
NAMES = tuple(field.name for field in FIELDS)


def to_toml(scenario: Scenario) -> str:
    """Render a scenario as TOML with every field that is not None; from_toml reads it back."""
    import tomli_w  # noqa: PLC0415 - `python -m testbed` begins in any Python, then changes to ours

    values = {name: getattr(scenario, name) for name in NAMES}
    return tomli_w.dumps({name: value for name, value in values.items() if value is not None})


def from_toml(path: Path, *, whole: bool = False) -> Scenario:
    """Read a scenario; fields that are not there have their defaults, unless it has to be whole.

    Raises UserError naming the file and the field that is wrong, or is missing where all have
    to be there.
    """
    _, raw = read_toml(path)
    for name in raw:
        if name not in NAMES:
            raise UserError(f"{path}: a scenario has no field {name}{near(name, NAMES)}")
    for field in FIELDS if whole else ():
        if field.name not in raw and field.default is not None:
            raise UserError(f"{path}: {field.name} is missing")
    try:
        return Scenario(**raw)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error


def flat(scenario: Scenario) -> dict[str, float | str | None]:
    """Return a scenario's fields as columns of a table: plain values by name.

    Entries of a table have columns of their own (`parameters.pipe_ports`), those of a list are
    joined with `+`.
    """
    columns: dict[str, float | str | None] = {}
    for name in NAMES:
        match getattr(scenario, name):
            case Mapping() as table:
                columns |= {f"{name}.{key}": value for key, value in sorted(table.items())}
            case tuple() as values:
                columns[name] = "+".join(values)
            case value:
                columns[name] = value
    return columns


def variant(scenario: Scenario) -> str:
    """Name a scheme with the parameters it was given: `pofan(pipe_ports=1)`, or `ofan`."""
    given = ",".join(f"{name}={value:g}" for name, value in sorted(scenario.parameters.items()))
    mixed = "+".join(("", *scenario.mix)) if scenario.mix else ""
    return scenario.scheme + mixed + (f"({given})" if given else "")
