"""The fourth pass: names, types and rules of a whole program."""

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_statements import StatementChecker
from p4.compiler.check_types import WIDTH_LIMIT
from p4.compiler.diagnostics import Abort, Diagnostics
from p4.compiler.model import Checked

_HEADER_FIELDS = (t.Bits, t.Varbit)


def check(program: tree.Program, diagnostics: Diagnostics) -> Checked:
    """Check a program and return what was found out about it; errors go to `diagnostics`."""
    return Checker(program, diagnostics).program(program)


class Checker(StatementChecker):
    """Declarations of a program."""

    def program(self, program: tree.Program) -> Checked:
        """Check every declaration in order."""
        for declaration in program.declarations:
            try:
                self._declaration(declaration)
            except Abort:
                self._scope = self._global
                self.checked.declared.setdefault(declaration, t.ANYTHING)
                if declaration.name not in self._global.names:
                    self._declare(declaration)
        return self.checked

    def _declaration(self, declaration: tree.Declaration) -> None:
        match declaration:
            case tree.Constant():
                self._constant_declaration(declaration)
            case tree.Instance():
                self._global_instance(declaration)
            case tree.Typedef():
                self._typedef(declaration)
            case tree.Composite():
                self._composite(declaration)
            case tree.Enum():
                self._enum(declaration)
            case tree.Names():
                self._names(declaration)
            case tree.Action():
                self._action(declaration)
            case _:
                self._callable(declaration)

    def _callable(self, declaration: tree.Declaration) -> None:
        match declaration:
            case tree.Function():
                self._function(declaration)
            case tree.Extern():
                self._extern(declaration)
            case tree.Parser():
                self._parser(declaration)
            case tree.Control():
                self._control(declaration)
            case tree.Package():
                self._package(declaration)

    def _global_instance(self, declaration: tree.Instance) -> None:
        self._instance(declaration)
        type_ = self.checked.declared[declaration]
        is_package = isinstance(type_, t.Object) and isinstance(type_.declaration, tree.Package)
        if is_package and declaration.name == "main":
            self.checked.main = declaration

    # Types

    def _typedef(self, declaration: tree.Typedef) -> None:
        type_ = self._resolve(declaration.type)
        if declaration.distinct:
            if not t.is_scalar(type_) or type_ == t.INTEGER:
                raise self._diagnostics.fail(declaration.at, f"'type' cannot be made of {type_}")
            type_ = t.Distinct(declaration.name, type_)
        self.checked.declared[declaration] = type_
        self._declare(declaration)

    def _composite(self, declaration: tree.Composite) -> None:
        self._declare(declaration)
        before = self._enter()
        for parameter in declaration.parameters:
            self._declare(parameter)
        fields: list[tuple[str, t.Type]] = []
        for field in declaration.fields:
            if field.name in {name for name, _ in fields}:
                self._diagnostics.error(field.at, f"field {field.name!r} is declared twice")
                continue
            try:
                type_ = self._resolve(field.type)
                self._check_field(declaration, field, type_)
            except Abort:
                type_ = t.ANYTHING
            fields.append((field.name, type_))
        self._scope = before
        if declaration.kind == "header" and sum(isinstance(p, t.Varbit) for _, p in fields) > 1:
            self._diagnostics.error(declaration.at, "a header has at most one varbit field")
        arguments = tuple(map(t.Variable, declaration.parameters))
        record = t.Record(declaration.kind, declaration.name, tuple(fields), arguments)
        self.checked.declared[declaration] = record

    def _check_field(self, owner: tree.Composite, field: tree.Field, type_: t.Type) -> None:
        if type_ == t.ANYTHING or isinstance(type_, t.Variable):
            return
        if owner.kind == "struct":
            allowed = not isinstance(type_, t.Object | t.Set | t.Named) and type_ not in {
                t.VOID,
                t.INTEGER,
                t.STRING,
                t.MATCH_KIND,
            }
        elif owner.kind == "header":
            allowed = _fits_in_header(type_)
        else:
            allowed = isinstance(type_, t.Record) and type_.kind == "header"
        if not allowed:
            raise self._diagnostics.fail(
                field.at, f"a field of a {owner.kind} cannot have type {type_}"
            )

    def _enum(self, declaration: tree.Enum) -> None:
        names = tuple(member.name for member in declaration.members)
        if len(set(names)) < len(names):
            raise self._diagnostics.fail(
                declaration.at, f"{declaration.name} has two members of the same name"
            )
        underlying = None
        values: list[int] = []
        if declaration.underlying is not None:
            underlying = self._resolve(declaration.underlying)
            if not isinstance(t.base(underlying), t.Bits):
                raise self._diagnostics.fail(
                    declaration.at, f"an enum's values cannot have type {underlying}"
                )
            values = [self._member_value(member, underlying) for member in declaration.members]
        type_ = t.Enumeration(declaration.name, names, underlying, tuple(values))
        self.checked.declared[declaration] = type_
        self._declare(declaration)

    def _member_value(self, member: tree.EnumMember, underlying: t.Type) -> int:
        if member.value is None:
            raise self._diagnostics.fail(member.at, f"{member.name} needs a value")
        self._check(member.value, underlying)
        return self._constant(member.value, "an enum's value")

    def _names(self, declaration: tree.Names) -> None:
        for member in declaration.members:
            if declaration.name == "error":
                if member.name in self.checked.errors:
                    self._diagnostics.error(member.at, f"error {member.name!r} is declared twice")
                self.checked.errors.setdefault(member.name, len(self.checked.errors))
            else:
                self._global.names.setdefault(member.name, [declaration])

    # Functions, externs, packages

    def _function(self, declaration: tree.Function, *, declare: bool = True) -> None:
        before = self._enter()
        for parameter in declaration.parameters:
            self._declare(parameter)
        try:
            returns = t.VOID if declaration.returns is None else self._resolve(declaration.returns)
            self._parameters(declaration.arguments)
        finally:
            inner, self._scope = self._scope, before
        if declaration.body is not None:
            self._scope = inner
            self._body(declaration.body, returns, "function")
            self._scope = before
        if declare:
            self._declare(declaration)
        needed = declaration.body is not None and returns != t.VOID
        if needed and not returns_always(declaration.body):
            self._diagnostics.error(
                declaration.at, f"{declaration.name!r} does not return a value on every path"
            )

    def _extern(self, declaration: tree.Extern) -> None:
        self._declare(declaration)
        before = self._enter()
        for parameter in declaration.parameters:
            self._declare(parameter)
        for method in declaration.methods:
            self._function(method, declare=False)
        self._scope = before

    def _package(self, declaration: tree.Package) -> None:
        self._declare(declaration)
        before = self._enter()
        for parameter in declaration.parameters:
            self._declare(parameter)
        self._parameters(declaration.arguments)
        self._scope = before

    # Parsers and controls

    def _open(self, declaration: tree.Parser | tree.Control) -> None:
        self._context = "parser" if isinstance(declaration, tree.Parser) else "control"
        self._declare(declaration)
        self._enter()
        for parameter in declaration.parameters:
            self._declare(parameter)
        self._parameters(declaration.arguments)
        self._parameters(declaration.constructor)
        self._statements(declaration.locals)

    def _control(self, declaration: tree.Control) -> None:
        before = self._scope
        self._open(declaration)
        if declaration.body is not None:
            self._body(declaration.body, t.VOID, "control")
        self._scope = before

    def _parser(self, declaration: tree.Parser) -> None:
        before = self._scope
        self._open(declaration)
        if declaration.states is not None:
            self._states(declaration, declaration.states)
        self._scope = before

    def _states(self, declaration: tree.Parser, states: tuple[tree.State, ...]) -> None:
        names = ["accept", "reject"]
        for state in states:
            if state.name in names:
                self._diagnostics.error(state.at, f"state {state.name!r} is declared twice")
            names.append(state.name)
        for state in states:
            self._state(state, names)
        if "start" not in names:
            self._diagnostics.error(
                declaration.at, f"parser {declaration.name!r} has no state 'start'"
            )
            return
        reached = reachable(states)
        if not reached & {"accept", "reject"}:
            self._diagnostics.error(
                declaration.at, f"parser {declaration.name!r} never reaches accept or reject"
            )
        for state in states:
            if state.name not in reached:
                self._diagnostics.warning(state.at, f"state {state.name!r} is never reached")


def _fits_in_header(type_: t.Type) -> bool:
    inner = t.base(type_)
    if isinstance(inner, t.Record) and inner.kind == "struct":
        return all(_fits_in_header(part) for _, part in inner.fields)
    if isinstance(inner, t.Bits):
        return inner.width <= WIDTH_LIMIT
    return isinstance(inner, _HEADER_FIELDS) or inner == t.BOOL


def reachable(states: tuple[tree.State, ...]) -> set[str]:
    """Return the names of the states that can be reached from the start."""
    by_name = {state.name: state for state in states}
    reached: set[str] = set()
    todo = ["start"]
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        if name not in by_name:
            continue
        match by_name[name].transition:
            case None:
                todo.append("reject")
            case str(target):
                todo.append(target)
            case tree.Select() as select:
                todo.extend(case.state for case in select.cases)
    return reached


def returns_always(statement: tree.Statement | None) -> bool:
    """Tell whether every way through a statement ends in a return or exit."""
    match statement:
        case tree.Return() | tree.Exit():
            return True
        case tree.Block():
            return any(returns_always(inner) for inner in statement.statements)
        case tree.If():
            return returns_always(statement.yes) and returns_always(statement.no)
        case tree.Switch():
            labels = [case.label for case in statement.cases]
            blocks = [case.block for case in statement.cases if case.block is not None]
            return None in labels and all(returns_always(block) for block in blocks)
    return False
