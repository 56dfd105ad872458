"""How values are typed on a command line: sizes, lists, seeds, and those of a scenario's fields."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from errors import UserError, near
from testbed import networks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from testbed.scenario import Field

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)i?b?", re.IGNORECASE)
MOST_SEEDS = 10_000
LARGEST_SEED = 2**63 - 1


def size(text: str) -> int:
    """Read a number of bytes such as 4096, 256KB or 1MB (1 KB is 1,024 B)."""
    match = SIZE.fullmatch(text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 4096, 256KB or 1MB")
    return round(float(match[1]) * UNITS[match[2].lower()])


def seeds(text: str) -> list[int]:
    """Read seeds: `3` stands for 1, 2 and 3; `4,7` for these two, `7,` for this one."""
    try:
        numbers = [int(part) for part in text.removesuffix(",").split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no count or list of seeds") from None
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: seeds and their count start at 1")
    if max(numbers) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"{text!r}: the largest seed is {LARGEST_SEED:,}")
    if "," in text:
        return list(dict.fromkeys(numbers))
    if numbers[0] > MOST_SEEDS:
        raise argparse.ArgumentTypeError(
            f"{text} would be that many runs, at most {MOST_SEEDS:,} are; for the one seed {text} "
            f"write {text},"
        )
    return list(range(1, numbers[0] + 1))


def names(text: str) -> list[str]:
    """Read a list of names with commas, each once; at least one."""
    found = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} names nothing")
    return found


def flows_or_worst(text: str) -> tuple[int, ...] | str:
    """Read a list of flows' numbers, or `worst`."""
    if text == "worst":
        return text
    numbers = text.split(",")
    if not all(part.strip().isdecimal() for part in numbers):
        raise argparse.ArgumentTypeError(f"{text!r}: write flows' numbers, as in 0,17, or worst")
    return tuple(dict.fromkeys(int(part) for part in numbers))


def folder(text: str) -> Path:
    """Read the name of a folder; an empty one, as of a variable not set, is none."""
    if not text:
        raise argparse.ArgumentTypeError("it names no folder")
    return Path(text)


def assignment(text: str) -> tuple[str, str]:
    """Read NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def number(name: str, text: str) -> float:
    """Read the number given for a name; raises UserError if it is none."""
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{name} is {text!r}, which is no number") from None


def positive(text: str) -> float:
    """Read a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0, or not finite")
    return value


def count(text: str) -> int:
    """Read a whole number above 0."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def one_of(known: Sequence[str]) -> Callable[[str], str]:
    """Return a reader of names that suggests the nearest of those there are."""

    def read(text: str) -> str:
        if text not in known:
            raise argparse.ArgumentTypeError(f"{text} is unknown{near(text, known)}")
        return text

    return read


def topology(text: str) -> str:
    """Read the name of a shape, or of a network's file."""
    return text if networks.is_file(text) else one_of(networks.SHAPES)(text)


def topologies(text: str) -> list[str]:
    """Read a list of shapes and networks' files."""
    return [topology(name) for name in names(text)]


def truth(text: str) -> bool:
    """Read yes or no."""
    if text not in ("yes", "no"):
        raise argparse.ArgumentTypeError(f"{text!r}: write yes or no")
    return text == "yes"


def option_of(field: Field) -> str:
    """Return how the command line calls a scenario's field: its name without the unit."""
    name = field.name
    for unit in ("_bytes", "_gbps", "_ns"):
        name = name.removesuffix(unit)
    return f"--{name.replace('_', '-')}"


def metavar_of(field: Field) -> str:
    """Return what stands for a field's value in help."""
    kind = plain(field.kind)
    if get_origin(kind) is Literal:
        return "{" + ",".join(get_args(kind)) + "}"
    if kind is bool:
        return "yes|no"
    unit = {"B": "BYTES", "Gb/s": "GBPS"}.get(field.about.unit, field.about.unit.upper())
    return unit or {int: "N", float: "X"}.get(kind, "NAME")


def reader_of(field: Field) -> Callable[[str], Any]:
    """Return what reads a field's value from text; it raises ArgumentTypeError."""
    kind = plain(field.kind)
    readers: dict[Any, Callable[[str], Any]] = {int: int, float: float, bool: truth}
    read = readers.get(kind, str)
    if get_origin(kind) is Literal:
        read = one_of(get_args(kind))
    elif get_origin(kind) is tuple:
        read = lambda text: tuple(names(text))  # noqa: E731
    elif field.about.unit == "B":
        read = size
    none = {"none", *([field.about.none] if field.about.none else [])}
    optional = get_origin(field.kind) is UnionType and field.default is None

    def value(text: str) -> Any:
        if optional and text in none:
            return None
        try:
            return read(text)
        except ValueError:
            what = "whole number" if kind is int else "number"
            raise argparse.ArgumentTypeError(f"{text!r} is no {what}") from None

    return value


def plain(kind: Any) -> Any:
    """Return a type without None."""
    if get_origin(kind) is UnionType:
        return next(each for each in get_args(kind) if each is not NoneType)
    return kind


def shown(field: Field) -> str:
    """Write a field's default as help shows it."""
    value = field.default
    if value is None:
        return field.about.none or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if field.about.unit == "B" and value >= UNITS["m"] and value % UNITS["m"] == 0:
        return f"{value // UNITS['m']}MB"
    return f"{value:g}" if isinstance(value, float) else str(value)
