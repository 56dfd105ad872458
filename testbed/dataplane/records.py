"""numpy views of the event core's records: the dtypes come from the structs that C declares."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from testbed.dataplane.library import load

KINDS = {"uint64_t": "u8", "int64_t": "i8", "uint32_t": "u4", "int32_t": "i4", "double": "f8"}


@functools.cache
def dtype_of(struct: str) -> np.dtype[np.void]:
    """Return the numpy dtype of a C struct of dataplane.h, for example "dp_flow_record"."""
    ffi, _ = load()
    ctype: Any = ffi.typeof(f"struct {struct}")
    names = [name for name, _ in ctype.fields]
    return np.dtype(
        {
            "names": names,
            "formats": [KINDS[described.type.cname] for _, described in ctype.fields],
            "offsets": [described.offset for _, described in ctype.fields],
            "itemsize": ffi.sizeof(ctype),
        }
    )
