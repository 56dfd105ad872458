"""The fourth pass, part one: scopes, and the types that type names stand for."""

import difflib
from collections.abc import Iterator

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.model import Checked

WIDTH_LIMIT = 2048
VARBIT_LIMIT = 65_536
STACK_LIMIT = 1024

_SIMPLE = {
    "bool": t.BOOL,
    "error": t.ERROR,
    "match_kind": t.MATCH_KIND,
    "string": t.STRING,
    "void": t.VOID,
}

TYPE_DECLARATIONS = (
    tree.TypeParameter,
    tree.Typedef,
    tree.Composite,
    tree.Enum,
    tree.Extern,
    tree.Parser,
    tree.Control,
    tree.Package,
)


class Scope:
    """The names that are visible somewhere; functions may share a name."""

    def __init__(self, parent: "Scope | None" = None) -> None:
        self.parent = parent
        self.names: dict[str, list[tree.Declaration]] = {}

    def find(self, name: str) -> list[tree.Declaration]:
        """Return the declarations of the innermost scope that has the name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return []

    def all_names(self) -> Iterator[str]:
        """Give every visible name."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.names
            scope = scope.parent


class TypeChecker:
    """The checker's base: scopes and type names."""

    # What the code being checked stands in: "parser", "control", "action", "function", or "".
    _context = ""

    def __init__(self, program: tree.Program, diagnostics: Diagnostics) -> None:
        self.checked = Checked(program)
        self._diagnostics = diagnostics
        self._global = Scope()
        self._scope = self._global

    def _constant(self, expression: tree.Expression, what: str) -> int:
        raise NotImplementedError

    # Scopes

    def _enter(self) -> Scope:
        before = self._scope
        self._scope = Scope(before)
        return before

    def _declare(self, declaration: tree.Declaration) -> None:
        """Make a name known in the innermost scope."""
        present = self._scope.names.setdefault(declaration.name, [])
        overload = isinstance(declaration, tree.Function) and all(
            isinstance(other, tree.Function) for other in present
        )
        if present and not overload:
            self._diagnostics.error(
                declaration.at,
                f"{declaration.name!r} is declared twice",
                f"the first is at {present[0].at}",
            )
        present.append(declaration)

    def _find(self, name: str, at: Position, *, absolute: bool = False) -> list[tree.Declaration]:
        found = (self._global if absolute else self._scope).find(name)
        if not found:
            raise self._unknown("name", name, at, list(self._scope.all_names()))
        return found

    def _unknown(self, what: str, name: str, at: Position, known: list[str]) -> Abort:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else ""
        return self._diagnostics.fail(at, f"unknown {what} {name!r}", hint)

    # Types

    def _resolve(self, node: tree.TypeNode) -> t.Type:
        """Return the type that a type node stands for."""
        known = self.checked.written.get(node)
        if known is None:
            known = self._resolve_anew(node)
            self.checked.written[node] = known
        return known

    def _resolve_anew(self, node: tree.TypeNode) -> t.Type:
        match node:
            case tree.BaseType():
                return self._base_type(node)
            case tree.TypeName():
                return self._named_type(node)
            case tree.StackType():
                return self._stack_type(node)
            case tree.TupleType(kind="list"):
                raise self._diagnostics.fail(node.at, "unsupported: lists of any length")
            case tree.TupleType():
                return t.Tuple(tuple(self._resolve(item) for item in node.items))
            case _:
                return t.ANYTHING

    def _base_type(self, node: tree.BaseType) -> t.Type:
        if node.kind in _SIMPLE:
            return _SIMPLE[node.kind]
        if node.width is None:
            return t.INTEGER if node.kind == "int" else t.Bits(1)
        size = self._constant(node.width, "a width")
        least = 1 if node.kind == "int" else 0
        most = VARBIT_LIMIT if node.kind == "varbit" else WIDTH_LIMIT
        if not least <= size <= most:
            raise self._diagnostics.fail(
                node.width.at, f"a width of {size} is not between {least} and {most}"
            )
        if node.kind == "varbit":
            return t.Varbit(size)
        return t.Bits(size, node.kind == "int")

    def _stack_type(self, node: tree.StackType) -> t.Type:
        element = self._resolve(node.element)
        size = self._constant(node.size, "a stack's size")
        if not self._may_be_stacked(element):
            raise self._diagnostics.fail(
                node.at, f"a stack holds headers or header unions, not {element}"
            )
        if not 0 < size <= STACK_LIMIT:
            raise self._diagnostics.fail(
                node.size.at, f"a stack's size of {size} is not between 1 and {STACK_LIMIT}"
            )
        return t.Stack(element, size)

    @staticmethod
    def _may_be_stacked(element: t.Type) -> bool:
        if isinstance(element, t.Record):
            return element.kind != "struct"
        return isinstance(element, t.Variable) or element == t.ANYTHING

    def _named_type(self, node: tree.TypeName) -> t.Type:
        declaration = self._find(node.name, node.at, absolute=node.absolute)[0]
        self.checked.references[node] = declaration
        arguments = tuple(self._resolve(argument) for argument in node.arguments)
        type_ = self._type_of_declaration(declaration, node)
        parameters: tuple[tree.TypeParameter, ...] = getattr(declaration, "parameters", ())
        if isinstance(declaration, tree.TypeParameter | tree.Typedef | tree.Enum):
            parameters = ()
        if arguments and len(arguments) != len(parameters):
            raise self._diagnostics.fail(
                node.at,
                f"{node.name} takes {len(parameters)} type arguments, not {len(arguments)}",
            )
        return t.substitute(type_, dict(zip(parameters, arguments, strict=False)))

    def _type_of_declaration(self, declaration: tree.Declaration, node: tree.TypeName) -> t.Type:
        match declaration:
            case tree.TypeParameter():
                return t.Variable(declaration)
            case tree.Extern() | tree.Parser() | tree.Control() | tree.Package():
                parameters = tuple(map(t.Variable, declaration.parameters))
                return t.Object(declaration, parameters)
            case tree.Typedef() | tree.Composite() | tree.Enum():
                if declaration in self.checked.declared:
                    return self.checked.declared[declaration]
                raise self._diagnostics.fail(node.at, f"{node.name!r} is used in its own type")
        raise self._diagnostics.fail(node.at, f"{node.name!r} is not a type")
