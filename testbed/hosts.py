"""What hosts do in a network: the registry of entropies, congestion controls and recoveries.

An entropy is how hosts choose the UDP source port of their frames, the hosts' half of a scheme; a
congestion control (CCA) says when a flow may send, a recovery what is sent again. Each is one C
file, testbed/dataplane/hosts/KIND_NAME.c, and one entry here. The entry's parameters and their
defaults stand here only: C gets them as numbers in this order, and their places by name, from a
header that testbed/dataplane/library.py writes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from errors import UserError, near
from testbed import paths
from testbed.parameters import Parameter, settle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from testbed.plan import HostPaths
    from testbed.topology import Topology
    from traffic.flows import Flows


@dataclass(frozen=True, slots=True)
class Chosen:
    """An entry of one of the registries by name, with those of its parameters that were settled."""

    name: str
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entropy:
    """How hosts choose the entropy of their frames.

    `paths` works out the paths that each flow's source may name, from the network, the flows and
    the seed, where hosts name paths; `needs_ecn` says that hosts read marks from ACKs.
    """

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    paths: Callable[[Topology, Flows, int], HostPaths] | None = None
    needs_ecn: bool = False


@dataclass(frozen=True, slots=True)
class Congestion:
    """A congestion control algorithm; `label` is what figures call it."""

    name: str
    label: str
    help: str
    reference: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class Recovery:
    """A way to recover from losses; `trims` says that it works where ports trim."""

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    trims: bool = True


Registered = Entropy | Congestion | Recovery
Kind = TypeVar("Kind", Entropy, Congestion, Recovery)


def _flag(name: str, default: int, text: str) -> Parameter:
    return Parameter(name, default, text, 0, 1, whole=True)


RECYCLING = (
    Parameter("values", 16_000, "entropy values to draw from", 1, 65_536, whole=True),
    _flag("freezing", 1, "whether a timeout freezes the buffer"),
    Parameter("freeze_us", 10_000, "how long a flow stays frozen"),
    Parameter("timeout_floor_us", 2, "the shortest timeout of an entropy value"),
    Parameter("timeout_initial_us", 1_000, "the timeout before round trips are known"),
    Parameter("buffer", 8, "values that a flow caches", 1, 16, whole=True),
    Parameter("explore", 16, "values drawn at random after a freeze", 0, 65_535, whole=True),
)

ENTROPIES = (
    Entropy("flow", "one value a flow"),
    Entropy("random", "a new value each packet"),
    Entropy("reps", "values recycled from ACKs without marks", RECYCLING, needs_ecn=True),
    Entropy("drb", "the paths to a host in rotation", paths=paths.rotation),
    Entropy("ethereal", "subflows pinned to paths", paths=paths.pinning),
)

FIRST_WINDOW = (
    Parameter("window_packets", 0, "first window; 0: from the next"),
    Parameter("window_bdps", 1.5, "first window in bandwidth-delay products", 0.01),
)
DCTCP = (
    *FIRST_WINDOW,
    Parameter("threshold_packets", 100, "window up to which slow start goes"),
    Parameter("gain", 1 / 16, "weight of a window's share of marks in their average", 0, 1),
    Parameter("duplicates", 3, "duplicate ACKs, and one for each path, that mean a loss"),
)
NSCC = (
    _flag("profile", 0, "0: the reference simulator, 1: specification 1.0.3"),
    Parameter("target_us", 0, "queueing delay aimed at; 0: in round trips"),
    Parameter("target_rtts", 0, "the same in round trips; 0: 1, with trimming 0.75"),
    Parameter("fast_rtts", 0.16, "delay in round trips below which fast increase starts"),
    Parameter("most_bdps", 1.5, "largest and first window in bandwidth-delay products", 0.01),
    Parameter("gamma", 0.8, "strength of a cut", 0, 1),
    Parameter("most_cut", 0.5, "largest share that one cut takes", 0, 1),
    Parameter("delay_gain", 0.0125, "weight of a delay in their average", 0, 1),
)
SWIFT = (
    *FIRST_WINDOW,
    Parameter("least_packets", 0.01, "smallest window", 0.001),
    Parameter("most_packets", 1_000, "largest window", 1),
    Parameter("queue_us", 1, "queueing delay in the target, beside the unloaded round trip"),
    Parameter("range_us", 1, "what flow scaling adds to it at the most"),
    Parameter("hop_us", 0, "what each link of the way adds to it"),
    Parameter("ai", 1, "packets that a window grows by in a round trip"),
    Parameter("beta", 0.8, "strength of a cut", 0, 1),
    Parameter("most_cut", 0.5, "largest share that one cut takes", 0, 1),
)
SUCCESSIVE = Parameter("successive", 5, "delays above the target in a row that a cut needs", 1)
CONGESTIONS = (
    Congestion("none", "no CCA", "hosts send at their pace", "paper §2.2"),
    Congestion("dctcp", "DCTCP", "share of marks, NewReno", "Alizadeh et al. 2010", DCTCP),
    Congestion("nscc", "NSCC", "delay and marks", "UEC specification 1.0.3", NSCC),
    Congestion(
        "swift",
        "Swift",
        "delay against a target",
        "Kumar et al. 2020",
        (*SWIFT, Parameter("duplicates", 3, "duplicate ACKs, and one for each path, for a loss")),
    ),
    Congestion(
        "lswift",
        "LSwift",
        "Swift that tolerates reordering",
        "arXiv 2509.07907",
        (*SWIFT, SUCCESSIVE),
    ),
    Congestion(
        "mswift",
        "MSwift",
        "Swift with the median of delays",
        "arXiv 2509.07907",
        (
            *SWIFT,
            SUCCESSIVE,
            _flag("median_counts", 1, "whether the median also says which delays are above"),
        ),
    ),
    Congestion(
        "mnscc",
        "MNSCC",
        "NSCC with the median of delays",
        "arXiv 2509.07907",
        (*NSCC, Parameter("history", 4, "delays that the median is of, at the most", 1)),
    ),
)

TIMER = (
    Parameter("timeout_us", 0, "timeout of a packet; 0: from the two that follow"),
    Parameter("timeout_base_us", 15, "timeout of a packet, less the time that full buffers take"),
    Parameter("timeout_drains", 6, "full buffers on a packet's way"),
    _flag("adaptive", 0, "1: at least srtt + 4 mdev, and doubled by each timeout in a row"),
    Parameter("retries", 100, "timeouts without news after which a flow gives up", 1),
)
SLEEK = (
    *TIMER,
    Parameter("factor", 1.5, "windows of packets out of order that mean a loss"),
    Parameter("most_bdps", 1.5, "the most of them, in bandwidth-delay products"),
    Parameter("least_packets", 5, "and the least", 1),
    Parameter("probe_rtts", 3, "round trips without an ACK after which a probe asks for one", 0.1),
    Parameter("again_rtts", 5, "round trips from a probe to the next", 0.1),
    Parameter("target_rtts", 1, "queueing delay up to which a probe's answer means a loss"),
)
RECOVERIES = (
    Recovery("none", "what is lost stays lost", trims=False),
    Recovery("go-back-n", "packets in order only; a NAK goes back to the first missing", TIMER),
    Recovery("selective", "packets in any order; what is missing is sent again", TIMER),
    Recovery("sleek", "selective that counts packets out of order, and probes", SLEEK, trims=False),
)


def entropy(name: str) -> Entropy:
    """Return the entropy of a name; raises UserError listing those there are."""
    return _find("entropy", ENTROPIES, name)


def congestion(name: str) -> Congestion:
    """Return the congestion control of a name; raises UserError listing those there are."""
    return _find("cca", CONGESTIONS, name)


def recovery(name: str) -> Recovery:
    """Return the recovery of a name; raises UserError listing those there are."""
    return _find("recovery", RECOVERIES, name)


def choose(entry: Registered, given: Mapping[str, float]) -> Chosen:
    """Settle an entry's parameters; raises UserError for unknown ones and wrong values."""
    known = [parameter.name for parameter in entry.parameters]
    if unknown := sorted(set(given) - set(known)):
        raise UserError(f"{entry.name} has no parameter {unknown[0]}{near(unknown[0], known)}")
    return Chosen(entry.name, settle(entry.name, entry.parameters, given))


def _find(kind: str, known: tuple[Kind, ...], name: str) -> Kind:
    for each in known:
        if each.name == name:
            return each
    raise UserError(f"{kind} {name} is unknown{near(name, [each.name for each in known])}")
