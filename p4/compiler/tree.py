"""The tree of a P4 program as it was written: one class for every construct of the grammar.

Nodes are frozen and compare by identity, so that later passes can keep what they learn about a
node in dictionaries beside the tree.
"""

from dataclasses import dataclass
from typing import TypeAlias

from p4.compiler.diagnostics import Position


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Anything that stands somewhere in the source."""

    at: Position


@dataclass(frozen=True, slots=True, eq=False)
class Annotation(Node):
    """`@name` with the texts and values of its arguments (strings without their quotes)."""

    name: str
    arguments: tuple[str | int, ...]


Annotations: TypeAlias = tuple[Annotation, ...]


# Types as written


@dataclass(frozen=True, slots=True, eq=False)
class TypeName(Node):
    """A named type, with arguments if it is generic; `absolute` if written with a leading dot."""

    name: str
    arguments: tuple["TypeNode", ...] = ()
    absolute: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class BaseType(Node):
    """bool, error, match_kind, string, int, bit, varbit, void; `width` where it has one."""

    kind: str
    width: "Expression | None" = None


@dataclass(frozen=True, slots=True, eq=False)
class StackType(Node):
    """`element[size]`: a header stack."""

    element: "TypeNode"
    size: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class TupleType(Node):
    """`tuple<…>` or `list<…>`, by `kind`."""

    kind: str
    items: tuple["TypeNode", ...]


@dataclass(frozen=True, slots=True, eq=False)
class AnyType(Node):
    """`_` as a type argument: whatever fits."""


TypeNode: TypeAlias = TypeName | BaseType | StackType | TupleType | AnyType


# Expressions


@dataclass(frozen=True, slots=True, eq=False)
class Integer(Node):
    """A number, with its type's width if it was written with one (`8w255`, `4s7`)."""

    value: int
    width: int | None = None
    signed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Boolean(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class String(Node):
    """A string literal."""

    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """An identifier used as a value."""

    name: str
    absolute: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class TypeReference(Node):
    """A type where an expression stands: `E.a`, `error.NoMatch`, a constructor's type."""

    type: TypeNode


@dataclass(frozen=True, slots=True, eq=False)
class Member(Node):
    """`base.name`."""

    base: "Expression"
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Index(Node):
    """`base[index]`."""

    base: "Expression"
    index: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """`base[high:low]`."""

    base: "Expression"
    high: "Expression"
    low: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """`-`, `+`, `~` or `!` applied to an operand."""

    operator: str
    operand: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """Two operands; `&&&` and `..` too, which make sets."""

    operator: str
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Conditional(Node):
    """`condition ? yes : no`."""

    condition: "Expression"
    yes: "Expression"
    no: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Cast(Node):
    """`(type) operand`."""

    type: TypeNode
    operand: "Expression"


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Node):
    """An argument of a call; `name` if it was given by name, `value` None for `_`."""

    name: str | None
    value: "Expression | None"


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`function<types>(arguments)`."""

    function: "Expression"
    types: tuple[TypeNode, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ListExpression(Node):
    """`{a, b}`, and `(a, b)` in keysets; `open_ended` if it ends with `...`."""

    items: tuple["Expression", ...]
    open_ended: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class StructExpression(Node):
    """`{f = a, g = b}`; `open_ended` if it ends with `...`."""

    fields: tuple[tuple[str, "Expression"], ...]
    open_ended: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Invalid(Node):
    """`{#}`: an invalid header or union."""


@dataclass(frozen=True, slots=True, eq=False)
class DefaultValue(Node):
    """`...`: the default value of a type."""


@dataclass(frozen=True, slots=True, eq=False)
class Everything(Node):
    """`default` or `_` in a keyset."""


Expression: TypeAlias = (
    Integer
    | Boolean
    | String
    | Name
    | TypeReference
    | Member
    | Index
    | Slice
    | Unary
    | Binary
    | Conditional
    | Cast
    | Call
    | ListExpression
    | StructExpression
    | Invalid
    | DefaultValue
    | Everything
)


# Declarations


@dataclass(frozen=True, slots=True, eq=False)
class Declaration(Node):
    """Something with a name."""

    name: str
    annotations: Annotations


@dataclass(frozen=True, slots=True, eq=False)
class TypeParameter(Declaration):
    """A type variable of a generic declaration."""


@dataclass(frozen=True, slots=True, eq=False)
class Parameter(Declaration):
    """A parameter; `direction` is "in", "out", "inout" or "" (none)."""

    direction: str
    type: TypeNode
    default: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Declaration):
    """`const type name = value;`."""

    type: TypeNode
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Declaration):
    """`type name = value;`, or a loop's variable."""

    type: TypeNode
    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Instance(Declaration):
    """`type(arguments) name;`."""

    type: TypeNode
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Typedef(Declaration):
    """`typedef` or, if `distinct`, `type`."""

    type: TypeNode
    distinct: bool


@dataclass(frozen=True, slots=True, eq=False)
class Field(Declaration):
    """A member of a struct, header or union."""

    type: TypeNode


@dataclass(frozen=True, slots=True, eq=False)
class Composite(Declaration):
    """A struct, header or header_union, by `kind`."""

    kind: str
    parameters: tuple[TypeParameter, ...]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EnumMember(Declaration):
    """A member of an enum, with its value if the enum has an underlying type."""

    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Enum(Declaration):
    """An enum; `underlying` is the type that its members are serialised as."""

    underlying: TypeNode | None
    members: tuple[EnumMember, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Names(Declaration):
    """`error {…}` or `match_kind {…}`, by `name`."""

    members: tuple[EnumMember, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function(Declaration):
    """A function with its body, or a prototype of an extern's method or function without."""

    parameters: tuple[TypeParameter, ...]
    returns: TypeNode | None
    arguments: tuple[Parameter, ...]
    body: "Block | None"


@dataclass(frozen=True, slots=True, eq=False)
class Extern(Declaration):
    """An extern object's type: constructors are the methods that bear its name."""

    parameters: tuple[TypeParameter, ...]
    methods: tuple[Function, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Action(Declaration):
    """An action."""

    arguments: tuple[Parameter, ...]
    body: "Block"


@dataclass(frozen=True, slots=True, eq=False)
class Key(Node):
    """An element of a table's key."""

    value: Expression
    match_kind: str
    annotations: Annotations


@dataclass(frozen=True, slots=True, eq=False)
class ActionReference(Node):
    """An action in a table's list, with arguments for its parameters with a direction."""

    call: Expression
    annotations: Annotations


@dataclass(frozen=True, slots=True, eq=False)
class Entry(Node):
    """An entry of a table's `entries`."""

    keys: tuple[Expression, ...]
    action: Expression
    priority: Expression | None
    constant: bool
    annotations: Annotations


@dataclass(frozen=True, slots=True, eq=False)
class Property(Node):
    """A table's property other than key, actions and entries."""

    name: str
    value: Expression
    constant: bool
    annotations: Annotations


@dataclass(frozen=True, slots=True, eq=False)
class Table(Declaration):
    """A table; `entries` is None if it has none, `entries_constant` if they are `const`."""

    keys: tuple[Key, ...]
    actions: tuple[ActionReference, ...]
    entries: tuple[Entry, ...] | None
    entries_constant: bool
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ValueSet(Declaration):
    """`value_set<type>(size) name;`."""

    type: TypeNode
    size: Expression


@dataclass(frozen=True, slots=True, eq=False)
class SelectCase(Node):
    """A case of a select expression."""

    keys: tuple[Expression, ...]
    state: str


@dataclass(frozen=True, slots=True, eq=False)
class Select(Node):
    """A `select` expression."""

    keys: tuple[Expression, ...]
    cases: tuple[SelectCase, ...]


@dataclass(frozen=True, slots=True, eq=False)
class State(Declaration):
    """A parser's state; `transition` is a state's name, a select, or None (reject)."""

    statements: tuple["Statement", ...]
    transition: str | Select | None
    transition_at: Position


@dataclass(frozen=True, slots=True, eq=False)
class Parser(Declaration):
    """A parser, or a parser's type (`states` is None)."""

    parameters: tuple[TypeParameter, ...]
    arguments: tuple[Parameter, ...]
    constructor: tuple[Parameter, ...]
    locals: tuple["Statement", ...]
    states: tuple[State, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Control(Declaration):
    """A control, or a control's type (`body` is None)."""

    parameters: tuple[TypeParameter, ...]
    arguments: tuple[Parameter, ...]
    constructor: tuple[Parameter, ...]
    locals: tuple["Statement", ...]
    body: "Block | None"


@dataclass(frozen=True, slots=True, eq=False)
class Package(Declaration):
    """A package's type."""

    parameters: tuple[TypeParameter, ...]
    arguments: tuple[Parameter, ...]


# Statements


@dataclass(frozen=True, slots=True, eq=False)
class Assignment(Node):
    """`target = value;`, or with an operator (`+=`: `operator` is "+")."""

    target: Expression
    operator: str
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class CallStatement(Node):
    """A call for its effect."""

    call: Call


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    """A conditional statement."""

    condition: Expression
    yes: "Statement"
    no: "Statement | None"


@dataclass(frozen=True, slots=True, eq=False)
class Block(Node):
    """Statements in braces, with the declarations among them."""

    statements: tuple["Statement", ...]


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    """`return;` or `return value;`."""

    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Exit(Node):
    """`exit;`."""


@dataclass(frozen=True, slots=True, eq=False)
class Break(Node):
    """`break;`."""


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Node):
    """`continue;`."""


@dataclass(frozen=True, slots=True, eq=False)
class SwitchCase(Node):
    """A label of a switch (None: `default`) and its block (None: falls through)."""

    label: Expression | None
    block: Block | None


@dataclass(frozen=True, slots=True, eq=False)
class Switch(Node):
    """A switch on an expression or on the action that a table ran."""

    value: Expression
    cases: tuple[SwitchCase, ...]


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """`for (initial; condition; updates) body`."""

    initial: tuple["Statement", ...]
    condition: Expression
    updates: tuple["Statement", ...]
    body: "Statement"


@dataclass(frozen=True, slots=True, eq=False)
class ForIn(Node):
    """`for (type name in collection) body`."""

    variable: Variable
    collection: Expression
    body: "Statement"


Statement: TypeAlias = (
    Assignment
    | CallStatement
    | If
    | Block
    | Return
    | Exit
    | Break
    | Continue
    | Switch
    | For
    | ForIn
    | Constant
    | Variable
    | Instance
    | Action
    | Table
    | ValueSet
)


@dataclass(frozen=True, slots=True, eq=False)
class Program(Node):
    """All declarations, in order."""

    declarations: tuple[Declaration, ...]


def annotation(
    node: Declaration | Key | ActionReference | Entry | Property, name: str
) -> Annotation | None:
    """Return the node's first annotation of that name, if it has one."""
    return next((entry for entry in node.annotations if entry.name == name), None)
