"""The table of running stopwatches against a dict."""

import subprocess
from typing import TYPE_CHECKING, Any

import cffi
import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.dataplane.library import HERE

if TYPE_CHECKING:
    from pathlib import Path

DECLARED = """
struct stopwatches { void *slots; uint32_t room; uint32_t count; };
void stopwatches_free(struct stopwatches *watches);
void stopwatches_start(struct stopwatches *watches, uint32_t number, uint64_t now);
bool stopwatches_read(const struct stopwatches *watches, uint32_t number, uint64_t *since);
void stopwatches_stop(struct stopwatches *watches, uint32_t number);
"""
# Few low bits, so that places collide and runs wrap around the table's end.
NUMBERS = st.sampled_from([0, 1, 2, 14, 15, 16, 17, 30, 31, 32, 48, 63, 64, 2**32 - 1])
STEPS = st.lists(st.tuples(st.booleans(), NUMBERS), max_size=200)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    target = tmp_path_factory.mktemp("stopwatches") / "stopwatches.so"
    source: Path = HERE / "hosts" / "stopwatches.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", target, source], check=True)
    ffi = cffi.FFI()
    ffi.cdef(DECLARED)
    return ffi, ffi.dlopen(str(target))


@given(steps=STEPS)
def test_stopwatches__run_like_a_dict(
    table: tuple[Any, Any], steps: list[tuple[bool, int]]
) -> None:
    ffi, library = table
    watches, since = ffi.new("struct stopwatches *"), ffi.new("uint64_t *")
    running: dict[int, int] = {}
    for now, (start, number) in enumerate(steps):
        if start:
            library.stopwatches_start(watches, number, now)
            running.setdefault(number, now)
        else:
            library.stopwatches_stop(watches, number)
            running.pop(number, None)
        assert watches.count == len(running)
        for known in {number for _, number in steps}:
            assert library.stopwatches_read(watches, known, since) == (known in running)
            assert since[0] == running.get(known, since[0])
    library.stopwatches_free(watches)
