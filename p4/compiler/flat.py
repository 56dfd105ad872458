"""A lowered program: what BMv2 has names for, with everything else inlined into it.

Code is a tree of statements whose leaves are BMv2's primitives. Calls, returns and exits have
become labels and jumps out of the statements that bear them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from p4.compiler.diagnostics import Position
from p4.compiler.types import BOOL, Bits, Type

SCALARS = "scalars"


# Values


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int
    type: Type


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a header instance, or of the scalars."""

    header: str
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class RuntimeData:
    """A parameter of the action that the control plane gives."""

    index: int
    type: Type


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator of P4, `cast`, or `?:`; the type is the result's."""

    operator: str
    left: "Value | None"
    right: "Value"
    type: Type
    condition: "Value | None" = None


@dataclass(frozen=True, slots=True)
class Validity:
    """Whether a header instance is valid."""

    header: str
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class UnionValidity:
    """Whether a header of a union is valid."""

    union: str
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class LastIndex:
    """The index of a stack's last extracted header; `kind` is JSON's name for the stack."""

    stack: str
    kind: str = "header_stack"
    type: Type = field(default_factory=lambda: Bits(32))


@dataclass(frozen=True, slots=True)
class StackTop:
    """A field of a stack's last extracted header; `member` if the stack holds unions."""

    stack: str
    member: str | None
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Bits of the packet from `offset` bits after the parser's cursor."""

    offset: int
    type: Type


Value: TypeAlias = (
    Number
    | Field
    | RuntimeData
    | Operation
    | Validity
    | UnionValidity
    | LastIndex
    | StackTop
    | Lookahead
)


# Other parameters of primitives


@dataclass(frozen=True, slots=True)
class Reference:
    """Something by its name: `kind` is JSON's type, such as header or register_array."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class Vector:
    """Several values as one parameter."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class UnionEnd:
    """A member of the next element of a stack of unions."""

    stack: str
    member: str


Parameter: TypeAlias = Value | Reference | Text | Vector | UnionEnd


# Code


@dataclass(frozen=True, slots=True)
class Assign:
    """Set a field."""

    target: Field
    value: Value
    at: Position


@dataclass(frozen=True, slots=True)
class Do:
    """A primitive of BMv2."""

    primitive: str
    parameters: tuple[Parameter, ...]
    at: Position


@dataclass(frozen=True, slots=True)
class If:
    """A conditional."""

    condition: Value
    yes: "Code"
    no: "Code"
    at: Position


@dataclass(frozen=True, slots=True)
class Labelled:
    """Code that jumps may leave."""

    label: int
    body: "Code"


@dataclass(frozen=True, slots=True)
class Jump:
    """Leave the code labelled so."""

    label: int
    at: Position


@dataclass(frozen=True, slots=True)
class Apply:
    """Apply a table, then run what stands for the outcome.

    `cases` is by the action's place in the table's list; `otherwise` is for other actions;
    `hit` and `miss` are None unless the program asks for them.
    """

    table: "Table"
    at: Position
    hit: "Code | None" = None
    miss: "Code | None" = None
    cases: tuple[tuple[int, "Code"], ...] = ()
    otherwise: "Code" = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """Run code again and again; it stands alone in a labelled statement, and jumps leave it."""

    body: "Code"
    at: Position


@dataclass(frozen=True, slots=True)
class Whole:
    """What an action does that is called by name: it stays in one action of the pipeline."""

    body: "Code"
    at: Position


@dataclass(frozen=True, slots=True)
class RunParser:
    """Run the states of a parser; goes on after this where they accept."""

    states: "tuple[State, ...]"
    at: Position
    name: str = ""


Statement: TypeAlias = Assign | Do | If | Labelled | Jump | Apply | Loop | Whole | RunParser
Code: TypeAlias = tuple[Statement, ...]


def statements(code: Code) -> Iterator[Statement]:
    """Give every statement in code, those inside of others after them."""
    for statement in code:
        yield statement
        match statement:
            case If():
                yield from statements(statement.yes + statement.no)
            case Labelled() | Loop() | Whole():
                yield from statements(statement.body)
            case Apply():
                bodies = [body for _, body in statement.cases]
                for body in (
                    statement.hit or (),
                    statement.miss or (),
                    statement.otherwise,
                    *bodies,
                ):
                    yield from statements(body)


def leaves(code: Code) -> bool:
    """Tell whether a jump leads out of code."""
    inside = list(statements(code))
    labels = {each.label for each in inside if isinstance(each, Labelled)}
    return any(isinstance(each, Jump) and each.label not in labels for each in inside)


# Tables and actions


@dataclass(slots=True, eq=False)
class Action:
    """An action with what the control plane gives it: (name, width) pairs."""

    name: str
    parameters: tuple[tuple[str, int], ...]
    body: Code
    at: Position
    exits: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """A table's key element: a field or a header's validity; match kind as JSON names it.

    With a `mask`, other bits of the field count as 0.
    """

    kind: str
    target: Field | Validity
    name: str
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """What an entry wants of a key; `second` is a mask, a prefix length or an upper end."""

    kind: str
    value: int
    second: int
    width: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A constant entry of a table."""

    matches: tuple[Match, ...]
    action: Action
    arguments: tuple[Number, ...]
    priority: int
    at: Position


@dataclass(slots=True, eq=False)
class Table:
    """A table; `profile` names its action profile."""

    name: str
    at: Position
    keys: tuple[Key, ...] = ()
    actions: tuple[Action, ...] = ()
    default: tuple[Action, tuple[Number, ...]] | None = None
    default_constant: bool = False
    entries: tuple[Entry, ...] | None = None
    size: int = 1024
    timeout: bool = False
    profile: str | None = None
    counter: str | None = None
    meter: str | None = None


# Parsers


@dataclass(frozen=True, slots=True)
class Case:
    """A transition: value and mask per key, or a value set; all None for the default."""

    values: tuple[int, ...] | None
    masks: tuple[int, ...] | None
    value_set: str | None
    state: str


@dataclass(slots=True)
class State:
    """A parser's state: code, then the keys and cases that choose the next state."""

    name: str
    code: Code = ()
    keys: tuple[Field | StackTop, ...] = ()
    cases: tuple[Case, ...] = ()
    at: Position | None = None


# Arrays and other objects


@dataclass(slots=True)
class Array:
    """A counter, meter or register array, or a value set; widths and sizes as they apply."""

    name: str
    at: Position
    size: int = 0
    width: int = 0
    unit: str = ""
    table: str | None = None
    target: Field | None = None


@dataclass(slots=True)
class Profile:
    """An action profile or, with an algorithm, a selector with the fields that it hashes."""

    name: str
    at: Position
    size: int
    algorithm: str | None = None
    inputs: tuple[Field, ...] | None = None
    pipeline: str | None = None


@dataclass(frozen=True, slots=True)
class Calculation:
    """A hash or checksum over values; `payload` if it goes on over the payload."""

    name: str
    algorithm: str
    inputs: tuple[Value, ...]
    payload: bool
    at: Position


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum to verify or update."""

    name: str
    target: Field
    calculation: str
    update: bool
    condition: Value
    at: Position


@dataclass(frozen=True, slots=True)
class FieldList:
    """Fields that a digest sends or that a copy of a packet keeps."""

    name: str
    values: tuple[Value, ...]
    at: Position


@dataclass(slots=True)
class Pipeline:
    """Ingress or egress."""

    name: str
    body: Code
    at: Position


@dataclass(slots=True)
class HeaderType:
    """A header's type: (field, type) pairs in order, structs flattened."""

    name: str
    fields: list[tuple[str, Type]]


@dataclass(frozen=True, slots=True)
class Instance:
    """A header instance."""

    name: str
    type: str
    metadata: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A stack, a union or a stack of unions, with the names of what is in it."""

    name: str
    type: str
    members: tuple[str, ...]


@dataclass(slots=True)
class Program:
    """Everything that the JSON needs; `folder` is where the program's file is."""

    name: str
    folder: str
    header_types: dict[str, HeaderType] = field(default_factory=dict)
    headers: list[Instance] = field(default_factory=list)
    stacks: list[Group] = field(default_factory=list)
    union_types: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    unions: list[Group] = field(default_factory=list)
    union_stacks: list[Group] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    enums: list[tuple[str, tuple[tuple[str, int], ...]]] = field(default_factory=list)
    parser: tuple[State, ...] = ()
    parser_at: Position | None = None
    value_sets: list[Array] = field(default_factory=list)
    deparser: tuple[str, ...] = ()
    deparser_at: Position | None = None
    actions: list[Action] = field(default_factory=list)
    pipelines: list[Pipeline] = field(default_factory=list)
    counters: list[Array] = field(default_factory=list)
    meters: list[Array] = field(default_factory=list)
    registers: list[Array] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    calculations: list[Calculation] = field(default_factory=list)
    checksums: list[Checksum] = field(default_factory=list)
    field_lists: list[FieldList] = field(default_factory=list)
    learn_lists: list[FieldList] = field(default_factory=list)
    aliases: list[tuple[str, Field]] = field(default_factory=list)
