"""Expressions in a scheme's TOML file: what each switch starts with, worked out from its place.

They are arithmetic in Python's notation over the names that `names_of` gives and a few functions;
they can reach nothing else (simpleeval).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from simpleeval import EvalWithCompoundTypes

from errors import UserError
from testbed.orders import basis
from testbed.schemes.measuring import PICOSECONDS_PER_MICROSECOND, UNLIMITED_BUFFER_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from testbed.schemes.site import Site

Call = tuple[str, tuple[int, ...]]
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "bits": lambda mask: int(mask).bit_count(),
    "int": int,
    "join": lambda first, second, axis=0: np.concatenate((first, second), axis=axis),
    "log2": math.log2,
    "max": max,
    "min": min,
    "order": basis,
    "round": round,
}


class ExpressionError(ValueError):
    """An expression that has no value, or one of the wrong kind; the message says why."""


def names_of(site: Site) -> dict[str, Any]:
    """Return what expressions may name at a switch: its place, the network, the parameters."""
    scenario, topology, node = site.scenario, site.topology, site.node
    return {
        "tier": node.tier,
        "plane": topology.plane(node),
        "pod": -1 if node.tier == "core" else node.pod % topology.shape.pods_per_plane,
        "index": node.index,
        "width": site.width,
        "down": topology.downlinks(node.tier),
        "levels": topology.levels,
        "ports": node.ports,
        "pods": topology.shape.pods_per_plane,
        "edges": topology.shape.edges_per_plane,
        "destinations": site.destinations,
        "uplinks": site.uplinks,
        **_byte(site),
        "data_bytes": scenario.data_frame_bytes,
        "ack_bytes": scenario.ack_bytes,
        "gap_bytes": scenario.gap_bytes,
        "payload_bytes": scenario.payload_bytes,
        "frame_bytes": scenario.data_frame_bytes,
        "buffer_bytes": scenario.buffer_bytes or UNLIMITED_BUFFER_BYTES,
        "us": PICOSECONDS_PER_MICROSECOND / site.tick_ps,
        **site.parameters,
    }


def _byte(site: Site) -> dict[str, float]:
    """Return what a byte takes on a link, in ticks; nothing where uplinks are not alike."""
    try:
        return {"byte": site.picoseconds_per_byte / site.tick_ps}
    except UserError:
        return {}


def value(text: str, site: Site, names: Mapping[str, Any]) -> Any:
    """Return what an expression is at a switch: a number or an array of numbers."""
    return _evaluated(text, names, _functions(site))


def numbers(text: str, site: Site, names: Mapping[str, Any]) -> list[int]:
    """Return an expression's whole numbers, flat in the order of the last axis first."""
    found = np.asarray(value(text, site, names))
    if found.dtype.kind not in "iub":
        raise ExpressionError(f"{text!r} is not of whole numbers (round() makes them)")
    return [int(number) for number in found.ravel()]


def call(text: str, site: Site, names: Mapping[str, Any]) -> Call:
    """Return the action and parameters that an expression such as `know(2 * width)` calls."""
    found = _evaluated(text, names, _Actions(_functions(site)))
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str)):
        raise ExpressionError(f"{text!r} calls no action")
    action, parameters = found
    for place, parameter in enumerate(parameters, 1):
        if not isinstance(parameter, int | np.integer):
            raise ExpressionError(
                f"{text!r}: number {place} of {action} is {parameter}, not whole (see round())"
            )
    return action, tuple(int(parameter) for parameter in parameters)


class _Actions(dict[str, Any]):
    """Functions, and for every other name the action of that name."""

    def __missing__(self, name: str) -> Callable[..., tuple[str, tuple[Any, ...]]]:
        return lambda *parameters: (name, parameters)


def _functions(site: Site) -> dict[str, Any]:
    def random(stream: str, below: int, *shape: int) -> Any:
        drawn = site.random(stream).integers(below, size=shape or None)
        return drawn if shape else int(drawn)

    return {**FUNCTIONS, "random": random}


def _evaluated(text: str, names: Mapping[str, Any], functions: dict[str, Any]) -> Any:
    evaluator = EvalWithCompoundTypes(names=dict(names), functions=functions)
    try:
        return evaluator.eval(text)
    except Exception as error:  # noqa: BLE001 - whatever arithmetic on wrong values may raise
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ExpressionError(f"{text!r}: {reason}") from None
