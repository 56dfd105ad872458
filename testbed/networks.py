"""Files that describe a network of the user's own: see docs/networks.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import UserError, near
from testbed import topo_files
from testbed.scenario.shape import COUNTS, PLANES, given
from testbed.scenario.speeds import DELAY, RATE, check_speed, speeds_of
from testbed.scenario.toml import read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

SHAPES = tuple(COUNTS)
SUFFIXES = (".toml", ".topo")
LARGEST_NUMBER = 1e15
"""Beyond what any count, rate or delay may be."""


def is_file(text: str) -> bool:
    """Tell whether the value of an option names a network's file, there or not, and no shape."""
    return text not in SHAPES and (Path(text).suffix in SUFFIXES or Path(text).is_file())


def chosen(text: str) -> dict[str, Any]:
    """Return the fields of a scenario that `--topology` says: a shape, or a file's network.

    Raises UserError for a file that cannot be used.
    """
    return read(Path(text)) if is_file(text) else {"topology": text, "network": {}}


def read(path: Path) -> dict[str, Any]:
    """Return the fields of a scenario that a file says: `topology`, `network`.

    A file may say `rate_gbps` and `delay_ns` too.

    Raises UserError naming the file, the line, the key, its value and what was wanted.
    """
    if path.suffix == ".topo":
        fields = topo_files.read(path)
        _check(path, fields)
        return fields
    text, document = read_toml(path)
    try:
        return _fields(document)
    except UserError as error:
        raise UserError(f"{path}{_line_of(text, str(error))}: {error}") from error


def _check(path: Path, fields: Mapping[str, Any]) -> None:
    try:
        given(fields["topology"], fields["network"])
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _fields(document: Mapping[str, Any]) -> dict[str, Any]:
    topology = "fat-tree" if _wants_pods(document) else "leaf-spine"
    known = (PLANES, *COUNTS[topology], RATE, DELAY)
    network: dict[str, float] = {}
    for name, value in document.items():
        if name not in known:
            raise UserError(f"{name}: a {topology} has none{near(name, known)}")
        if name not in {RATE, DELAY}:
            network[name] = _number(name, value)
        elif not isinstance(value, dict):
            raise UserError(f"{name} = {value!r}: it must be a section, [{name}]")
        else:
            network |= {f"{name}.{key}": _number(key, each) for key, each in value.items()}
    shape = given(topology, network)
    own = {kind: network.pop(f"{kind}.host") for kind in (RATE, DELAY) if f"{kind}.host" in network}
    speeds_of(shape, own.get(RATE, 1.0), own.get(DELAY, 1.0), network)
    for kind, value in own.items():
        check_speed(kind, "host", value)
    return {"topology": topology, "network": network, **own}


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{name} = {value!r}: it must be a number")
    if not abs(value) < LARGEST_NUMBER:
        raise UserError(f"{name} is {value}; it must be a number below {LARGEST_NUMBER:g}")
    return float(value)


def _wants_pods(document: Mapping[str, Any]) -> bool:
    """Tell three levels from two: by what only one of them has, `spines` where both could be."""
    return "spines" not in document and not {"pods", "aggregations", "cores"}.isdisjoint(document)


def _line_of(text: str, fault: str) -> str:
    """Return `:3`, the line of the key that a fault begins with; nothing if it has none."""
    name = re.match(r"[\w>-]+", fault)
    if name:
        key = re.compile(rf"""\s*["']?{re.escape(name[0])}["']?\s*=""")
        for number, line in enumerate(text.splitlines(), 1):
            if key.match(line):
                return f":{number}"
    return ""
