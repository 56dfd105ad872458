"""What there is to say of a scenario's field: its limits, and how people read and type it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

from errors import UserError

T = TypeVar("T")
ABOUT = "about"


@dataclass(frozen=True, slots=True)
class About:
    """A field of a scenario, in words, and the limits of its numbers.

    `unit` stands behind its values, `none` is the word for None. `option` is how run.py calls it
    where that is not the field's own name without its unit.
    """

    help: str
    unit: str = ""
    least: float = -math.inf
    above: float = -math.inf
    most: float = math.inf
    below: float = math.inf
    even: bool = False
    none: str = ""
    option: str = ""

    @property
    def wanted(self) -> str:
        """The limits in words, empty without any."""
        parts = [
            f"{words} {limit:,g}"
            for words, limit in (
                ("at least", self.least),
                ("above", self.above),
                ("at most", self.most),
                ("below", self.below),
            )
            if math.isfinite(limit)
        ]
        limits = " and ".join(parts)
        if self.even:
            return f"an even number of {limits}" if limits else "an even number"
        return limits

    def holds(self, number: float) -> bool:
        """Tell whether a number is within the limits."""
        within = self.least <= number <= self.most and self.above < number < self.below
        return within and not (self.even and number % 2)


def of(default: T, words: str, **limits: Any) -> T:
    """Declare a field of a scenario: its default, what it is, and the rest of About."""
    about = {ABOUT: About(words, **limits)}
    if isinstance(default, dict):
        return cast("T", dataclasses.field(default_factory=dict, metadata=about))
    return dataclasses.field(default=default, metadata=about)


def checked(name: str, value: object, kind: Any, about: About) -> Any:
    """Return a field's value in the form that its type has.

    Raises UserError naming the field, the value and what is wanted, for a value of another type
    or beyond the limits.
    """
    if get_origin(kind) is UnionType:
        if value is None and NoneType in get_args(kind):
            return None
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
    made = _converted(value, kind)
    if made is None:
        raise UserError(f"{name} is {value!r}; it must be {_name_of(kind)}")
    if isinstance(made, int | float) and not about.holds(made):
        raise UserError(f"{name} is {made}; it must be {about.wanted}")
    return made


def _converted(value: object, kind: Any) -> Any:
    """Return a value as one of a type, None if it is none."""
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else None
    if get_origin(kind) is tuple:
        return _sequence(value, get_args(kind))
    if get_origin(kind) is Mapping:
        return _table(value, get_args(kind)[1])
    if kind is str or kind is bool:
        return value if isinstance(value, kind) else None
    return None if isinstance(value, bool) else _number(value, kind)


def _number(value: object, kind: Any) -> float | None:
    if kind is int:
        return int(value) if isinstance(value, Integral) else None
    try:
        return float(value) if isinstance(value, Real) and math.isfinite(value) else None
    except OverflowError:
        return None


def _sequence(value: object, kinds: tuple[Any, ...]) -> tuple[Any, ...] | None:
    if not isinstance(value, tuple | list):
        return None
    wanted = kinds[:1] * len(value) if kinds[1:] == (...,) else kinds
    if len(value) != len(wanted):
        return None
    made = [_converted(each, kind) for each, kind in zip(value, wanted, strict=True)]
    return None if None in made else tuple(made)


def _table(value: object, kind: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    kinds = get_args(kind) or (kind,)
    made = {}
    for name, each in value.items():
        found = [it for it in (_converted(each, kind) for kind in kinds) if it is not None]
        if not found:
            raise UserError(f"{name} is {each!r}; it must be {_name_of(kinds[0])}")
        made[str(name)] = found[0]
    return made


def _name_of(kind: Any) -> str:
    """Say what a value of a type is."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(get_args(kind))
    if get_origin(kind) is tuple:
        words = get_args(kind)
        return "a list of texts" if words[1:] == (...,) else f"a list of {len(words)} texts"
    if get_origin(kind) is Mapping:
        return "a table of names and values"
    return {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}[kind]
