"""The fourth pass, part six: statements, tables, parser states."""

from collections.abc import Sequence
from contextlib import suppress

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_calls import check_arguments, check_constructor, match_arguments, solve
from p4.compiler.check_casts import coerce
from p4.compiler.check_context import Context
from p4.compiler.check_expressions import (
    check_as,
    check_quietly,
    check_writable,
    constant_of,
    infer,
)
from p4.compiler.check_types import resolve_type
from p4.compiler.diagnostics import Abort, Position
from p4.compiler.model import Call

_KNOWN_PROPERTIES = {
    "default_action",
    "size",
    "implementation",
    "counters",
    "meters",
    "support_timeout",
    "idle_timeout",
    "psa_idle_timeout",
    "largest_priority_wins",
    "priority_delta",
    "requires_versioning",
    "junk",
}
SELECTOR = "selector"
_NOT_IN_PARSERS: dict[type, str] = {
    tree.Exit: "exit",
    tree.Return: "return",
    tree.Switch: "switch",
    tree.For: "for",
    tree.ForIn: "for",
    tree.Break: "break",
    tree.Continue: "continue",
}


# Statements


def check_statements(ctx: Context, statements: Sequence[tree.Statement]) -> None:
    """Check statements in order, going on after those that are wrong."""
    for statement in statements:
        try:
            _check_place(ctx, statement)
            _check_statement(ctx, statement)
        except Abort:
            _give_name(ctx, statement)


def _check_statement(ctx: Context, node: tree.Statement) -> None:  # noqa: C901, PLR0912
    match node:
        case tree.Assignment():
            _assignment(ctx, node)
        case tree.CallStatement():
            infer(ctx, node.call)
        case tree.If():
            _if(ctx, node)
        case tree.Block():
            _block(ctx, node)
        case tree.Return():
            _return(ctx, node)
        case tree.Exit():
            _exit(ctx, node)
        case tree.Break() | tree.Continue():
            _loop_exit(ctx, node)
        case tree.Switch():
            _switch(ctx, node)
        case tree.For():
            _for(ctx, node)
        case tree.ForIn():
            _for_in(ctx, node)
        case tree.Constant():
            check_constant(ctx, node)
        case tree.Variable():
            _variable(ctx, node)
        case tree.Instance():
            check_instance(ctx, node)
        case tree.ValueSet():
            _value_set(ctx, node)
        case tree.Action():
            check_action(ctx, node)
        case tree.Table():
            _table(ctx, node)
        case _:
            raise AssertionError(node)


def _check_place(ctx: Context, statement: tree.Statement) -> None:
    """Refuse what a parser's states do not have."""
    if ctx.where == "parser" and type(statement) in _NOT_IN_PARSERS:
        word = _NOT_IN_PARSERS[type(statement)]
        raise ctx.diagnostics.fail(statement.at, f"a parser's state cannot contain {word!r}")


def _give_name(ctx: Context, statement: tree.Statement) -> None:
    """Make a wrong declaration's name known, so that its uses are not errors too."""
    if isinstance(statement, tree.Declaration):
        ctx.checked.declared.setdefault(statement, t.ANYTHING)
        if statement.name not in ctx.scope.names:
            ctx.declare(statement)


def _block(ctx: Context, block: tree.Block) -> None:
    before = ctx.enter()
    check_statements(ctx, block.statements)
    ctx.scope = before


def _assignment(ctx: Context, node: tree.Assignment) -> None:
    if isinstance(node.value, tree.Call) and node.operator == "":
        infer(ctx, node.target)
    target = infer(ctx, node.target)
    check_writable(ctx, node.target)
    if isinstance(target, t.Named | t.Object | t.Applied):
        raise ctx.diagnostics.fail(node.target.at, f"{target} cannot be assigned to")
    if node.operator:
        combined = tree.Binary(node.at, node.operator, node.target, node.value)
        check_as(ctx, combined, target)
        return
    check_as(ctx, node.value, target)


def _if(ctx: Context, node: tree.If) -> None:
    try:
        check_as(ctx, node.condition, t.BOOL, "a condition")
    except Abort:
        ctx.checked.types.setdefault(node.condition, t.BOOL)
    _branch(ctx, node.yes)
    if node.no is not None:
        _branch(ctx, node.no)


def _branch(ctx: Context, statement: tree.Statement) -> None:
    before = ctx.enter()
    check_statements(ctx, (statement,))
    ctx.scope = before


def _return(ctx: Context, node: tree.Return) -> None:
    expected = ctx.returns or t.VOID
    if node.value is None:
        if expected != t.VOID:
            raise ctx.diagnostics.fail(node.at, f"return needs a value of type {expected}")
        return
    if expected == t.VOID:
        raise ctx.diagnostics.fail(node.at, "nothing is to be returned here")
    check_as(ctx, node.value, expected, "the returned value")


def _exit(ctx: Context, node: tree.Exit) -> None:
    if ctx.where == "function":
        raise ctx.diagnostics.fail(node.at, "a function cannot exit")


def _loop_exit(ctx: Context, node: tree.Break | tree.Continue) -> None:
    if not ctx.loops:
        word = type(node).__name__.lower()
        raise ctx.diagnostics.fail(node.at, f"{word} outside of a loop")


def _switch(ctx: Context, node: tree.Switch) -> None:
    type_ = infer(ctx, node.value)
    seen: dict[object, tree.SwitchCase] = {}
    for case in node.cases:
        if None in seen:
            ctx.diagnostics.error(case.at, "a case after the default")
        with suppress(Abort):
            _switch_label(ctx, case, type_, seen)
        if case.block is not None:
            _block(ctx, case.block)
    if node.cases and node.cases[-1].block is None:
        ctx.diagnostics.warning(node.cases[-1].at, "the last case has no block")


def _switch_label(
    ctx: Context, case: tree.SwitchCase, type_: t.Type, seen: dict[object, tree.SwitchCase]
) -> None:
    key: object = None
    if case.label is not None:
        key = _label_key(ctx, case.label, type_)
    if key in seen:
        raise ctx.diagnostics.fail(
            case.at, "this case was there before", f"the first is at {seen[key].at}"
        )
    seen[key] = case


def _label_key(ctx: Context, label: tree.Expression, type_: t.Type) -> object:
    if not isinstance(type_, t.ActionRun):
        check_as(ctx, label, type_, "a case")
        return constant_of(ctx, label, "a case")
    if isinstance(label, tree.Name):
        names = {_action_name(reference): reference for reference in type_.table.actions}
        if label.name in names:
            ctx.checked.references[label] = ctx.find(label.name, label.at)[0]
            return label.name
        raise ctx.unknown(f"action of table {type_.table.name}", label.name, label.at, list(names))
    raise ctx.diagnostics.fail(label.at, "a case is the name of an action here")


def _for(ctx: Context, node: tree.For) -> None:
    before = ctx.enter()
    check_statements(ctx, node.initial)
    check_quietly(ctx, node.condition, t.BOOL)
    check_statements(ctx, node.updates)
    _loop_body(ctx, node.body)
    ctx.scope = before


def _loop_body(ctx: Context, body: tree.Statement) -> None:
    ctx.loops += 1
    _branch(ctx, body)
    ctx.loops -= 1


def _for_in(ctx: Context, node: tree.ForIn) -> None:
    before = ctx.enter()
    type_ = resolve_type(ctx, node.variable.type)
    collection = infer(ctx, node.collection)
    if isinstance(collection, t.Set):
        coerce(ctx, node.collection, collection, t.Set(type_), "the loop variable")
    elif isinstance(collection, t.Tuple):
        for item in getattr(node.collection, "items", ()):
            coerce(ctx, item, ctx.checked.types[item], type_)
    elif not isinstance(collection, t.Stack):
        raise ctx.diagnostics.fail(node.collection.at, f"cannot loop over {collection}")
    ctx.checked.declared[node.variable] = type_
    ctx.declare(node.variable)
    _loop_body(ctx, node.body)
    ctx.scope = before


# Declarations among statements


def check_constant(ctx: Context, node: tree.Constant) -> None:
    """Check a constant and note its value."""
    type_ = resolve_type(ctx, node.type)
    ctx.checked.declared[node] = type_
    check_as(ctx, node.value, type_, f"constant {node.name!r}")
    if t.is_scalar(type_):
        constant_of(ctx, node.value, f"constant {node.name!r}")
    ctx.declare(node)


def _variable(ctx: Context, node: tree.Variable) -> None:
    type_ = resolve_type(ctx, node.type)
    if isinstance(type_, t.Object) or type_ in {t.VOID, t.MATCH_KIND, t.INTEGER, t.STRING}:
        raise ctx.diagnostics.fail(node.at, f"a variable cannot have type {type_}")
    ctx.checked.declared[node] = type_
    if node.value is not None:
        with suppress(Abort):
            check_as(ctx, node.value, type_, f"variable {node.name!r}")
    ctx.declare(node)


def check_instance(ctx: Context, node: tree.Instance) -> None:
    """Check an instance's constructor."""
    type_ = resolve_type(ctx, node.type)
    call = tree.Call(node.at, tree.TypeReference(node.type.at, node.type), (), node.arguments)
    ctx.checked.declared[node] = check_constructor(ctx, call, type_)
    ctx.checked.calls[node] = ctx.checked.calls[call]  # type: ignore[index]
    ctx.declare(node)


def _value_set(ctx: Context, node: tree.ValueSet) -> None:
    infer(ctx, node.size)
    if constant_of(ctx, node.size, "a value set's size") < 1:
        raise ctx.diagnostics.fail(node.size.at, "a value set's size is at least 1")
    ctx.checked.declared[node] = t.Set(resolve_type(ctx, node.type))
    ctx.declare(node)


def check_action(ctx: Context, node: tree.Action) -> None:
    """Check an action's parameters and body."""
    before = ctx.enter()
    declare_parameters(ctx, node.arguments)
    seen_plain = False
    for parameter in node.arguments:
        if parameter.direction and seen_plain:
            ctx.diagnostics.error(
                parameter.at, "parameters with a direction come before those without"
            )
        seen_plain = seen_plain or not parameter.direction
    check_body(ctx, node.body, t.VOID, "action")
    ctx.scope = before
    ctx.declare(node)


def declare_parameters(ctx: Context, parameters: Sequence[tree.Parameter]) -> None:
    """Make parameters known in the present scope."""
    for parameter in parameters:
        try:
            type_ = resolve_type(ctx, parameter.type)
        except Abort:
            type_ = t.ANYTHING
            ctx.checked.written[parameter.type] = type_
        ctx.checked.declared[parameter] = type_
        if parameter.default is not None:
            check_quietly(ctx, parameter.default, type_)
        ctx.declare(parameter)


def check_body(ctx: Context, block: tree.Block, returns: t.Type, context: str) -> None:
    """Check the body of an action, function or control, or what stands in `context`."""
    before = (ctx.returns, ctx.loops, ctx.where)
    ctx.returns, ctx.loops, ctx.where = returns, 0, context
    _block(ctx, block)
    ctx.returns, ctx.loops, ctx.where = before


# Tables


def _table(ctx: Context, node: tree.Table) -> None:
    ctx.declare(node)
    if node.entries and not node.keys:
        ctx.diagnostics.error(node.at, f"table {node.name!r} has entries but no key")
    kinds = [_key(ctx, key) for key in node.keys]
    ctx.where, before = "action", ctx.where
    listed: set[str] = set()
    for reference in node.actions:
        with suppress(Abort):
            _action_reference(ctx, reference)
        if _action_name(reference) in listed:
            message = f"action {_action_name(reference)!r} is listed twice"
            ctx.diagnostics.error(reference.at, message)
        listed.add(_action_name(reference))
    ctx.where = before
    for entry in node.properties:
        try:
            _property(ctx, node, entry)
        except Abort:
            continue
    for row in node.entries or ():
        try:
            _entry(ctx, node, row, kinds)
        except Abort:
            continue


def _key(ctx: Context, key: tree.Key) -> t.Type:
    try:
        type_ = infer(ctx, key.value)
        found = ctx.find(key.match_kind, key.at)
    except Abort:
        ctx.checked.types.setdefault(key.value, t.ANYTHING)
        return t.ANYTHING
    if not any(isinstance(entry, tree.Names) for entry in found):
        ctx.diagnostics.error(key.at, f"{key.match_kind!r} is not a match kind")
    if key.match_kind != SELECTOR and not t.is_scalar(type_) and type_ != t.ANYTHING:
        ctx.diagnostics.error(key.value.at, f"a key is a number, not {type_}")
        return t.ANYTHING
    return type_


def _action_reference(ctx: Context, reference: tree.ActionReference) -> None:
    call, name = _as_call(reference.call)
    if name is None:
        raise ctx.diagnostics.fail(reference.at, "expected the name of an action")
    found = ctx.find(name.name, name.at, absolute=name.absolute)
    action = found[0]
    if not isinstance(action, tree.Action):
        raise ctx.diagnostics.fail(name.at, f"{name.name!r} is not an action")
    ctx.checked.references[name] = action
    directed = tuple(entry for entry in action.arguments if entry.direction)
    arguments = match_arguments(ctx, call, directed, action.name)
    solve(ctx, call, (), arguments, {})
    check_arguments(ctx, arguments, {})
    ctx.checked.calls[reference.call] = Call("action", action.name, action, None, arguments)


def _property(ctx: Context, table: tree.Table, entry: tree.Property) -> None:
    if entry.name == "default_action":
        _listed_action(ctx, table, entry.value, "default_action")
    elif entry.name == "size":
        check_as(ctx, entry.value, t.INTEGER) if isinstance(entry.value, tree.Integer) else None
        if constant_of(ctx, entry.value, "a table's size") < 0:
            raise ctx.diagnostics.fail(entry.value.at, "a table's size is negative")
    elif entry.name in _KNOWN_PROPERTIES:
        infer(ctx, entry.value)
    else:
        ctx.diagnostics.warning(entry.at, f"unknown table property {entry.name!r} is ignored")


def _check_use(ctx: Context, listed: tree.ActionReference, at: Position, what: str) -> None:
    """Refuse an action where the table's list says that it is not used."""
    forbidden = {"an entry": "defaultonly", "default_action": "tableonly"}[what]
    if tree.annotation(listed, forbidden):
        raise ctx.diagnostics.fail(at, f"an action that is @{forbidden} in {what}")


def _listed_action(ctx: Context, table: tree.Table, value: tree.Expression, what: str) -> None:
    """Check an action with arguments that must be one of the table's."""
    call, name = _as_call(value)
    listed = {_action_name(reference): reference for reference in table.actions}
    if name is None or name.name not in listed:
        shown = name.name if name else "this"
        raise ctx.unknown(f"action of table {table.name} in {what}", shown, value.at, [*listed])
    _check_use(ctx, listed[name.name], value.at, what)
    action = ctx.checked.references.get(_as_call(listed[name.name].call)[1])  # type: ignore[arg-type]
    if not isinstance(action, tree.Action):
        raise Abort
    ctx.checked.references[name] = action
    plain = tuple(entry for entry in action.arguments if not entry.direction)
    directed = len(action.arguments) - len(plain)
    if directed and len(call.arguments) == len(action.arguments):
        call = tree.Call(call.at, call.function, (), call.arguments[directed:])
    arguments = match_arguments(ctx, call, plain, action.name)
    solve(ctx, call, (), arguments, {})
    check_arguments(ctx, arguments, {})
    for _, argument in arguments:
        if argument is not None:
            constant_of(ctx, argument, f"an argument of {what}")
    ctx.checked.calls[value] = Call("action", action.name, action, None, arguments)


def _entry(ctx: Context, table: tree.Table, entry: tree.Entry, kinds: Sequence[t.Type]) -> None:
    _listed_action(ctx, table, entry.action, "an entry")
    if entry.priority is not None:
        infer(ctx, entry.priority)
        constant_of(ctx, entry.priority, "a priority")
    if len(entry.keys) != len(table.keys):
        if len(entry.keys) == 1 and isinstance(entry.keys[0], tree.Everything):
            return
        raise ctx.diagnostics.fail(
            entry.at, f"table {table.name} has {len(table.keys)} keys, not {len(entry.keys)}"
        )
    for value, key, type_ in zip(entry.keys, table.keys, kinds, strict=True):
        _entry_key(ctx, value, key, type_)


def _entry_key(ctx: Context, value: tree.Expression, key: tree.Key, type_: t.Type) -> None:
    check_as(ctx, value, t.Set(type_))
    if isinstance(value, tree.Everything):
        if key.match_kind == "exact":
            raise ctx.diagnostics.fail(value.at, "an exact key needs a value")
        return
    sets = {"&&&": ("ternary", "lpm"), "..": ("range",)}
    if isinstance(value, tree.Binary) and value.operator in sets:
        constant_of(ctx, value.left, "an entry's key")
        constant_of(ctx, value.right, "an entry's key")
        if key.match_kind not in sets[value.operator]:
            raise ctx.diagnostics.fail(
                value.at, f"{value.operator} does not go with a key that is {key.match_kind}"
            )
        return
    constant_of(ctx, value, "an entry's key")


# Parsers


def check_state(ctx: Context, state: tree.State, names: Sequence[str]) -> None:
    """Check a parser's state, whose transitions lead to states of these names."""
    before = ctx.enter()
    ctx.where = "parser"
    check_statements(ctx, state.statements)
    with suppress(Abort):
        _transition(ctx, state, names)
    ctx.scope = before


def _transition(ctx: Context, state: tree.State, names: Sequence[str]) -> None:
    match state.transition:
        case None:
            return
        case str(name):
            _check_state(ctx, name, state.transition_at, names)
        case tree.Select() as select:
            _select(ctx, select, names)


def _check_state(ctx: Context, name: str, at: Position, names: Sequence[str]) -> None:
    if name not in names:
        raise ctx.unknown("state", name, at, list(names))


def _select(ctx: Context, select: tree.Select, names: Sequence[str]) -> None:
    types = [infer(ctx, key) for key in select.keys]
    types = [_select_width(ctx, key, type_) for key, type_ in zip(select.keys, types, strict=True)]
    for case in select.cases:
        try:
            _check_state(ctx, case.state, case.at, names)
            _select_case(ctx, case, types)
        except Abort:
            continue
    _repeated_cases(ctx, select)
    if select.cases and not any(_catches_all(case) for case in select.cases[:-1]):
        return
    for before, case in zip(select.cases, select.cases[1:], strict=False):
        if _catches_all(before):
            ctx.diagnostics.warning(case.at, "the cases after default are never reached")
            return


def _repeated_cases(ctx: Context, select: tree.Select) -> None:
    seen: dict[tuple[object, ...], tree.SelectCase] = {}
    for case in select.cases:
        key = tuple(_key_values(ctx, value) for value in case.keys)
        first = seen.setdefault(key, case)
        if first is not case and not _catches_all(case):
            hint = f"the first is at {first.at}"
            ctx.diagnostics.warning(case.at, "this case was there before", hint)


def _key_values(ctx: Context, value: tree.Expression) -> object:
    """Return what a key set compares with, so that equal ones are equal."""
    if isinstance(value, tree.Everything):
        return None
    if isinstance(value, tree.Binary) and value.operator in {"&&&", ".."}:
        first, second = (_key_values(ctx, each) for each in (value.left, value.right))
        if value.operator == "&&&" and isinstance(first, int) and isinstance(second, int):
            first &= second
        return value.operator, first, second
    return ctx.checked.constants.get(value, value)


def _select_width(ctx: Context, key: tree.Expression, type_: t.Type) -> t.Type:
    if type_ == t.INTEGER:
        raise ctx.diagnostics.fail(
            key.at, "the width of this number is unknown", "write it with a width, as in 8w1"
        )
    if not t.is_scalar(type_) and type_ != t.ANYTHING:
        raise ctx.diagnostics.fail(key.at, f"select takes numbers, not {type_}")
    return type_


def _select_case(ctx: Context, case: tree.SelectCase, types: Sequence[t.Type]) -> None:
    if len(case.keys) != len(types):
        one = case.keys[0]
        if len(case.keys) == 1 and isinstance(one, tree.Everything):
            return
        if len(case.keys) == 1 and isinstance(infer(ctx, one), t.Set):
            check_as(ctx, one, t.Set(t.Tuple(tuple(types))))
            return
        raise ctx.diagnostics.fail(
            case.at, f"select has {len(types)} keys, this case has {len(case.keys)}"
        )
    for value, type_ in zip(case.keys, types, strict=True):
        check_as(ctx, value, t.Set(type_), "a case")


def _catches_all(case: tree.SelectCase) -> bool:
    return all(isinstance(key, tree.Everything) for key in case.keys)


def _as_call(node: tree.Expression) -> tuple[tree.Call, tree.Name | None]:
    """Return an action's mention as a call, and the name in it."""
    call = node if isinstance(node, tree.Call) else tree.Call(node.at, node, (), ())
    return call, call.function if isinstance(call.function, tree.Name) else None


def _action_name(reference: tree.ActionReference) -> str:
    name = _as_call(reference.call)[1]
    return name.name if name else ""
