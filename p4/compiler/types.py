"""P4's types as the checker and later passes see them: values, compared by what they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from p4.compiler import tree


@dataclass(frozen=True, slots=True)
class Bits:
    """`bit<width>`, or `int<width>` if signed."""

    width: int
    signed: bool = False

    def __str__(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>"


@dataclass(frozen=True, slots=True)
class Varbit:
    """`varbit<width>`: up to `width` bits."""

    width: int

    def __str__(self) -> str:
        return f"varbit<{self.width}>"


@dataclass(frozen=True, slots=True)
class Simple:
    """A type without parts: bool, int (any integer), string, error, match_kind, void."""

    name: str

    def __str__(self) -> str:
        return self.name


BOOL = Simple("bool")
INTEGER = Simple("int")
STRING = Simple("string")
ERROR = Simple("error")
MATCH_KIND = Simple("match_kind")
VOID = Simple("void")
ANYTHING = Simple("any type")  # of what is already known to be wrong
INVALID = Simple("{#}")
DEFAULT = Simple("...")


@dataclass(frozen=True, slots=True)
class Variable:
    """A type parameter of the generic declaration that we are in, or that is being called."""

    parameter: tree.TypeParameter

    def __str__(self) -> str:
        return self.parameter.name


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enum; `underlying` is what its members are serialised as, `values` then their values."""

    name: str
    members: tuple[str, ...]
    underlying: "Type | None" = None
    values: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Distinct:
    """A type made with `type`: as its base, but not the same."""

    name: str
    base: "Type"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Record:
    """A struct, header or header_union (by `kind`), with its type arguments if it is generic."""

    kind: str
    name: str
    fields: tuple[tuple[str, "Type"], ...]
    arguments: tuple["Type", ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(str(argument) for argument in self.arguments)
        return f"{self.name}<{inner}>" if self.arguments else self.name

    def field(self, name: str) -> "Type | None":
        """Return a field's type, None if there is no such field."""
        return next((type_ for field, type_ in self.fields if field == name), None)


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack."""

    element: "Type"
    size: int

    def __str__(self) -> str:
        return f"{self.element}[{self.size}]"


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, or what a list expression is before something gives it a type."""

    items: tuple["Type", ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(str(item) for item in self.items)}>"


@dataclass(frozen=True, slots=True)
class Set:
    """What a keyset holds."""

    element: "Type"

    def __str__(self) -> str:
        return f"set<{self.element}>"


@dataclass(frozen=True, slots=True)
class Object:
    """An extern, parser, control or package, with its type arguments."""

    declaration: tree.Extern | tree.Parser | tree.Control | tree.Package
    arguments: tuple["Type", ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(str(argument) for argument in self.arguments)
        return f"{self.declaration.name}<{inner}>" if inner else self.declaration.name


@dataclass(frozen=True, slots=True)
class Applied:
    """What `table.apply()` gives: hit, miss and action_run."""

    table: tree.Table

    def __str__(self) -> str:
        return f"the result of applying {self.table.name}"


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The action that a table ran, for a switch."""

    table: tree.Table

    def __str__(self) -> str:
        return f"an action of {self.table.name}"


@dataclass(frozen=True, slots=True)
class Named:
    """A name that is not a value: a table, an action, a function, a state, a type."""

    what: str
    name: str

    def __str__(self) -> str:
        return f"the {self.what} {self.name}"


Type: TypeAlias = (
    Bits
    | Varbit
    | Simple
    | Variable
    | Enumeration
    | Distinct
    | Record
    | Stack
    | Tuple
    | Set
    | Object
    | Applied
    | ActionRun
    | Named
)

Bindings: TypeAlias = Mapping[tree.TypeParameter, Type]


def transform(type_: Type, change: Callable[[Type], Type | None]) -> Type:
    """Rebuild a type from the inside out where `change` gives something for a part."""
    changed = change(type_)
    if changed is not None:
        return changed

    def inner(part: Type) -> Type:
        return transform(part, change)

    match type_:
        case Record() if type_.arguments:
            fields = tuple((name, inner(part)) for name, part in type_.fields)
            return replace(type_, fields=fields, arguments=tuple(map(inner, type_.arguments)))
        case Stack() | Set():
            return replace(type_, element=inner(type_.element))
        case Tuple():
            return Tuple(tuple(map(inner, type_.items)))
        case Object():
            return replace(type_, arguments=tuple(map(inner, type_.arguments)))
    return type_


def substitute(type_: Type, bindings: Bindings) -> Type:
    """Replace type variables by what they are bound to."""
    if not bindings:
        return type_

    def change(part: Type) -> Type | None:
        return bindings.get(part.parameter) if isinstance(part, Variable) else None

    return transform(type_, change)


def base(type_: Type) -> Type:
    """Return the type under `type` and serialisable enums, whose bits a value has."""
    while True:
        match type_:
            case Distinct():
                type_ = type_.base
            case Enumeration(underlying=under) if under is not None:
                type_ = under
            case _:
                return type_


def width(type_: Type, *, greatest: bool = False) -> int | None:  # noqa: PLR0911
    """Return a type's width in bits, None if it has none; a varbit counts 0 or its greatest."""
    type_ = base(type_)
    match type_:
        case Bits():
            return type_.width
        case Varbit():
            return type_.width if greatest else 0
        case Simple(name="bool"):
            return 1
        case Simple(name="error") | Enumeration():
            return 32
        case Stack():
            inner = width(type_.element, greatest=greatest)
            return None if inner is None else inner * type_.size
        case Record(kind="header_union"):
            parts = [width(part, greatest=greatest) or 0 for _, part in type_.fields]
            return max(parts, default=0) if greatest else min(parts, default=0)
        case Record():
            return _sum(tuple(part for _, part in type_.fields), greatest=greatest)
        case Tuple():
            return _sum(type_.items, greatest=greatest)
    return None


def _sum(parts: tuple[Type, ...], *, greatest: bool) -> int | None:
    widths = [width(part, greatest=greatest) for part in parts]
    return None if None in widths else sum(value for value in widths if value is not None)


def wrap(value: int, type_: Type) -> int:
    """Return the value that is left of `value` in a variable of the type."""
    type_ = base(type_)
    if not isinstance(type_, Bits):
        return value
    value &= (1 << type_.width) - 1
    if type_.signed and value >> (type_.width - 1):
        value -= 1 << type_.width
    return value


def fits(value: int, type_: Type) -> bool:
    """Tell whether a value keeps its value in a variable of the type."""
    return wrap(value, type_) == value


def is_scalar(type_: Type) -> bool:
    """Tell whether a value of the type is one number."""
    type_ = base(type_)
    return isinstance(type_, Bits | Enumeration) or type_ in {BOOL, ERROR, INTEGER}
