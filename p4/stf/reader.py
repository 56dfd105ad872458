"""Read STF scripts: one frozen object per statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Packet:
    """A frame that arrives on a port."""

    line: int
    port: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Expect:
    """A frame that must leave a port: hexadecimal digits and `*`; None is any frame."""

    line: int
    port: int
    pattern: str | None
    exact: bool


@dataclass(frozen=True, slots=True)
class NoPacket:
    """Nothing may have left the switch beyond what was expected."""

    line: int


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause: nothing to do, since every frame is finished before the next statement."""

    line: int


@dataclass(frozen=True, slots=True)
class Add:
    """A table entry; `name` is what counter checks call it."""

    line: int
    table: str
    priority: int | None
    matches: tuple[tuple[str, str], ...]
    action: str
    arguments: tuple[tuple[str, str], ...]
    name: str | None


@dataclass(frozen=True, slots=True)
class SetDefault:
    """A table's default action."""

    line: int
    table: str
    action: str
    arguments: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class CheckCounter:
    """A counter's value: `index` is a number or an entry's name."""

    line: int
    counter: str
    index: str
    kind: str
    comparison: str
    value: int


@dataclass(frozen=True, slots=True)
class Remove:
    """All entries go."""

    line: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the switch's prompt."""

    line: int
    text: str


Step = Packet | Expect | NoPacket | Wait | Add | SetDefault | CheckCounter | Remove | Command

SHOWN = 40  # characters of a wrong value in messages
NAME = r'(?:"[^"]+"|[A-Za-z_$][\w$.\[\]]*)'
ACTION = re.compile(rf"({NAME})\s*\((.*)\)\s*(?:=\s*([\w$]+))?$")
PAIR = re.compile(rf"({NAME})\s*:\s*([^\s,]+)")
COUNTER = re.compile(
    rf"({NAME})\s*\(\s*([\w$]+)\s*\)\s*(?:(packets|bytes)\s*(==|!=|<=|<|>=|>)\s*(\w+))?$",
    re.IGNORECASE,
)
COMMANDS = frozenset(
    [
        "mirroring_add",
        "mirroring_add_mc",
        "mirroring_delete",
        "mirroring_get",
        "mc_mgrp_create",
        "mc_node_create",
        "mc_node_update",
        "mc_node_associate",
        "counter_read",
        "counter_write",
        "register_read",
        "register_write",
        "register_reset",
        "meter_get_rates",
        "meter_set_rates",
        "meter_array_set_rates",
    ]
)


def read_stf(path: Path) -> list[Step]:
    """Read a script; UserError names the file and the line of what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: it is not UTF-8 text") from None
    return parse_stf(text, str(path))


def parse_stf(text: str, origin: str = "stf") -> list[Step]:
    """Read a script's text."""
    steps: list[Step] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        try:
            steps.append(_step(number, line))
        except ValueError as error:
            raise UserError(f"{origin}:{number}: {error}") from None
    return steps


def _step(number: int, line: str) -> Step:
    keyword, _, rest = line.partition(" ")
    keyword, rest = keyword.lower(), rest.strip()
    if keyword in COMMANDS:
        return Command(number, f"{keyword} {rest}")
    reader = _READERS.get(keyword)
    if reader is None:
        raise ValueError(f"unknown statement `{keyword}`")
    return reader(number, rest)


def _packet(number: int, rest: str) -> Step:
    port, _, data = rest.partition(" ")
    digits = "".join(data.split())
    if len(digits) % 2:
        raise ValueError("odd number of hexadecimal digits")
    if not re.fullmatch(r"[0-9A-Fa-f]*", digits):
        raise ValueError(f"not hexadecimal: {digits[:SHOWN]}")
    return Packet(number, _port(port), bytes.fromhex(digits))


def _expect(number: int, rest: str) -> Step:
    port, _, data = rest.partition(" ")
    digits = "".join(data.split()).upper()
    exact = digits.endswith("$")
    digits = digits.rstrip("$")
    if not re.fullmatch(r"[0-9A-F*]*", digits):
        raise ValueError(f"not hexadecimal: {digits[:SHOWN]}")
    return Expect(number, _port(port), digits if digits or exact else None, exact)


def _add(number: int, rest: str) -> Step:
    match = ACTION.search(rest)
    if match is None:
        raise ValueError("no action with arguments in parentheses")
    words = rest[: match.start()].split()
    if not words:
        raise ValueError("no table")
    table, words = words[0].strip('"'), words[1:]
    priority = None
    if words and re.fullmatch(r"\d+|0x[0-9a-fA-F]+", words[0]):
        priority, words = int(words[0], 0), words[1:]
    matches = tuple(_pairs(" ".join(words)))
    action, arguments, name = match.groups()
    return Add(number, table, priority, matches, action.strip('"'), tuple(_pairs(arguments)), name)


def _set_default(number: int, rest: str) -> Step:
    match = ACTION.search(rest)
    words = rest[: match.start()].split() if match else []
    if match is None or len(words) != 1:
        raise ValueError("wants a table and an action with arguments in parentheses")
    arguments = tuple(_pairs(match.group(2)))
    return SetDefault(number, words[0].strip('"'), match.group(1).strip('"'), arguments)


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = [(name.strip('"'), value) for name, value in PAIR.findall(text)]
    if PAIR.sub("", text).strip(" ,\t"):
        raise ValueError(f"not name:value pairs: {text.strip()}")
    return pairs


def _check_counter(number: int, rest: str) -> Step:
    match = COUNTER.match(rest)
    if match is None:
        raise ValueError("wants a counter(index) and a comparison")
    counter, index, kind, comparison, value = match.groups()
    return CheckCounter(
        number,
        counter.strip('"'),
        index,
        (kind or "packets").lower(),
        comparison or "any",
        _integer(value or "0"),
    )


def _port(text: str) -> int:
    port = _integer(text)
    if not 0 <= port < 1 << 32:
        raise ValueError(f"port {port} does not fit 32 bits")
    return port


def _integer(text: str) -> int:
    for base in (0, 10):
        try:
            return int(text, base)
        except ValueError:
            continue
    raise ValueError(f"not a number: `{text}`")


def _remove(number: int, rest: str) -> Step:
    if rest.lower() != "all":
        raise ValueError("only `remove all` is known")
    return Remove(number)


_READERS: dict[str, Callable[[int, str], Step]] = {
    "packet": _packet,
    "expect": _expect,
    "no_packet": lambda number, _: NoPacket(number),
    "wait": lambda number, _: Wait(number),
    "add": _add,
    "setdefault": _set_default,
    "check_counter": _check_counter,
    "remove": _remove,
}
