"""Numbers that users may set: of a scheme's programs and of what hosts do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Parameter:
    """A knob with its default and limits.

    `define` names the preprocessor definition of the P4 program that it becomes, if it does.
    """

    name: str
    default: float
    help: str
    smallest: float = 0
    largest: float = float("inf")
    whole: bool = False
    define: str = ""


def settle(
    owner: str, parameters: Iterable[Parameter], given: Mapping[str, float]
) -> dict[str, float]:
    """Return the value of each parameter, given or its default.

    Raises UserError naming the owner and the parameter if a value is outside its limits.
    """
    values = {}
    for parameter in parameters:
        value = given.get(parameter.name, parameter.default)
        fits = parameter.smallest <= value <= parameter.largest
        if not fits or (parameter.whole and value != int(value)):
            kind = "a whole number " if parameter.whole else ""
            limits = f"{kind}from {parameter.smallest:g} to {parameter.largest:g}"
            raise UserError(f"{owner}: {parameter.name} is {value:g}, not {limits}")
        values[parameter.name] = value
    return values
