"""Fields of a scenario as lists and ranges, and the scenarios that they span."""

from __future__ import annotations

import argparse
import itertools
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from errors import UserError
from experiments.values import assignment, number, reader_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from testbed.scenario import Field, Scenario

RANGE = re.compile(r"(?P<first>[^.,]+(?:\.\d+)?)\.\.(?P<last>[^+*]+)(?:(?P<how>[+*])(?P<by>.+))?")
MOST_VALUES = 10_000


def values_of(field: Field) -> Callable[[str], list[Any]]:
    """Return a reader of lists and ranges of a field's values.

    `8,12` are two values; `256KB..16MB` doubles from the first to the last, `0.5..1+0.1` adds, and
    `1..1000*10` multiplies.
    """
    read = reader_of(field)

    def values(text: str) -> list[Any]:
        if field.name == "mix":
            return [read(text)]
        found = []
        for part in text.split(","):
            match = RANGE.fullmatch(part.strip())
            found += list(_range(read, match)) if match else [read(part.strip())]
        return list(dict.fromkeys(found))

    return values


def span(base: Scenario, fields: Mapping[str, Sequence[Any]]) -> list[Scenario]:
    """Return all combinations of the fields' values in a scenario, the last field fastest.

    Raises UserError for values that no scenario can have.
    """
    for name, values in fields.items():
        if not values:
            raise UserError(f"{name} has no values to sweep over")
    return [
        replace(base, **dict(zip(fields, values, strict=True)))
        for values in itertools.product(*fields.values())
    ]


def assigned_values(text: str) -> tuple[str, list[str]]:
    """Read NAME=VALUE,...: the values that something of a scheme, a CCA or a workload takes."""
    name, values = assignment(text)
    return name, list(dict.fromkeys(part.strip() for part in values.split(",")))


def spread(
    scenario: Scenario,
    parameters: Sequence[tuple[str, Sequence[str]]],
    options: Sequence[tuple[str, Sequence[str]]],
) -> list[Scenario]:
    """Return a scenario with all combinations of values of parameters and workload options.

    `parameters` are named OWNER.NAME; those of a scheme, CCA or recovery that the scenario does not
    have leave it alone. Raises UserError for values that cannot be.
    """
    tables = {
        scenario.scheme: "parameters",
        scenario.cca: "cca_parameters",
        scenario.recovers: "recovery_parameters",
    }
    choices: list[list[tuple[str, str, Any]]] = [
        [(tables[owner], own, number(name, value)) for value in values]
        for name, values in parameters
        for owner, _, own in [name.partition(".")]
        if owner in tables
    ]
    choices += [[("workload_options", name, value) for value in values] for name, values in options]
    return [_with(scenario, chosen) for chosen in itertools.product(*choices)]


def _with(scenario: Scenario, chosen: Sequence[tuple[str, str, Any]]) -> Scenario:
    tables: dict[str, Any] = {}
    for table, name, value in chosen:
        tables.setdefault(table, dict(getattr(scenario, table)))[name] = value
    return replace(scenario, **tables)


def _range(read: Callable[[str], Any], match: re.Match[str]) -> Iterator[Any]:
    first, last = read(match["first"]), read(match["last"])
    if not isinstance(first, int | float) or not isinstance(last, int | float):
        raise argparse.ArgumentTypeError(f"{match[0]!r}: a range is of numbers")
    adding = match["how"] == "+"
    by = read(match["by"]) if adding else float(match["by"] or 2)
    if first > last or (by <= 0 if adding else by <= 1 or first <= 0):
        raise argparse.ArgumentTypeError(f"{match[0]!r} does not lead from {first} up to {last}")
    steps = (last - first) / by if adding else math.log(last / first) / math.log(by)
    if steps >= MOST_VALUES:
        raise argparse.ArgumentTypeError(f"{match[0]!r} are more than {MOST_VALUES:,} values")
    for step in range(math.floor(steps + 1e-9) + 1):
        value = first + step * by if adding else first * by**step
        yield round(value) if isinstance(first, int) else round(value, 12)
