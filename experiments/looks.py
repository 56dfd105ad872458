"""How the registry wants schemes shown, for figures that read results only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.figures.style import Look
from testbed import schemes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from testbed.scenario import Scenario

SHADES = ("#005f73", "#17becf", "#94d2bd", "#0a9396")
MARKERS = ("s", "^", "v", "D")


def variant(scenario: Scenario) -> str:
    """Name a scheme with its parameters as `analysis.summary.variant` does for its result."""
    given = ",".join(f"{name}={value:g}" for name, value in sorted(scenario.parameters.items()))
    mixed = "+".join(("", *scenario.mix)) if scenario.mix else ""
    return scenario.scheme + mixed + (f"({given})" if given else "")


def looks(scenarios: Iterable[Scenario]) -> dict[str, Look]:
    """Return the look of each scheme of some scenarios, in the registry's order.

    Where a scheme appears with several parameters, or mixed with another, each has a shade and a
    marker of its own.
    """
    by_scheme: dict[str, dict[str, Scenario]] = {}
    for scenario in scenarios:
        by_scheme.setdefault(scenario.scheme, {}).setdefault(variant(scenario), scenario)
    found = {}
    for scheme in schemes.SCHEMES:
        variants = by_scheme.get(scheme.name, {})
        pure = [name for name, scenario in variants.items() if scenario.mix is None]
        shaded = [name for name in variants if name not in pure or len(pure) > 1]
        for name, scenario in variants.items():
            look = Look(label(scenario), scheme.color, scheme.marker)
            if name in shaded:
                place = shaded.index(name) % len(SHADES)
                look = replace(look, color=SHADES[place], marker=MARKERS[place])
            found[name] = look
    return found


def label(scenario: Scenario) -> str:
    """Return what figures call a scenario's scheme, or its mix."""
    if scenario.mix is None:
        return schemes.label(scenario.scheme, scenario.parameters)
    second, where = scenario.mix
    return f"{schemes.label(second, scenario.parameters)}: {where.replace('-', ' ')}"
