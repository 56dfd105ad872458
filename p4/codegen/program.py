"""A P4 program as its BMv2 JSON states it: frozen data, no behaviour beyond look-ups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Position:
    """Where in the P4 source something was declared."""

    file: str
    line: int
    fragment: str = ""

    def __str__(self) -> str:
        """Return the position as `file:line`."""
        return f"{self.file}:{self.line}"


# Values and expressions ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer, negative ones included."""

    value: int
    bits: int | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """A Boolean constant."""

    value: bool


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of a header instance; `$valid$` stands for the header's validity."""

    header: str
    field: str


@dataclass(frozen=True, slots=True)
class HeaderRef:
    """A header instance."""

    name: str


@dataclass(frozen=True, slots=True)
class StackRef:
    """A header stack."""

    name: str


@dataclass(frozen=True, slots=True)
class UnionRef:
    """A header union."""

    name: str


@dataclass(frozen=True, slots=True)
class UnionStackRef:
    """A stack of header unions."""

    name: str


@dataclass(frozen=True, slots=True)
class StackField:
    """A field of the last valid header of a stack."""

    stack: str
    field: str


@dataclass(frozen=True, slots=True)
class UnionStackField:
    """A field of a member of the last valid union of a stack."""

    stack: str
    member: str
    field: str


@dataclass(frozen=True, slots=True)
class ActionParameter:
    """The action's parameter number `index`."""

    index: int


@dataclass(frozen=True, slots=True)
class Lookahead:
    """Bits of the frame ahead of the parser: `offset` and `bits`, both in bits."""

    offset: int
    bits: int


@dataclass(frozen=True, slots=True)
class RegisterCell:
    """One cell of a register array."""

    array: str
    index: Value


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator applied to one, two or (for `?`) three operands."""

    operator: str
    left: Value | None
    right: Value | None
    condition: Value | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A character string."""

    value: str


@dataclass(frozen=True, slots=True)
class Named:
    """An object of the program, by kind (`register_array`, `calculation`, ...) and name."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Values:
    """A list of values, as `log_msg` takes it."""

    items: tuple[Value, ...]


Value = (
    Constant
    | Truth
    | FieldRef
    | HeaderRef
    | StackRef
    | UnionRef
    | UnionStackRef
    | StackField
    | UnionStackField
    | ActionParameter
    | Lookahead
    | RegisterCell
    | Operation
    | Text
    | Named
    | Values
)


# Headers --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """A header field; a varbit's `bits` is its greatest width."""

    name: str
    bits: int
    signed: bool = False
    variable: bool = False


@dataclass(frozen=True, slots=True)
class HeaderType:
    """A header or metadata type. `length` gives a varbit's width in bits, if it is fixed so."""

    name: str
    fields: tuple[Field, ...]
    length: Value | None = None

    @property
    def fixed_bits(self) -> int:
        """Return the width of all fields but the varbit."""
        return sum(field.bits for field in self.fields if not field.variable)

    @property
    def variable(self) -> Field | None:
        """Return the varbit field, if the type has one."""
        return next((field for field in self.fields if field.variable), None)

    def field(self, name: str) -> Field:
        """Return the field called `name`; KeyError if there is none."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class Header:
    """A header instance, or one of metadata."""

    name: str
    type: str
    metadata: bool


@dataclass(frozen=True, slots=True)
class Stack:
    """A header stack and its elements' instance names."""

    name: str
    type: str
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """A header union: its members' names and the instances that stand for them."""

    name: str
    members: tuple[str, ...]
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnionStack:
    """A stack of header unions, by their names."""

    name: str
    unions: tuple[str, ...]


# Parser ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    """A primitive call: in an action, in a parser state, or in the deparser."""

    operation: str
    parameters: tuple[Value, ...]
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Extract:
    """An extraction into a header, a stack, or a member of a union stack."""

    kind: str  # regular, stack, union_stack
    target: str
    member: str = ""
    length: Value | None = None


class CaseKind(Enum):
    """What a transition is taken on."""

    VALUE = "hexstr"
    SET = "parse_vset"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Case:
    """A transition. Value and mask hold the key's fields, each rounded up to whole bytes."""

    kind: CaseKind
    value: int
    mask: int | None
    value_set: str
    target: str | None


@dataclass(frozen=True, slots=True)
class State:
    """A parser state."""

    name: str
    steps: tuple[Extract | Statement, ...]
    key: tuple[FieldRef | StackField | UnionStackField | Lookahead, ...]
    cases: tuple[Case, ...]
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Parser:
    """The parser: its states and the first one's name."""

    name: str
    start: str | None
    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A parser value set of `bits` wide members."""

    name: str
    bits: int
    size: int


# Controls -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parameter:
    """An action parameter."""

    name: str
    bits: int


@dataclass(frozen=True, slots=True)
class Action:
    """An action; `index` is its place in the JSON, since names may repeat."""

    name: str
    index: int
    parameters: tuple[Parameter, ...]
    statements: tuple[Statement, ...]
    position: Position | None = None


class Match(Enum):
    """How a key field is matched; v1model's `optional` is ternary in the data plane."""

    EXACT = 0
    LPM = 1
    TERNARY = 2
    RANGE = 3
    OPTIONAL = 4


@dataclass(frozen=True, slots=True)
class Key:
    """A field of a table's key."""

    name: str
    match: Match
    target: FieldRef
    bits: int
    mask: int | None = None


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """What an entry wants of one key field: `second` is mask, upper end or (lpm) prefix mask."""

    value: int
    second: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that the program itself gives."""

    matches: tuple[FieldMatch, ...]
    priority: int
    action: int
    arguments: tuple[int, ...]
    position: Position | None = None


class TableKind(Enum):
    """Where a table's actions come from."""

    SIMPLE = "simple"
    INDIRECT = "indirect"
    SELECTOR = "indirect_ws"


@dataclass(frozen=True, slots=True)
class Table:
    """A match-action table. `actions` are indices in Program.actions."""

    name: str
    match: Match
    kind: TableKind
    keys: tuple[Key, ...]
    size: int
    actions: tuple[int, ...]
    next_by_action: tuple[tuple[str, str | None], ...]
    base_next: str | None
    default_action: int | None
    default_arguments: tuple[int, ...]
    default_constant: bool
    entries: tuple[Entry, ...]
    entries_constant: bool
    profile: str | None
    with_counters: bool
    direct_meter: str | None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    """An `if` of a control."""

    name: str
    expression: Value
    true_next: str | None
    false_next: str | None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class ActionCall:
    """An action called without a table."""

    name: str
    action: int
    next: str | None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """An action profile; with a selector if `algorithm` is not empty."""

    name: str
    size: int
    algorithm: str
    inputs: tuple[FieldRef, ...]


Node = Table | Conditional | ActionCall


@dataclass(frozen=True, slots=True)
class Control:
    """A control block: ingress or egress."""

    name: str
    start: str | None
    nodes: tuple[Node, ...]
    profiles: tuple[Profile, ...]
    position: Position | None = None


# Externs --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    """A register array."""

    name: str
    bits: int
    size: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter array; a direct one is bound to a table."""

    name: str
    size: int
    table: str | None


@dataclass(frozen=True, slots=True)
class Meter:
    """A meter array; a direct one is bound to a table and writes its colour to `target`."""

    name: str
    size: int
    in_bytes: bool
    rates: int
    table: str | None
    target: FieldRef | None


@dataclass(frozen=True, slots=True)
class Payload:
    """What follows the headers in a checksum's input."""


Input = FieldRef | Constant | Payload


@dataclass(frozen=True, slots=True)
class Calculation:
    """A named hash over inputs."""

    name: str
    algorithm: str
    inputs: tuple[Input, ...]
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum over a calculation, kept in `target`."""

    name: str
    target: FieldRef
    calculation: str
    verify: bool
    update: bool
    condition: Value | None
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class FieldList:
    """Fields that a clone, a resubmitted or recirculated frame keeps, or a digest carries."""

    identity: int
    name: str
    fields: tuple[FieldRef | Constant, ...]


@dataclass(frozen=True, slots=True)
class Deparser:
    """The deparser: the headers in their order, and what it calls before."""

    name: str
    order: tuple[str, ...]
    statements: tuple[Statement, ...]
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """A whole P4 program for v1model."""

    name: str
    digest: str
    header_types: dict[str, HeaderType]
    headers: dict[str, Header]
    stacks: dict[str, Stack]
    unions: dict[str, Union]
    union_stacks: dict[str, UnionStack]
    errors: dict[str, int]
    parser: Parser
    value_sets: tuple[ValueSet, ...]
    deparser: Deparser
    ingress: Control
    egress: Control
    actions: tuple[Action, ...]
    registers: tuple[Register, ...]
    counters: tuple[Counter, ...]
    meters: tuple[Meter, ...]
    calculations: dict[str, Calculation]
    checksums: tuple[Checksum, ...]
    field_lists: dict[int, FieldList]
    digests: dict[int, FieldList]
    aliases: dict[str, FieldRef]

    @property
    def controls(self) -> tuple[Control, Control]:
        """Return ingress and egress."""
        return (self.ingress, self.egress)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return all tables, ingress first: a table's place here is its number."""
        return tuple(
            node for control in self.controls for node in control.nodes if isinstance(node, Table)
        )

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """Return all action profiles, ingress first."""
        return self.ingress.profiles + self.egress.profiles

    def field(self, reference: FieldRef) -> Field:
        """Return the declaration behind a field reference; KeyError if there is none."""
        if reference.field == "$valid$":
            return Field("$valid$", 1)
        return self.header_types[self.headers[reference.header].type].field(reference.field)
