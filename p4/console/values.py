"""Values as people type them: numbers, addresses, prefixes, masks, ranges."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from errors import UserError
from p4.codegen.program import Match

if TYPE_CHECKING:
    from p4.codegen.symbols import KeyInfo, MatchValue


class ConsoleError(UserError):
    """A command that cannot be understood or carried out."""


def parse_number(text: str) -> int:
    """Return the number of a decimal, 0x, 0b or 0o constant, a MAC, IPv4 or IPv6 address."""
    if re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        return int(text.replace(":", ""), 16)
    if text.lower() in {"true", "false"}:
        return int(text.lower() == "true")
    try:
        if "." in text or ":" in text:
            return int(ipaddress.ip_address(text))
        return int(text, 0)
    except ValueError:
        pass
    try:
        return int(text)
    except ValueError:
        raise ConsoleError(f"`{text}` is not a number or an address") from None


def parse_match(key: KeyInfo, text: str) -> MatchValue:
    """Return the match value of what was typed for a key field."""
    match key.match:
        case Match.LPM:
            value, slash, length = text.partition("/")
            return parse_number(value), parse_number(length) if slash else key.bits
        case Match.TERNARY:
            value, mark, mask = text.partition("&&&")
            return (parse_number(value), parse_number(mask)) if mark else parse_number(value)
        case Match.RANGE:
            low, arrow, high = text.partition("->")
            return (parse_number(low), parse_number(high)) if arrow else parse_number(low)
        case Match.OPTIONAL:
            value, mark, mask = text.partition("&&&")
            if text == "*" or (mark and parse_number(mask) == 0):
                return None
            return parse_number(value)
        case _:
            return parse_number(text)


def format_match(key: KeyInfo, value: MatchValue) -> str:
    """Return a match value as it is typed."""
    digits = (key.bits + 3) // 4
    if value is None:
        return "*"
    if not isinstance(value, tuple):
        return f"0x{value:0{digits}x}"
    first, second = value
    match key.match:
        case Match.LPM:
            return f"0x{first:0{digits}x}/{second}"
        case Match.RANGE:
            return f"0x{first:0{digits}x}->0x{second:0{digits}x}"
        case _:
            return f"0x{first:0{digits}x}&&&0x{second:0{digits}x}"
