"""The fourth pass: names, types and rules of a whole program."""

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_calls import check_call
from p4.compiler.check_context import Context, Later, Scope
from p4.compiler.check_expressions import check_as, constant_of
from p4.compiler.check_statements import (
    check_action,
    check_body,
    check_constant,
    check_instance,
    check_state,
    check_statements,
    declare_parameters,
)
from p4.compiler.check_types import WIDTH_LIMIT, resolve_type
from p4.compiler.diagnostics import Abort, Diagnostics
from p4.compiler.model import Checked

_HEADER_FIELDS = (t.Bits, t.Varbit)


def check(program: tree.Program, diagnostics: Diagnostics) -> Checked:
    """Check a program and return what was found out about it; errors go to `diagnostics`."""
    scope = Scope()
    ctx = Context(Checked(program), diagnostics, Later(constant_of, check_call), scope, scope)
    for declaration in program.declarations:
        try:
            _declaration(ctx, declaration)
        except Abort:
            ctx.scope = ctx.global_scope
            ctx.checked.declared.setdefault(declaration, t.ANYTHING)
            if declaration.name not in ctx.global_scope.names:
                ctx.declare(declaration)
    return ctx.checked


def _declaration(ctx: Context, declaration: tree.Declaration) -> None:
    match declaration:
        case tree.Constant():
            check_constant(ctx, declaration)
        case tree.Instance():
            _global_instance(ctx, declaration)
        case tree.Typedef():
            _typedef(ctx, declaration)
        case tree.Composite():
            _composite(ctx, declaration)
        case tree.Enum():
            _enum(ctx, declaration)
        case tree.Names():
            _names(ctx, declaration)
        case tree.Action():
            check_action(ctx, declaration)
        case _:
            _callable(ctx, declaration)


def _callable(ctx: Context, declaration: tree.Declaration) -> None:
    match declaration:
        case tree.Function():
            _function(ctx, declaration)
        case tree.Extern():
            _extern(ctx, declaration)
        case tree.Parser():
            _parser(ctx, declaration)
        case tree.Control():
            _control(ctx, declaration)
        case tree.Package():
            _package(ctx, declaration)


def _global_instance(ctx: Context, declaration: tree.Instance) -> None:
    check_instance(ctx, declaration)
    type_ = ctx.checked.declared[declaration]
    if isinstance(type_, t.Object) and isinstance(type_.declaration, tree.Parser | tree.Control):
        ctx.diagnostics.error(
            declaration.at,
            f"{declaration.name!r} is a {type_} outside of any block",
            "instantiate it where it is applied, or as an argument of the package",
        )
    is_package = isinstance(type_, t.Object) and isinstance(type_.declaration, tree.Package)
    if is_package and declaration.name == "main":
        ctx.checked.main = declaration


# Types


def _typedef(ctx: Context, declaration: tree.Typedef) -> None:
    type_ = resolve_type(ctx, declaration.type)
    if declaration.distinct:
        if not t.is_scalar(type_) or type_ == t.INTEGER:
            raise ctx.diagnostics.fail(declaration.at, f"'type' cannot be made of {type_}")
        type_ = t.Distinct(declaration.name, type_)
    ctx.checked.declared[declaration] = type_
    ctx.declare(declaration)


def _composite(ctx: Context, declaration: tree.Composite) -> None:
    ctx.declare(declaration)
    before = ctx.enter()
    for parameter in declaration.parameters:
        ctx.declare(parameter)
    fields: list[tuple[str, t.Type]] = []
    for field in declaration.fields:
        if field.name in {name for name, _ in fields}:
            ctx.diagnostics.error(field.at, f"field {field.name!r} is declared twice")
            continue
        try:
            type_ = resolve_type(ctx, field.type)
            _check_field(ctx, declaration, field, type_)
        except Abort:
            type_ = t.ANYTHING
        fields.append((field.name, type_))
    ctx.scope = before
    if declaration.kind == "header" and sum(isinstance(p, t.Varbit) for _, p in fields) > 1:
        ctx.diagnostics.error(declaration.at, "a header has at most one varbit field")
    arguments = tuple(map(t.Variable, declaration.parameters))
    record = t.Record(declaration.kind, declaration.name, tuple(fields), arguments)
    ctx.checked.declared[declaration] = record


def _check_field(ctx: Context, owner: tree.Composite, field: tree.Field, type_: t.Type) -> None:
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
        raise ctx.diagnostics.fail(field.at, f"a field of a {owner.kind} cannot have type {type_}")


def _enum(ctx: Context, declaration: tree.Enum) -> None:
    names = tuple(member.name for member in declaration.members)
    if len(set(names)) < len(names):
        raise ctx.diagnostics.fail(
            declaration.at, f"{declaration.name} has two members of the same name"
        )
    underlying = None
    values: list[int] = []
    if declaration.underlying is not None:
        underlying = resolve_type(ctx, declaration.underlying)
        if not isinstance(t.base(underlying), t.Bits):
            raise ctx.diagnostics.fail(
                declaration.at, f"an enum's values cannot have type {underlying}"
            )
        values = [_member_value(ctx, member, underlying) for member in declaration.members]
    type_ = t.Enumeration(declaration.name, names, underlying, tuple(values))
    ctx.checked.declared[declaration] = type_
    ctx.declare(declaration)


def _member_value(ctx: Context, member: tree.EnumMember, underlying: t.Type) -> int:
    if member.value is None:
        raise ctx.diagnostics.fail(member.at, f"{member.name} needs a value")
    check_as(ctx, member.value, underlying)
    return constant_of(ctx, member.value, "an enum's value")


def _names(ctx: Context, declaration: tree.Names) -> None:
    for member in declaration.members:
        if declaration.name == "error":
            if member.name in ctx.checked.errors:
                ctx.diagnostics.error(member.at, f"error {member.name!r} is declared twice")
            ctx.checked.errors.setdefault(member.name, len(ctx.checked.errors))
        else:
            ctx.global_scope.names.setdefault(member.name, [declaration])


# Functions, externs, packages


def _function(ctx: Context, declaration: tree.Function, *, declare: bool = True) -> None:
    before = ctx.enter()
    for parameter in declaration.parameters:
        ctx.declare(parameter)
    try:
        returns = t.VOID if declaration.returns is None else resolve_type(ctx, declaration.returns)
        declare_parameters(ctx, declaration.arguments)
    finally:
        inner, ctx.scope = ctx.scope, before
    if declaration.body is not None:
        ctx.scope = inner
        check_body(ctx, declaration.body, returns, "function")
        ctx.scope = before
    if declare:
        ctx.declare(declaration)
    needed = declaration.body is not None and returns != t.VOID
    if needed and not returns_always(declaration.body):
        ctx.diagnostics.error(
            declaration.at, f"{declaration.name!r} does not return a value on every path"
        )


def _extern(ctx: Context, declaration: tree.Extern) -> None:
    ctx.declare(declaration)
    before = ctx.enter()
    for parameter in declaration.parameters:
        ctx.declare(parameter)
    for method in declaration.methods:
        _function(ctx, method, declare=False)
    ctx.scope = before


def _package(ctx: Context, declaration: tree.Package) -> None:
    ctx.declare(declaration)
    before = ctx.enter()
    for parameter in declaration.parameters:
        ctx.declare(parameter)
    declare_parameters(ctx, declaration.arguments)
    ctx.scope = before


# Parsers and controls


def _open(ctx: Context, declaration: tree.Parser | tree.Control) -> None:
    ctx.where = "parser" if isinstance(declaration, tree.Parser) else "control"
    ctx.declare(declaration)
    ctx.enter()
    for parameter in declaration.parameters:
        ctx.declare(parameter)
    declare_parameters(ctx, declaration.arguments)
    declare_parameters(ctx, declaration.constructor)
    check_statements(ctx, declaration.locals)


def _control(ctx: Context, declaration: tree.Control) -> None:
    before = ctx.scope
    _open(ctx, declaration)
    if declaration.body is not None:
        check_body(ctx, declaration.body, t.VOID, "control")
    ctx.scope = before


def _parser(ctx: Context, declaration: tree.Parser) -> None:
    before = ctx.scope
    _open(ctx, declaration)
    if declaration.states is not None:
        _states(ctx, declaration, declaration.states)
    ctx.scope = before


def _states(ctx: Context, declaration: tree.Parser, states: tuple[tree.State, ...]) -> None:
    names = ["accept", "reject"]
    for state in states:
        if state.name in names:
            ctx.diagnostics.error(state.at, f"state {state.name!r} is declared twice")
        names.append(state.name)
    for state in states:
        check_state(ctx, state, names)
    if "start" not in names:
        ctx.diagnostics.error(declaration.at, f"parser {declaration.name!r} has no state 'start'")
        return
    reached = reachable(states)
    if not reached & {"accept", "reject"}:
        ctx.diagnostics.error(
            declaration.at, f"parser {declaration.name!r} never reaches accept or reject"
        )
    for state in states:
        if state.name not in reached:
            ctx.diagnostics.warning(state.at, f"state {state.name!r} is never reached")


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
