"""What a pass gives, as text to read: `python -m p4 compile --dump PASS`."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from p4.compiler import flat
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lexer import Token
from p4.compiler.model import Checked
from p4.compiler.source import Source

INDENT = "  "
Short = (
    flat.Number | flat.Field | flat.RuntimeData | flat.Validity | flat.Reference | flat.Operation
)


def dump(value: Any) -> str:
    """Return the output of any pass as text that ends a line."""
    match value:
        case Source():
            return value.text.rstrip("\n") + "\n"
        case Checked():
            return "\n".join(_meanings(value)) + "\n"
        case [Token(), *_]:
            return "".join(f"{each.at}: {each.kind} {each.text}\n" for each in value)
        case dict():
            return json.dumps(value, indent=2) + "\n"
    return "\n".join(_lines(value, "", set())) + "\n"


def _meanings(checked: Checked) -> Iterator[str]:
    """Give every expression with its type, and its value where that is known."""
    for node, type_ in sorted(checked.types.items(), key=lambda item: _place(item[0].at)):
        value = checked.constants.get(node)
        known = "" if value is None else f" = {value}"
        yield f"{node.at}: {type(node).__name__}: {type_}{known}"


def _place(at: Position) -> tuple[str, int, int]:
    return at.file, at.line, at.column


def _lines(value: Any, label: str, seen: set[int]) -> Iterator[str]:
    """Give a node and what is in it, each with the name of the field that holds it."""
    start = f"{label}: " if label else ""
    if isinstance(value, tuple | list):
        for each in value:
            if isinstance(each, tuple) and all(map(_is_plain, each)):
                yield start + " ".join(map(_short, each))
            else:
                yield from _lines(each, label, seen)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _lines(each, f"{label}[{key}]", seen)
    elif _is_plain(value):
        yield f"{start}{_short(value)}"
    elif isinstance(value, flat.Table | flat.Action) and id(value) in seen:
        yield f"{start}{type(value).__name__} {value.name} (as above)"
    else:
        seen.add(id(value))
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        plain = [f"{name}={_short(given)}" for name, given in fields.items() if _is_plain(given)]
        yield " ".join([start + type(value).__name__, *plain])
        for name, given in fields.items():
            if not _is_plain(given):
                yield from (INDENT + line for line in _lines(given, name, seen))


def _short(value: object) -> str:  # noqa: PLR0911
    """Return a value of lowered code as it would be written."""
    match value:
        case flat.Number():
            return str(value.value)
        case flat.Field():
            return f"{value.header}.{value.name}"
        case flat.RuntimeData():
            return f"parameter {value.index}"
        case flat.Validity():
            return f"{value.header} is valid"
        case flat.Reference():
            return f"{value.kind} {value.name}"
        case flat.Operation(operator="?:"):
            chosen = f"{_short(value.left)} : {_short(value.right)}"
            return f"({_short(value.condition)} ? {chosen})"
        case flat.Operation(operator="cast"):
            return f"({value.type}){_short(value.right)}"
        case flat.Operation(left=None):
            return f"{value.operator}{_short(value.right)}"
        case flat.Operation():
            return f"({_short(value.left)} {value.operator} {_short(value.right)})"
    return str(value)


def _is_plain(value: object) -> bool:
    return not isinstance(value, tuple | list | dict) and (
        not dataclasses.is_dataclass(value) or isinstance(value, Position | Short | t.Type)
    )
