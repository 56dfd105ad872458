"""The registry of load-balancing schemes: the one place that knows them by name.

A scheme is a P4 program of p4/programs, a policy of the hosts, and what the control plane writes
into the switches. The order is that of tables and legends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from testbed import estimates, state
from testbed.plan import HostPolicy, ProgramSource
from testbed.scenario import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from testbed.scenario import Scenario
    from testbed.topology import Topology

PROGRAMS = Path(__file__).resolve().parent.parent / "p4" / "programs"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A knob of a scheme.

    `define` names the preprocessor definition it becomes, if it does; `host` says that it is one of
    the host policy.
    """

    name: str
    default: float
    help: str
    smallest: float = 0
    largest: float = float("inf")
    whole: bool = False
    define: str = ""
    host: bool = False


@dataclass(frozen=True, slots=True)
class Scheme:
    """A load-balancing scheme: where its parts are, and how figures show it.

    `label` may name parameters in braces. `widest` is the most uplinks it can tell apart, and
    `needs_ecn` says that its hosts read marks from ACKs.
    """

    name: str
    program: str
    label: str
    color: str
    marker: str
    reference: str
    setup: Callable[[state.Site], state.State] = state.nothing
    parameters: tuple[Parameter, ...] = ()
    hosts: HostPolicy = field(default_factory=HostPolicy)
    needs_ecn: bool = False
    widest: int = 255


PIPE_PORTS = Parameter(
    "pipe_ports", 4, "ports that face down in one pipe", 1, 255, whole=True, define="PIPE_PORTS"
)
ONE_ORDER = Parameter(
    "one_order", 0, "1: all pointers follow one port order", 0, 1, whole=True, define="ONE_ORDER"
)
QUANTA = (
    Parameter("low", 5, "percent of the buffer where level 1 starts", 0, 100),
    Parameter("middle", 10, "percent of the buffer where level 2 starts", 0, 100),
    Parameter("high", 20, "percent of the buffer where level 3 starts", 0, 100),
    Parameter("refresh_us", 0.1, "how long levels stay before they are measured again"),
)
SAMPLING = (
    Parameter("sampling_us", 1, "time between two samples of a port"),
    Parameter("load_low", 0.2, "share of the link's rate below which load is best", 0, 1),
    Parameter("load_high", 0.8, "share of the link's rate above which load is worst", 0, 2),
    Parameter("queue_high", 20, "percent of the buffer from where a queue is worst", 0, 100),
)
ESTIMATORS = (
    Parameter("tau_us", 6.4, "time that the rate estimators look back", 0.001),
    Parameter("alpha", 0.125, "share that estimators lose in a period of alpha tau", 0.001, 1),
    Parameter("age_taus", 10, "age in tau after which what was fed back is forgotten", 0.001),
)
RECYCLING = (
    Parameter("values", 16_000, "entropy values to draw from", 1, 65_536, whole=True, host=True),
    Parameter("freezing", 1, "whether a timeout freezes the buffer", 0, 1, whole=True, host=True),
    Parameter("freeze_us", 10_000, "how long a flow stays frozen", host=True),
    Parameter("timeout_floor_us", 2, "the shortest timeout of an entropy value", host=True),
    Parameter("timeout_initial_us", 1_000, "the timeout before round trips are known", host=True),
)

SCHEMES: tuple[Scheme, ...] = (
    Scheme("ecmp", "ecmp", "ECMP", "#7f7f7f", "x", "§1", state.hash_salt),
    Scheme("simple_rr", "simple_rr", "SimpleRR", "#8c564b", "v", "§3.1", state.one_pointer),
    Scheme("jsq", "jsq", "JSQ", "#e377c2", "^", "§3.1", estimates.backlog),
    Scheme(
        "conga",
        "conga",
        "CONGA",
        "#bcbd22",
        "<",
        "Table 1",
        estimates.discounting_rate,
        ESTIMATORS,
        widest=32,
    ),
    Scheme("choice", "choice", "CHOICE", "#9edae5", ">", "Table 1", estimates.backlog),
    Scheme("drill", "drill", "DRILL", "#c49c94", "P", "Table 1", estimates.remembered_uplink),
    Scheme("dlb", "dlb", "DLB", "#dbdb8d", "X", "Table 1", estimates.local_quality, SAMPLING),
    Scheme("sglb", "sglb", "SGLB", "#98df8a", "h", "Table 1", estimates.path_quality, SAMPLING),
    Scheme(
        "rps", "ecmp", "RPS", "#ff9896", "1", "§3.1", state.hash_salt, hosts=HostPolicy("random")
    ),
    Scheme("rsq", "rsq", "RSQ", "#ffbb78", "2", "§3.1"),
    Scheme(
        "reps",
        "ecmp",
        "REPS",
        "#d62728",
        "d",
        "Table 1",
        state.hash_salt,
        RECYCLING,
        HostPolicy("reps"),
        needs_ecn=True,
    ),
    Scheme("ar", "ar", "AR", "#ff7f0e", "D", "Table 1", estimates.quantised_backlog, QUANTA),
    Scheme(
        "drb",
        "path_id",
        "DRB",
        "#9467bd",
        "p",
        "§3.4",
        estimates.turning_point,
        hosts=HostPolicy("drb"),
    ),
    Scheme(
        "ethereal",
        "path_id",
        "Ethereal",
        "#c5b0d5",
        "*",
        "§3.4",
        estimates.turning_point,
        hosts=HostPolicy("ethereal"),
    ),
    Scheme(
        "pofan",
        "pofan",
        "{pipe_ports:.0f}Ofan",
        "#17becf",
        "s",
        "§5.1",
        state.rotation,
        (PIPE_PORTS,),
    ),
    Scheme("ofan", "ofan", "Ofan", "#1f77b4", "o", "§4.1", state.rotation, (ONE_ORDER,)),
)


def names() -> tuple[str, ...]:
    """List the schemes in the order of tables and legends."""
    return tuple(scheme.name for scheme in SCHEMES)


def find(name: str) -> Scheme:
    """Return the scheme of a name; raises ScenarioError listing those there are."""
    for scheme in SCHEMES:
        if scheme.name == name:
            return scheme
    raise ScenarioError(f"scheme {name} is unknown; there are {', '.join(names())}")


def settled(chosen: Sequence[Scheme], given: Mapping[str, float]) -> list[dict[str, float]]:
    """Settle the parameters of schemes that share a network: each takes those that it has."""
    known = {parameter.name for scheme in chosen for parameter in scheme.parameters}
    if unknown := sorted(set(given) - known):
        owners = " and ".join(scheme.name for scheme in chosen)
        there_are = ", ".join(sorted(known)) or "none"
        raise ScenarioError(f"{owners} has no parameter {unknown[0]}; there are {there_are}")
    return [
        _settle(scheme, {p.name: given[p.name] for p in scheme.parameters if p.name in given})
        for scheme in chosen
    ]


def check(scheme: Scheme, scenario: Scenario, topology: Topology) -> None:
    """Raise ScenarioError if a scheme cannot work in a scenario."""
    if topology.width > scheme.widest:
        raise ScenarioError(
            f"{scheme.name} tells at most {scheme.widest} uplinks apart; "
            f"k = {topology.k} has {topology.width}"
        )
    if scheme.needs_ecn and (scenario.ecn_bytes <= 0 or not scenario.acks):
        raise ScenarioError(f"{scheme.name} needs ACKs and an ECN threshold above 0")


def policy(scheme: Scheme, parameters: Mapping[str, float]) -> HostPolicy:
    """Return a scheme's host policy with the parameters that are the hosts'."""
    return HostPolicy(
        scheme.hosts.entropy, {p.name: parameters[p.name] for p in scheme.parameters if p.host}
    )


def label(name: str, given: Mapping[str, float]) -> str:
    """Return how figures call a scheme with these parameters, such as `4Ofan`."""
    scheme = find(name)
    return scheme.label.format(**settled((scheme,), given)[0])


def program(scheme: Scheme, topology: Topology, parameters: Mapping[str, float]) -> ProgramSource:
    """Return a scheme's program with the definitions for a network."""
    defines = [("W", topology.width), ("DESTINATIONS", topology.edges)]
    defines += [(p.define, int(parameters[p.name])) for p in scheme.parameters if p.define]
    path = PROGRAMS / f"{scheme.program}.p4"
    return ProgramSource(path, tuple((name, str(value)) for name, value in defines))


def _settle(scheme: Scheme, given: Mapping[str, float]) -> dict[str, float]:
    """Fill in the defaults of a scheme's parameters; raises ScenarioError for wrong values."""
    values = {parameter.name: parameter.default for parameter in scheme.parameters}
    values.update(given)
    for parameter in scheme.parameters:
        value = values[parameter.name]
        fits = parameter.smallest <= value <= parameter.largest
        if not fits or (parameter.whole and value != int(value)):
            kind = "a whole number " if parameter.whole else ""
            limits = f"{kind}from {parameter.smallest:g} to {parameter.largest:g}"
            raise ScenarioError(f"{scheme.name}: {parameter.name} is {value:g}, not {limits}")
    return values
