"""Files that users bring, read as flows: one module a format, and the list of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from traffic.readers import connection_matrix, goal, tables
from traffic.readers.chakra import trace as chakra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from traffic.flows import Flows
    from traffic.readers.connection_matrix import Failure
    from traffic.request import Request


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: its name, how its files' names end, and what reads one for a request.

    `options` says by name what an option takes, its default first. `failures` reads the links that
    a file fails, if the format knows such; `write` writes flows, if it can hold any.
    """

    name: str
    suffixes: tuple[str, ...]
    summary: str
    read: Callable[[Path, Request], Flows]
    options: Mapping[str, str] = field(default_factory=dict)
    failures: Callable[[Path], Sequence[Failure]] | None = None
    write: Callable[[Path, Flows], None] | None = None


READERS = (
    Reader(
        "htsim",
        (".cm",),
        "an htsim connection matrix",
        connection_matrix.read,
        connection_matrix.OPTIONS,
        connection_matrix.failures,
        connection_matrix.write,
    ),
    Reader("GOAL", (".goal",), "a GOAL schedule (LogGOPSim, ATLAHS)", goal.read, write=goal.write),
    Reader(
        "Chakra",
        (".et",),
        "a Chakra execution trace (NAME.0.et, one file a rank)",
        chakra.read,
        chakra.OPTIONS,
    ),
    Reader(
        "table",
        (".csv",),
        "SimCCL's flows, messages (src,dst,bytes), or an MoE routing",
        tables.read,
        tables.OPTIONS,
    ),
)


def find(name: str) -> Reader | None:
    """Return what reads a file of that name, None if it is not that of a known format."""
    return next((reader for reader in READERS if name.endswith(reader.suffixes)), None)


def failures(name: str) -> Sequence[Failure]:
    """Return the links that the workload of that name fails: none unless it is a file with such."""
    reader = find(name)
    return reader.failures(Path(name)) if reader and reader.failures else ()


def endings() -> str:
    """Return the endings of files that can be read."""
    return ", ".join(suffix for reader in READERS for suffix in reader.suffixes)
