"""The registry of load-balancing schemes: a file each, and its line in SCHEMES.

The order is that of tables and legends.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError, near
from testbed import hosts
from testbed.hosts import Chosen
from testbed.parameters import settle
from testbed.plan import ProgramSource
from testbed.schemes import (
    ar,
    choice,
    conga,
    dlb,
    drb,
    drill,
    ecmp,
    ethereal,
    files,
    jsq,
    ofan,
    pofan,
    reps,
    rps,
    rsq,
    sglb,
    simple_rr,
)
from testbed.schemes.scheme import PROGRAMS, Scheme
from testbed.schemes.site import program_ports

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from testbed.scenario import Scenario
    from testbed.topology import Tier, Topology

__all__ = [
    "PROGRAMS",
    "SCHEMES",
    "Scheme",
    "check",
    "entropy",
    "find",
    "label",
    "names",
    "programs",
]

SCHEMES: tuple[Scheme, ...] = (
    ecmp.SCHEME,
    simple_rr.SCHEME,
    jsq.SCHEME,
    conga.SCHEME,
    choice.SCHEME,
    drill.SCHEME,
    dlb.SCHEME,
    sglb.SCHEME,
    rps.SCHEME,
    rsq.SCHEME,
    reps.SCHEME,
    ar.SCHEME,
    drb.SCHEME,
    ethereal.SCHEME,
    pofan.SCHEME,
    ofan.SCHEME,
)


def names() -> tuple[str, ...]:
    """List the schemes in the order of tables and legends."""
    return tuple(scheme.name for scheme in SCHEMES)


def find(name: str) -> Scheme:
    """Return the scheme of a name; raises UserError listing those there are."""
    for scheme in SCHEMES:
        if scheme.name == name:
            return scheme
    raise UserError(f"scheme {name} is unknown{near(name, names())}")


def of(scenario: Scenario) -> Scheme:
    """Return a scenario's scheme: of the registry, or of the user's file that it names.

    Raises UserError for a name that nobody has, and for a file that cannot be used.
    """
    if not scenario.scheme_file:
        return find(scenario.scheme)
    return own(Path(scenario.scheme_file))


def own(program: Path, number: int = 0) -> Scheme:
    """Return the scheme of a user's P4 file, the `number`th that is given.

    Raises UserError for a file that cannot be used, or one called as a scheme of the registry.
    """
    if program.stem in names():
        raise UserError(f"{program}: {program.stem} is a scheme already; rename the file")
    return files.read(program, number)


def settled(chosen: Sequence[Scheme], given: Mapping[str, float]) -> list[dict[str, float]]:
    """Settle the parameters of schemes that share a network: each takes those that it has."""
    known = {parameter.name for scheme in chosen for parameter in scheme.parameters}
    if unknown := sorted(set(given) - known):
        owners = " and ".join(scheme.name for scheme in chosen)
        hint = near(unknown[0], sorted(known))
        raise UserError(f"{owners} has no parameter {unknown[0]}{hint}")
    return [settle(scheme.name, scheme.parameters, given) for scheme in chosen]


def check(scheme: Scheme, scenario: Scenario) -> None:
    """Raise UserError if a scheme cannot work in a scenario."""
    shape = scenario.shape
    widest = max(shape.edge_uplinks, shape.aggregation_uplinks)
    if widest > scheme.widest:
        raise UserError(
            f"{scheme.name} tells at most {scheme.widest} uplinks apart; {shape.text} has {widest}"
        )
    if scheme.one_rate and not scenario.speeds.uniform:
        raise UserError(
            f"{scheme.name}: its program knows one rate for all links; those of this network differ"
        )
    marked = scenario.ecn_bytes > 0 and scenario.acks
    if hosts.entropy(scheme.entropy).needs_ecn and not marked:
        raise UserError(f"{scheme.name} needs ACKs and an ECN threshold above 0")


def entropy(scheme: Scheme, parameters: Mapping[str, float]) -> Chosen:
    """Return a scheme's entropy with the parameters that are the hosts'."""
    own = hosts.entropy(scheme.entropy).parameters
    return Chosen(scheme.entropy, {each.name: parameters[each.name] for each in own})


def label(scheme: Scheme, given: Mapping[str, float]) -> str:
    """Return how figures call a scheme with these parameters: `4Ofan`, `REPS (freezing 0)`.

    Parameters that are not the defaults are named where the label does not show them.
    """
    values, default = settled((scheme,), given)[0], settled((scheme,), {})[0]
    told = ", ".join(
        f"{name.replace('_', ' ')} {value:g}"
        for name, value in values.items()
        if value != default[name] and f"{{{name}" not in scheme.label
    )
    return scheme.label.format(**values) + (f" ({told})" if told else "")


def programs(
    scheme: Scheme, topology: Topology, parameters: Mapping[str, float]
) -> dict[Tier, ProgramSource]:
    """Return a scheme's program for each tier of switches, with the definitions for a network."""
    tiers: tuple[Tier, ...] = ("edge", "aggregation", "core")
    sizes = {
        tier: program_ports(topology, tier)
        for tier in tiers
        if topology.levels == 3 or tier != "aggregation"
    }
    own = [(p.define, int(parameters[p.name])) for p in scheme.own if p.define]
    includes = (PROGRAMS,) if scheme.folder else ()
    made: dict[Tier, ProgramSource] = {}
    for tier, (up, down) in sizes.items():
        defines = [("W", up), ("DESTINATIONS", topology.shape.edges_per_plane), *own]
        if down != up:
            defines.append(("DOWN", down))
        if topology.downlinks(_above(topology, tier)) > 2 * up:
            defines.append(("ABOVE", topology.downlinks(_above(topology, tier))))
        if topology.levels == 3 and topology.uplinks("edge") != up:
            defines.append(("LAYER", topology.uplinks("edge")))
        texts = tuple((name, str(value)) for name, value in defines)
        made[tier] = ProgramSource(scheme.source, texts, includes=includes)
    return made


def _above(topology: Topology, tier: Tier) -> Tier:
    """Return the tier behind the uplinks of a tier; a core's own, which has none."""
    return "aggregation" if tier == "edge" and topology.levels == 3 else "core"
