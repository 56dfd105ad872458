"""The fourth pass, part one: scopes, and what checking carries along.

Checking is functions over a `Context`, a module for each part of the language. A module calls
those before it by import, and the few that stand after it through `Context.later`.
"""

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.model import Checked


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


@dataclass(frozen=True, slots=True)
class Later:
    """The parts of checking that earlier parts need."""

    constant_of: Callable[["Context", tree.Expression, str], int]
    check_call: Callable[["Context", tree.Call], t.Type]


@dataclass(slots=True, eq=False)
class Context:
    """What checking has found out, and where it is.

    `where` is what the code being checked stands in: "parser", "control", "action", "function",
    or ""; `returns` is what it returns, `loops` how many loops are around it.
    """

    checked: Checked
    diagnostics: Diagnostics
    later: Later
    global_scope: Scope
    scope: Scope
    where: str = ""
    returns: t.Type | None = None
    loops: int = 0

    # Scopes

    def enter(self) -> Scope:
        """Open a scope in the present one, which is returned, to go back to."""
        before = self.scope
        self.scope = Scope(before)
        return before

    def declare(self, declaration: tree.Declaration) -> None:
        """Make a name known in the innermost scope."""
        present = self.scope.names.setdefault(declaration.name, [])
        overload = isinstance(declaration, tree.Function) and all(
            isinstance(other, tree.Function) for other in present
        )
        if present and not overload:
            self.diagnostics.error(
                declaration.at,
                f"{declaration.name!r} is declared twice",
                f"the first is at {present[0].at}",
            )
        present.append(declaration)

    def find(self, name: str, at: Position, *, absolute: bool = False) -> list[tree.Declaration]:
        """Return the declarations of a name, of which functions may have several."""
        found = (self.global_scope if absolute else self.scope).find(name)
        if not found:
            raise self.unknown("name", name, at, list(self.scope.all_names()))
        return found

    def unknown(self, what: str, name: str, at: Position, known: list[str]) -> Abort:
        """Report a name that is not known, with the closest one; returns what to raise."""
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else ""
        return self.diagnostics.fail(at, f"unknown {what} {name!r}", hint)
