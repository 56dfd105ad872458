"""How the registry wants schemes shown, for figures that read results only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.figures.style import Look
from testbed import schemes
from testbed.scenario import variant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from testbed.scenario import Scenario

DARKEST, LIGHTEST = 0.45, 0.75  # share of a scheme's own brightness that its shades have
MARKERS = ("^", "v", ">", "<")


def looks(scenarios: Iterable[Scenario]) -> dict[str, Look]:
    """Return the look of each scheme of some scenarios, in the registry's order, users' own last.

    A scheme has one colour in all figures. Where it appears with several parameters, those that
    are not its defaults have darker shades of it and markers of their own; so have mixes, of the
    colour of the scheme that is mixed in.
    """
    by_scheme: dict[str, dict[str, Scenario]] = {}
    own: dict[str, schemes.Scheme] = {}
    for scenario in scenarios:
        by_scheme.setdefault(scenario.scheme, {}).setdefault(variant(scenario), scenario)
        if scenario.scheme_file and scenario.scheme not in own:
            own[scenario.scheme] = schemes.own(Path(scenario.scheme_file), len(own))
    found = {}
    known = [*schemes.SCHEMES, *own.values()]
    for scheme in known:
        variants = by_scheme.get(scheme.name, {})
        pure = [name for name, scenario in variants.items() if scenario.mix is None]
        shaded = [
            name
            for name, scenario in variants.items()
            if name not in pure or (len(pure) > 1 and not _by_default(scenario))
        ]
        for name, scenario in variants.items():
            look = Look(
                label(scenario),
                scheme.color,
                scheme.marker,
                hollow=scheme.hollow,
                dashed=scheme.dashed,
            )
            if name in shaded:
                place = shaded.index(name)
                base = schemes.find(scenario.mix[0]).color if scenario.mix else scheme.color
                color = shade(base, place, len(shaded))
                look = replace(look, color=color, marker=MARKERS[place % len(MARKERS)])
            found[name] = look
    return found


def shade(color: str, place: int, count: int) -> str:
    """Return the shade of a colour (`#rrggbb`) at a place among `count`, the darkest first."""
    bright = DARKEST + (LIGHTEST - DARKEST) * place / max(1, count - 1)
    return "#" + "".join(f"{round(bright * part):02x}" for part in bytes.fromhex(color[1:]))


def _by_default(scenario: Scenario) -> bool:
    """Tell whether a scenario's parameters are what its scheme takes when none are given."""
    scheme = schemes.of(scenario)
    given, default = schemes.settled((scheme,), scenario.parameters), schemes.settled((scheme,), {})
    return given == default


def label(scenario: Scenario) -> str:
    """Return what figures call a scenario's scheme, or its mix."""
    if scenario.mix is None:
        return schemes.label(schemes.of(scenario), scenario.parameters)
    second, where = scenario.mix
    return f"{schemes.label(schemes.find(second), scenario.parameters)}: {where.replace('-', ' ')}"
