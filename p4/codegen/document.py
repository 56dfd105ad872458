"""A JSON document that knows where it is: typed access with errors that name the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator


class ProgramError(UserError):
    """A BMv2 JSON file that is wrong or uses what the engine does not support."""


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside a JSON document, with the path that leads to it."""

    value: Any
    path: str

    def fail(self, message: str) -> ProgramError:
        """Return an error that names this place."""
        return ProgramError(f"{self.path or 'document'}: {message}")

    def __getitem__(self, key: str | int) -> Place:
        """Return the member `key`, which must exist."""
        if isinstance(key, int):
            items = self.list()
            if key >= len(items):
                raise self.fail(f"has {len(items)} elements, needs more than {key}")
            return Place(items[key], f"{self.path}[{key}]")
        if key not in self.dict():
            raise self.fail(f"has no `{key}`")
        return Place(self.value[key], f"{self.path}.{key}" if self.path else key)

    def get(self, key: str) -> Place:
        """Return the member `key`, null where it is absent."""
        return Place(self.dict().get(key), f"{self.path}.{key}" if self.path else key)

    def __iter__(self) -> Iterator[Place]:
        """Go through a list's elements."""
        for number, item in enumerate(self.list()):
            yield Place(item, f"{self.path}[{number}]")

    def members(self) -> Iterator[tuple[str, Place]]:
        """Go through an object's members."""
        for key in self.dict():
            yield key, self[key]

    @property
    def absent(self) -> bool:
        """Return whether this is null or missing."""
        return self.value is None

    def dict(self) -> dict[str, Any]:
        """Return the value as an object."""
        if not isinstance(self.value, dict):
            raise self.fail("must be an object")
        return self.value

    def list(self) -> list[Any]:
        """Return the value as a list; null counts as empty."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.fail("must be a list")
        return self.value

    def text(self) -> str:
        """Return the value as a string."""
        if not isinstance(self.value, str):
            raise self.fail("must be a string")
        return self.value

    def text_or_none(self) -> str | None:
        """Return the value as a string, None if it is null."""
        return None if self.absent else self.text()

    def integer(self) -> int:
        """Return the value as an integer that is no Boolean."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.fail("must be an integer")
        return self.value

    def natural(self) -> int:
        """Return the value as a non-negative integer."""
        value = self.integer()
        if value < 0:
            raise self.fail("must not be negative")
        return value

    def truth(self) -> bool:
        """Return the value as a Boolean; null counts as false."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.fail("must be true or false")
        return self.value

    def flag(self) -> bool:
        """Return the value as a Boolean that may stand as 0 or 1, as in p4c's header types."""
        if isinstance(self.value, int) and self.value in {0, 1}:
            return bool(self.value)
        return self.truth()

    def hexadecimal(self) -> int:
        """Return a hexadecimal string's value; a sign and the prefix 0x are optional."""
        try:
            return int(self.text(), 16)
        except ValueError:
            raise self.fail(f"`{self.value}` is not a hexadecimal number") from None
