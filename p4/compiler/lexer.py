"""The second pass: preprocessed text to tokens."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from p4.compiler.diagnostics import Diagnostics, Position
from p4.compiler.source import INCLUDE, Source

IDENTIFIER = "identifier"
KEYWORD = "keyword"
NUMBER = "number"
STRING = "string"
SYMBOL = "symbol"
END = "end of file"

# `key`, `actions`, `apply` and their like are words of P4 only where the grammar expects them.
KEYWORDS = frozenset(
    """abstract action bit bool break const continue control default else enum error exit
    extern false for header header_union if in inout int match_kind out package parser return
    select string struct switch table transition true tuple typedef varbit void _""".split()  # noqa: SIM905
)

_TOKEN = re.compile(
    r"""
      (?P<space>[^\S\n]+)
    | (?P<line>^\#line[ ](?P<number_of_line>\d+)(?:[ ]"(?P<file>[^"]*)")?[^\n]*)
    | (?P<newline>\n)
    | (?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>\d+[ws]\s*(?:0[xXbBoOdD][0-9a-fA-F_]+|\d[\d_]*)|0[xXbBoOdD][0-9a-fA-F_]+|\d[\d_]*)
    | (?P<string>"(?:\\.|[^"\\])*")
    | (?P<symbol>\|\+\|=?|\|-\|=?|&&&|<<=|\+\+=?|\+:|&&|\|\||\.\.\.|\.\.|==|!=|<=|>=|<<
        |\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%&|^~!<>=?:;,.(){}\[\]@\#])
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token: what it is, its text, where it stands, and where in the text (to find `>>`)."""

    kind: str
    text: str
    at: Position
    offset: int


def tokenize(source: Source, diagnostics: Diagnostics) -> list[Token]:
    """Split the program into tokens, the last of them of kind END."""
    tokens: list[Token] = []
    text, line, start = source.text, 1, 0
    file = display_name(source.name, source.name)
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            at = Position(file, line, place - start + 1)
            diagnostics.error(at, f"unexpected character {text[place]!r}")
            place += 1
            continue
        kind = found.lastgroup
        place = found.end()
        if kind == "newline":
            line, start = line + 1, place
        elif found["line"]:
            line = int(found["number_of_line"]) - 1
            file = display_name(found["file"], source.name) if found["file"] else file
        elif kind in _KINDS:
            value = found.group()
            at = Position(file, line, found.start() - start + 1, len(value))
            is_keyword = kind == IDENTIFIER and value in KEYWORDS
            tokens.append(Token(KEYWORD if is_keyword else kind, value, at, found.start()))
            if "\n" in value:
                line, start = line + value.count("\n"), found.start() + value.rfind("\n") + 1
    end = Position(file, line, max(1, place - start + 1))
    tokens.append(Token(END, "", end, place))
    return tokens


_KINDS = (IDENTIFIER, NUMBER, STRING, SYMBOL)


def display_name(file: str, program: str) -> str:
    """Return a file's name as messages show it: our includes by name, others as from `program`."""
    path = Path(os.path.abspath(file))  # noqa: PTH100 (does away with "..", unlike Path.absolute)
    home = os.path.abspath(Path(program).parent)  # noqa: PTH100
    if path.is_relative_to(INCLUDE):
        return path.name
    if path.is_relative_to(home):
        return str(Path(program).parent / path.relative_to(home))
    return str(path)


def number(text: str) -> tuple[int, int | None, bool]:
    """Return a literal's value, its width (None: without) and whether it is signed."""
    prefix = re.match(r"(\d+)([ws])\s*", text)
    width, signed = None, False
    if prefix:
        width, signed = int(prefix[1]), prefix[2] == "s"
        text = text[prefix.end() :]
    text = text.replace("_", "")
    bases = {"x": 16, "b": 2, "o": 8, "d": 10}
    base = bases.get(text[1:2].lower(), 10)
    return int(text[2:] if text[1:2].isalpha() else text, base), width, signed
