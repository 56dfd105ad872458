"""What expressions stand for while code is lowered: numbers, and where things are stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from p4.compiler import flat, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position


@dataclass(frozen=True, slots=True, eq=False)
class Struct:
    """A struct or tuple: its parts by name; a literal if it is not stored as one."""

    type: t.Record | t.Tuple
    parts: Mapping[str, "Place"]


@dataclass(frozen=True, slots=True)
class Header:
    """A header instance."""

    type: t.Record
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class HeaderLiteral:
    """A header that is nowhere stored."""

    type: t.Record
    valid: flat.Value
    parts: Mapping[str, "Place"]


@dataclass(frozen=True, slots=True)
class Union:
    """A header union."""

    type: t.Record
    name: str
    members: tuple[Header, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack."""

    type: t.Stack
    name: str
    elements: tuple["Header | Union", ...]


@dataclass(frozen=True, slots=True)
class StackEnd:
    """A stack's `next` or `last`, and the member if that is a union."""

    stack: Stack
    which: str
    member: str | None
    type: t.Record


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One of several places, by an index known at run time."""

    index: flat.Value
    places: tuple["Place", ...]

    @property
    def type(self) -> t.Type:
        """The type of each of the places."""
        return type_of(self.places[0])


@dataclass(frozen=True, slots=True, eq=False)
class Bits:
    """A slice of a number that is stored somewhere."""

    place: "Place"
    high: int
    low: int

    @property
    def type(self) -> t.Type:
        """The slice's type."""
        return t.Bits(self.high - self.low + 1)


@dataclass(frozen=True, slots=True)
class Varbit:
    """A varbit field."""

    header: str
    name: str
    type: t.Varbit


@dataclass(slots=True, eq=False)
class Object:
    """An instance of an extern, control or parser, or what stands for a packet.

    `bindings` are of the constructor's parameters, `numbers` its constant arguments by name;
    `frames` remembers how a control was inlined.
    """

    type: t.Object
    name: str
    at: Position
    bindings: dict[tree.Declaration, "Place"] = field(default_factory=dict)
    frames: list[object] = field(default_factory=list)

    def argument(self, name: str) -> "Place | None":
        """Return the constructor's argument for a parameter."""
        return next((place for key, place in self.bindings.items() if key.name == name), None)


Place: TypeAlias = (
    flat.Value
    | flat.Text
    | Struct
    | Header
    | HeaderLiteral
    | Union
    | Stack
    | StackEnd
    | Choice
    | Bits
    | Varbit
    | Object
)


def type_of(place: Place) -> t.Type:
    """Return a place's type."""
    return t.STRING if isinstance(place, flat.Text) else place.type


def storage(place: Place | None) -> set[tuple[str, str]]:  # noqa: C901, PLR0911
    """Return what a place is stored in, as (header, field) pairs; "" stands for all fields."""
    match place:
        case flat.Field() | Varbit():
            return {(place.header, place.name)}
        case Header():
            return {(place.name, "")}
        case Struct() | HeaderLiteral():
            return set().union(*(storage(part) for part in place.parts.values()))
        case Union():
            return set().union(*(storage(member) for member in place.members))
        case Stack():
            return set().union(*(storage(element) for element in place.elements))
        case StackEnd():
            return storage(place.stack)
        case Choice():
            return storage(place.index).union(*(storage(each) for each in place.places))
        case Bits():
            return storage(place.place)
        case flat.Operation():
            parts = (place.left, place.right, place.condition)
            return set().union(*(storage(part) for part in parts))
        case flat.Validity():
            return {(place.header, "")}
        case flat.StackTop() | flat.LastIndex():
            return {(place.stack, "")}
    return set()


def overlap(first: set[tuple[str, str]], second: set[tuple[str, str]]) -> bool:
    """Tell whether two sets of storage have something in common."""
    if first & second:
        return True
    whole_first = {header for header, name in first if not name}
    whole_second = {header for header, name in second if not name}
    return any(header in whole_first for header, _ in second) or any(
        header in whole_second for header, _ in first
    )
