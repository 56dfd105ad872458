"""C identifiers for P4 names, each used once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

RESERVED = frozenset(
    [
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
        "bool",
        "true",
        "false",
        "asm",
        "typeof",
        "linux",
        "unix",
        "NULL",
        "errno",
    ]
)


def identifier(name: str) -> str:
    """Return a C identifier that reads like `name`."""
    text = re.sub(r"[^0-9A-Za-z_]+", "_", name).strip("_") or "unnamed"
    if text[0].isdigit():
        text = f"n{text}"
    return f"{text}_" if text in RESERVED else text


class Names:
    """Gives each key an identifier of its own within one name space."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._given: dict[Hashable, str] = {}
        self._taken: set[str] = set()

    def of(self, key: Hashable, name: str) -> str:
        """Return the identifier of `key`, made from `name` when first asked for."""
        if key in self._given:
            return self._given[key]
        base = f"{self._prefix}{identifier(name)}"
        text, number = base, 2
        while text in self._taken:
            text, number = f"{base}_{number}", number + 1
        self._taken.add(text)
        self._given[key] = text
        return text
