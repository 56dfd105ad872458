"""The nodes of a rank's file."""

from __future__ import annotations

import gzip
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError
from traffic.readers.chakra.schema import messages

if TYPE_CHECKING:
    from pathlib import Path

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)
RANKED = re.compile(r"(?P<name>.*)\.(?P<rank>[0-9]{1,7})\.et")
GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its place in its rank's file (from 1), and what it says.

    `before` are the ids of the nodes that it depends on; `values` its attributes by name.
    """

    path: Path
    rank: int
    place: int
    id: int
    name: str
    kind: int
    before: tuple[int, ...]
    duration_us: int
    values: dict[str, Any]

    @property
    def communicates(self) -> bool:
        """Whether it moves bytes; what a host does to start that has no `comm_size`."""
        return "comm_size" in self.values or "comm_type" in self.values

    def wrong(self, problem: str) -> UserError:
        """Make an error that names the file and the node."""
        return UserError(f"{self.path}: node {self.place} ({self.name[:40]!r}): {problem}")

    def whole(self, name: str, most: int, default: int | None = None) -> int:
        """Read an attribute that is a whole number from 0 to `most`."""
        value = self.values.get(name, default)
        if value is None:
            raise self.wrong(f"it has no attribute {name}")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.wrong(f"{name} is {value!r}; it must be a whole number of at most {most:,}")
        return value


def files_of(path: Path) -> dict[int, Path]:
    """Return the files of all ranks of the trace that `path` is a file of, in order of ranks."""
    named = RANKED.fullmatch(path.name)
    if named is None:
        raise UserError(f"{path}: a trace has a file a rank, called NAME.0.et, NAME.1.et, ...")
    try:
        there = list(path.parent.iterdir())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    found = {
        int(other["rank"]): each
        for each in there
        if (other := RANKED.fullmatch(each.name)) and other["name"] == named["name"]
    }
    if not path.exists():
        raise UserError(f"{path}: cannot be read: No such file or directory")
    missing = next((rank for rank in range(len(found)) if rank not in found), None)
    if missing is not None:
        name = f"{named['name']}.{missing}.et"
        raise UserError(f"{path}: there are {len(found)} files of this trace, but no {name}")
    return dict(sorted(found.items()))


def read_nodes(path: Path, rank: int) -> list[Node]:
    """Read a rank's file, which may be compressed; every id once."""
    made = messages()
    stream = io.BytesIO(_content(path))
    _parse(path, stream, made["GlobalMetadata"], 0)
    nodes: list[Node] = []
    seen: set[int] = set()
    while (found := _parse(path, stream, made["Node"], len(nodes) + 1)) is not None:
        node = Node(
            path,
            rank,
            len(nodes) + 1,
            found.id,
            found.name,
            found.type,
            tuple(dict.fromkeys((*found.ctrl_deps, *found.data_deps))),
            found.duration_micros,
            {each.name: _value(each) for each in found.attr},
        )
        if node.id in seen:
            raise node.wrong(f"its id, {node.id}, is that of an earlier node")
        seen.add(node.id)
        nodes.append(node)
    return nodes


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(GZIP) else content
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "it is not whole"
        raise UserError(f"{path}: cannot be read: {reason}") from error


def _parse(path: Path, stream: io.BytesIO, kind: Any, place: int) -> Any:
    """Return the next message, None at the end of the file."""
    from google.protobuf import proto  # noqa: PLC0415 - an optional extra
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    what = f"node {place}" if place else "the head"
    try:
        return proto.parse_length_prefixed(kind, stream)
    except (DecodeError, ValueError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {what} cannot be read: it is no Chakra trace") from error


def _value(attribute: Any) -> Any:
    """Return the value of an attribute; None if it is of a kind that is not read, such as lists."""
    given = attribute.WhichOneof("value")
    return getattr(attribute, given) if given else None
