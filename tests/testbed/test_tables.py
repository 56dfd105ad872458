"""Tables of results: the same bytes as pandas writes, only sooner."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.tables import write_csv

TEXTS = st.text("ab 09,\"'\n-", max_size=4)


def by_pandas(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False, float_format="%.3f", lineterminator="\n").encode()


def written(table: pd.DataFrame, *parts: pd.DataFrame) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write_csv(path, table)
        for part in parts:
            write_csv(path, part, append=True)
        return path.read_bytes()


@st.composite
def tables(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS) -> pd.DataFrame:
    rows = draw(st.integers(1, 6))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=rows, max_size=rows))

    picoseconds = st.none() | st.integers(-(10**6), 10**15)
    times = [np.nan if each is None else each / 1000 for each in column(picoseconds)]
    return pd.DataFrame(
        {
            "flow": column(st.integers(0, 2**40)),
            "time_ns": np.array(times, dtype=float),
            "after": np.array(column(texts), dtype=object),
            "packets": np.array(column(st.integers(0, 2**32 - 1)), dtype=np.uint32),
        }
    )


@given(tables())
def test_write_csv__is_what_pandas_writes(table: pd.DataFrame) -> None:
    assert written(table) == by_pandas(table)


@given(tables(st.text("ab 09", max_size=4)), tables(st.text("ab 09", max_size=4)))
def test_write_csv__appends(first: pd.DataFrame, second: pd.DataFrame) -> None:
    assert written(first, second) == by_pandas(pd.concat([first, second], ignore_index=True))


def test_write_csv__no_rows_are_a_header() -> None:
    table = pd.DataFrame({"time_ns": np.zeros(0), "node": np.zeros(0, dtype=object)})
    assert written(table) == b"time_ns,node\n"


def test_write_csv__compressed_files_of_equal_tables_are_equal(tmp_path: Path) -> None:
    table = pd.DataFrame({"time_ns": [0.5, np.nan], "node": ["e0_0", "c1"]})
    both = [tmp_path / name / "queues.csv.gz" for name in ("one", "two")]
    for path in both:
        path.parent.mkdir()
        write_csv(path, table)
    assert both[0].read_bytes() == both[1].read_bytes()
    read = pd.read_csv(both[0])
    pd.testing.assert_frame_equal(read, table)


@pytest.mark.parametrize("size", [9e12, -9e12])
def test_write_csv__large_times(size: float) -> None:
    table = pd.DataFrame({"time_ns": [size + 0.001]})
    assert written(table) == by_pandas(table)
