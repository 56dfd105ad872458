"""The prompt's commands on hashes whose parameters can be set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.symbols import find
from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from p4.engine import Switch

CRC_PARAMETERS = 5


class HashCommands:
    """Custom CRCs and Toeplitz hashes, by the names of calculations in the program's JSON."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch

    def _set_crc(self, algorithm: str, name: str, words: tuple[str, ...]) -> str:
        found = find(self._switch.program.symbols.hashes, name, "hash that can be set")
        if found.algorithm != algorithm:
            raise ConsoleError(f"hash {found.name} is {found.algorithm}, not {algorithm}")
        if len(words) != CRC_PARAMETERS:
            raise ConsoleError(f"hash {found.name}: {CRC_PARAMETERS} parameters, not {len(words)}")
        self._switch.crc_set(
            found.name,
            *(_hexadecimal(text) for text in words[:3]),
            reflect_data=bool(parse_number(words[3])),
            reflect_remainder=bool(parse_number(words[4])),
        )
        return ""

    def do_set_crc16_parameters(self, name: str, *words: str) -> str:
        """Usage: set_crc16_parameters HASH POLYNOMIAL INITIAL XOR REFLECT_DATA REFLECT_RESULT."""
        return self._set_crc("crc16_custom", name, words)

    def do_set_crc32_parameters(self, name: str, *words: str) -> str:
        """Usage: set_crc32_parameters HASH POLYNOMIAL INITIAL XOR REFLECT_DATA REFLECT_RESULT."""
        return self._set_crc("crc32_custom", name, words)

    def do_set_toeplitz_hash_key(self, name: str, key: str) -> str:
        """Usage: set_toeplitz_hash_key HASH KEY (in hexadecimal digits)."""
        try:
            data = bytes.fromhex(key.removeprefix("0x"))
        except ValueError:
            raise ConsoleError(f"`{key}` is not made of hexadecimal digits") from None
        if not data or len(data) % 4:
            raise ConsoleError(f"`{key}`: a key has a multiple of 4 bytes")
        self._switch.toeplitz_set(name, data)
        return ""


def _hexadecimal(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise ConsoleError(f"`{text}` is not a hexadecimal number") from None
