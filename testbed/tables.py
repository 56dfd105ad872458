"""Writes tables of results as CSV: numbers with fractions have three digits behind the point.

Times are whole picoseconds, so that three digits of nanoseconds are all there is. Arrow writes
them, because pandas formats numbers one by one, which took ten times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

DIGITS = 3
SAME_BYTES = {"method": "gzip", "mtime": 0}  # no time of day: equal runs give equal files
UNQUOTED = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
SPECIAL = frozenset(',"\r\n')


def write_csv(path: Path, table: pd.DataFrame, *, append: bool = False) -> None:
    """Write a table, or append it to a file that has a header; names in `.gz` are compressed.

    NaN is an empty field.
    """
    if path.suffix == ".gz" or not all(map(_is_plain, _texts(table))):
        _write_slowly(path, table, append=append)
        return
    columns = [_column(table[name]) for name in table.columns]
    with path.open("ab" if append else "wb") as file:
        if not append:
            file.write(",".join(table.columns).encode() + b"\n")
        pyarrow.csv.write_csv(pa.table(columns, list(table.columns)), file, UNQUOTED)


def _texts(table: pd.DataFrame) -> list[NDArray[np.object_]]:
    return [table[name].unique() for name in table.columns if table[name].dtype.kind not in "iufb"]


def _is_plain(texts: NDArray[np.object_]) -> bool:
    """Tell whether texts need no quotes."""
    return all(SPECIAL.isdisjoint(text) for text in texts)


def _column(column: pd.Series) -> pa.Array:
    if column.dtype.kind == "f":
        return _decimals(column.to_numpy())
    if column.dtype.kind in "iub":
        return pa.array(column.to_numpy())
    return pa.array(column.to_numpy(dtype=object), pa.string())


def _decimals(values: NDArray[np.float64]) -> pa.Array:
    """Return numbers rounded to DIGITS as decimals of 128 bits, which Arrow keeps as two words."""
    there = np.isfinite(values)
    scaled = np.rint(np.where(there, values, 0) * 10**DIGITS).astype(np.int64)
    words = np.stack((scaled, scaled >> 63), axis=1)
    bits = np.packbits(there, bitorder="little")
    buffers = [pa.py_buffer(bits.tobytes()), pa.py_buffer(words.tobytes())]
    return pa.Array.from_buffers(pa.decimal128(38, DIGITS), len(values), buffers)


def _write_slowly(path: Path, table: pd.DataFrame, *, append: bool) -> None:
    table.to_csv(
        path,
        mode="a" if append else "w",
        header=not append,
        index=False,
        float_format=f"%.{DIGITS}f",
        compression=SAME_BYTES if path.suffix == ".gz" else None,
    )
