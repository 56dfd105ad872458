"""Any column of a sweep's table over any field, with any other as colour or as panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.figures.style import PAGE, draw, legend_above, legend_rows, look_of
from analysis.figures.sweep import Axis, sweep
from errors import UserError, near
from testbed.scenario import FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from analysis.figures.style import Look

UNITS = ("_bytes", "_ns", "_gbps", "_us")
SHARES = ("cct_increase", "utilisation", "load")
LEGEND_ROW = 0.2  # inches
DOUBLING = 8
"""An axis whose largest value is that many times its smallest is logarithmic."""


def column_of(table: pd.DataFrame, name: str) -> str:
    """Return the column that a name means, with or without its unit: `message`, `message_bytes`.

    Raises UserError with the nearest column there is.
    """
    columns = [str(column) for column in table.columns]
    for column in columns:
        stems = {column, *(column.removesuffix(unit) for unit in UNITS), column.rpartition(".")[2]}
        if name in stems:
            return column
    raise UserError(f"the table has no column {name}{near(name, columns)}")


def varying(table: pd.DataFrame) -> list[str]:
    """Return the fields of scenarios, and entries of their tables, that differ within a table.

    What a scheme's own parameters are its variant tells.
    """
    names = {field.name for field in FIELDS} - {"scheme", "scheme_file", "seed", "mix"}
    tables = {field.name for field in FIELDS if field.default == {}} - {"parameters"}
    return [
        str(column)
        for column in table.columns
        if (column in names or str(column).partition(".")[0] in tables)
        and len(set(table[column].astype(str))) > 1
    ]


def apart(
    table: pd.DataFrame, looks: Mapping[str, Look], color: str, rest: Sequence[str]
) -> tuple[pd.DataFrame, Mapping[str, Look]]:
    """Name a line for each value of `color` and of all that else varies: nothing is averaged.

    Returns the table with those names as variants, and the looks that still hold.
    """
    if color == "variant" and not rest:
        return table, looks
    lines = table[color].map(_word)
    if color == "variant":
        lines = lines.map(lambda name: looks[name].label if name in looks else name)
    else:
        lines = color + " " + lines
    for column in rest:
        told = f", {column.rpartition('.')[2]} " + table[column].map(_word)
        lines = lines + told.where(table[column].notna(), "")
    return table.assign(variant=lines), {}


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def draw_fields(
    stem: Path,
    table: pd.DataFrame,
    looks: Mapping[str, Look],
    *,
    x: str,
    values: Sequence[str],
    panel: str = "",
) -> Path:
    """Draw each of `values` over `x`, a row each, a line for each variant, a column a `panel`."""
    parts = sorted(table[panel].dropna().unique()) if panel else [None]
    table, along = _along(table, x)

    def plot(figure: Figure) -> None:
        grid = figure.subplots(len(values), len(parts), squeeze=False, sharex=True)
        names = [str(name) for name in table["variant"].unique()]
        known = looks or {name: look_of(name, {}, place) for place, name in enumerate(names)}
        for row, value in zip(grid, values, strict=True):
            for axes, part in zip(row, parts, strict=True):
                rows = table if part is None else table[table[panel] == part]
                sweep(axes, rows, along, _axis(table, value), known, legend=False)
            lows, highs = zip(*(axes.get_ylim() for axes in row), strict=True)
            for axes in row:
                axes.set_ylim(min(lows), max(highs))
                axes.label_outer()
        for axes, part in zip(grid[0], parts, strict=True):
            axes.set_title("" if part is None else f"{panel} = {part}")
        legend_above(grid[0][0])

    labels = [looks[name].label if name in looks else name for name in set(table["variant"])]
    height = 2.3 * len(values) + LEGEND_ROW * (1 + legend_rows(labels, PAGE))
    return draw(stem, plot, width=PAGE, height=height)


def _along(table: pd.DataFrame, column: str) -> tuple[pd.DataFrame, Axis]:
    """Return the horizontal axis, and the table with the places of words that stand along it."""
    if table[column].dtype.kind in "if":
        return table, _axis(table, column)
    words = table[column].astype(str)
    names = tuple(words.unique())
    places = words.map({name: place for place, name in enumerate(names)})
    return table.assign(**{column: places}), Axis(
        column, _label(column, percent=False), names=names
    )


def _axis(table: pd.DataFrame, column: str) -> Axis:
    share = column in SHARES
    numbers = table[column].dropna()
    if numbers.dtype.kind not in "if":
        raise UserError(f"{column} has no numbers to draw")
    wide = numbers.min() > 0 and numbers.max() >= DOUBLING * numbers.min()
    swept = column in {field.name for field in FIELDS}
    return Axis(
        column,
        _label(column, percent=share),
        logarithmic=bool(swept and wide),
        percent=share,
        from_zero=not swept,
    )


def _label(column: str, *, percent: bool) -> str:
    words = {"_bytes": "B", "_ns": "ns", "_gbps": "Gb/s", "_us": "µs"}
    for ending, unit in words.items():
        if column.endswith(ending):
            return f"{column.removesuffix(ending).replace('_', ' ')} ({unit})"
    return column.replace("_", " ") + (" (%)" if percent else "")
