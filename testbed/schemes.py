"""The registry of load-balancing schemes: the one place that knows them by name.

A scheme is a P4 program of p4/programs, a policy of the hosts, and what the control plane writes
into the switches. The order is that of tables and legends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from testbed import state
from testbed.plan import HostPolicy, ProgramSource
from testbed.scenario import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from testbed.topology import Topology

PROGRAMS = Path(__file__).resolve().parent.parent / "p4" / "programs"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A knob of a scheme. `define` names the preprocessor definition it becomes, if it does."""

    name: str
    default: float
    help: str
    smallest: float = 0
    largest: float = float("inf")
    whole: bool = False
    define: str = ""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A load-balancing scheme: where its parts are, and how figures show it.

    `label` may name parameters in braces. `levels` are the networks it works on by their tiers of
    switches, `widest` is the most uplinks it can tell apart.
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
    levels: tuple[int, ...] = (2, 3)
    widest: int = 255


PIPE_PORTS = Parameter(
    "pipe_ports", 4, "ports that face down in one pipe", 1, 255, whole=True, define="PIPE_PORTS"
)

SCHEMES: tuple[Scheme, ...] = (
    Scheme("ecmp", "ecmp", "ECMP", "#7f7f7f", "x", "§1", state.hash_salt),
    Scheme("simple_rr", "simple_rr", "SimpleRR", "#8c564b", "v", "§3.1", state.one_pointer),
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
    Scheme("ofan", "ofan", "Ofan", "#1f77b4", "o", "§4.1", state.rotation),
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


def settled(scheme: Scheme, given: Mapping[str, float]) -> dict[str, float]:
    """Fill in the defaults of a scheme's parameters; raises ScenarioError for wrong ones."""
    values = {parameter.name: parameter.default for parameter in scheme.parameters}
    if unknown := sorted(set(given) - set(values)):
        known = ", ".join(values) or "none"
        raise ScenarioError(f"{scheme.name} has no parameter {unknown[0]}; it has {known}")
    values.update(given)
    for parameter in scheme.parameters:
        value = values[parameter.name]
        fits = parameter.smallest <= value <= parameter.largest
        if not fits or (parameter.whole and value != int(value)):
            kind = "a whole number " if parameter.whole else ""
            limits = f"{kind}from {parameter.smallest:g} to {parameter.largest:g}"
            raise ScenarioError(f"{scheme.name}: {parameter.name} is {value:g}, not {limits}")
    return values


def check_network(scheme: Scheme, topology: Topology) -> None:
    """Raise ScenarioError if a scheme does not work on a network."""
    if topology.levels not in scheme.levels:
        raise ScenarioError(f"{scheme.name} does not work on a {topology.name}")
    if topology.width > scheme.widest:
        raise ScenarioError(
            f"{scheme.name} tells at most {scheme.widest} uplinks apart; "
            f"k = {topology.k} has {topology.width}"
        )


def label(name: str, given: Mapping[str, float]) -> str:
    """Return how figures call a scheme with these parameters, such as `4Ofan`."""
    scheme = find(name)
    return scheme.label.format(**settled(scheme, given))


def program(scheme: Scheme, topology: Topology, parameters: Mapping[str, float]) -> ProgramSource:
    """Return a scheme's program with the definitions for a network."""
    defines = [("W", topology.width), ("DESTINATIONS", topology.edges)]
    defines += [(p.define, int(parameters[p.name])) for p in scheme.parameters if p.define]
    path = PROGRAMS / f"{scheme.program}.p4"
    return ProgramSource(path, tuple((name, str(value)) for name, value in defines))
