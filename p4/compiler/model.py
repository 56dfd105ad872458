"""What the checker finds out about a program, for the passes after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from p4.compiler import tree
from p4.compiler.types import Type


@dataclass(frozen=True, slots=True)
class Call:
    """A call understood.

    `kind` is "function", "extern" (function), "method" (of an extern object), "action", "apply"
    (a table, control or parser), "builtin" (of headers and stacks), or "constructor".
    `declaration` is what is called (None for a builtin); `base` is the object of a method;
    `arguments` pairs every parameter with its argument, None where it was left out;
    `bindings` says what the type parameters stand for.
    """

    kind: str
    name: str
    declaration: tree.Declaration | None = None
    base: tree.Expression | None = None
    arguments: tuple[tuple[tree.Parameter, tree.Expression | None], ...] = ()
    bindings: Mapping[tree.TypeParameter, Type] = field(default_factory=dict)


@dataclass(slots=True)
class Checked:
    """A program and what its names, types and calls mean.

    `types` are of expressions, after implicit casts; `constants` are the values of those known
    at compile time; `references` lead from names to declarations; `written` gives the types
    that type nodes stand for, `declared` those of parameters, variables, constants, instances.
    """

    program: tree.Program
    types: dict[tree.Expression, Type] = field(default_factory=dict)
    constants: dict[tree.Expression, int] = field(default_factory=dict)
    references: dict[tree.Node, tree.Declaration] = field(default_factory=dict)
    written: dict[tree.TypeNode, Type] = field(default_factory=dict)
    declared: dict[tree.Declaration, Type] = field(default_factory=dict)
    calls: dict[tree.Expression, Call] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    main: tree.Instance | None = None
