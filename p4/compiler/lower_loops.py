"""The fifth pass, part eight: loops.

A loop is unrolled only where evaluating it proves how many rounds it runs at most: its variable
counts from a constant, nothing but the one update changes that, and the condition comes to be
false by the variable alone. The variable is then a constant in every round. Every other loop
stays one: a jump back in an action, an edge back in a pipeline, a transition back in a parser.
"""

import dataclasses
from collections.abc import Callable, Iterator

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_assign import assign
from p4.compiler.lower_context import Context
from p4.compiler.lower_expressions import has_effects, keep, place_of, value_of

UNROLL_LIMIT = 1024  # rounds, those of loops around it included
REPEATING = ("ingress", "egress", "parser")  # the blocks that may go back
COUNT = "count a variable from a constant to a constant that the body does not change"


def _loop(ctx: Context, rounds: Callable[[], None], factor: int = 1) -> None:
    """Emit what `rounds` does as code that `break` leaves; `factor` copies of the body."""
    frame = ctx.frame
    before = (frame.loop_end, frame.loop_next)
    frame.loop_end = ctx.new_label()
    ctx.rounds_around *= factor
    code = ctx.capture(rounds)
    ctx.rounds_around //= factor
    ctx.labelled(frame.loop_end, code)
    frame.loop_end, frame.loop_next = before


def _round(ctx: Context, body: tree.Statement) -> None:
    label = ctx.frame.loop_next = ctx.new_label()
    ctx.labelled(label, ctx.capture(lambda: ctx.later.lower_statements(ctx, (body,))))


def _leave_unless(ctx: Context, condition: flat.Value, at: Position) -> None:
    if not isinstance(condition, flat.Number) or not condition.value:
        leave = ctx.capture(lambda: ctx.jump(ctx.frame.loop_end, at))
        ctx.branch(condition, (), leave, at)


def _fits(ctx: Context, rounds: int) -> bool:
    return rounds * ctx.rounds_around <= UNROLL_LIMIT


# for (initial; condition; updates)


def lower_for(ctx: Context, node: tree.For) -> None:
    """Lower `for (initial; condition; updates)`."""
    variable = _counter(ctx, node)
    values = _counted(ctx, node, variable) if variable is not None else None
    if variable is None or values is None:
        ctx.later.lower_statements(ctx, node.initial)
        _loop(ctx, lambda: _repeat(ctx, lambda: _one_round(ctx, node), node.at))
        return
    _loop(ctx, lambda: _constant_rounds(ctx, node, variable, values), max(1, len(values)))
    ctx.frame.bindings.pop(variable, None)


def _repeat(ctx: Context, produce: Callable[[], object], at: Position) -> None:
    """Emit a loop that only its condition, a break, a return or an exit ends."""
    if ctx.region not in REPEATING:
        raise ctx.unsupported(
            at, f"a loop whose number of rounds is not known in the {ctx.region}", COUNT
        )
    body = ctx.capture(produce)
    if not flat.leaves(body):
        raise ctx.diagnostics.fail(at, "this loop never ends")
    ctx.emit(flat.Loop(body, at))


def _one_round(ctx: Context, node: tree.For) -> None:
    _leave_unless(ctx, value_of(ctx, node.condition), node.at)
    _round(ctx, node.body)
    ctx.later.lower_statements(ctx, node.updates)


# Loops that are unrolled


def _counter(ctx: Context, node: tree.For) -> tree.Variable | None:
    """Return the loop's variable if only the loop's one update changes it."""
    first = node.initial[0] if len(node.initial) == 1 else None
    if not isinstance(first, tree.Variable) or first.value not in ctx.checked.constants:
        return None
    update = node.updates[0] if len(node.updates) == 1 else None
    if not isinstance(update, tree.Assignment):
        return None
    whole = ctx.checked.references.get(update.target) is first
    if not whole or has_effects(ctx, update.value) or has_effects(ctx, node.condition):
        return None
    return None if _changes(ctx, node.body, first) else first


def _counted(ctx: Context, node: tree.For, variable: tree.Variable) -> list[flat.Number] | None:
    """Return the variable's value in each round there may be; None if that is not proven.

    The loop is evaluated for this, with all that it reads besides the variable unknown.
    """
    update = node.updates[0]
    assert variable.value is not None
    assert isinstance(update, tree.Assignment)
    start = ctx.checked.constants[variable.value]
    value: flat.Value = fold.number(start, ctx.written(variable.type))
    values: list[flat.Number] = []
    seen: set[flat.Value] = set()
    while isinstance(value, flat.Number) and value not in seen and _fits(ctx, len(values)):
        seen.add(value)
        if _with(ctx, variable, value, node.condition) == fold.FALSE:
            return values
        values.append(value)
        value = _updated(ctx, variable, value, update)
    return None


def _with(
    ctx: Context, variable: tree.Variable, value: flat.Number, expression: tree.Expression
) -> flat.Value:
    """Return what an expression is for this value of the variable, emitting nothing."""
    ctx.frame.bindings[variable] = value
    found: list[flat.Value] = []
    ctx.capture(lambda: found.append(value_of(ctx, expression)))
    del ctx.frame.bindings[variable]
    return found[0]


def _updated(
    ctx: Context, variable: tree.Variable, value: flat.Number, update: tree.Assignment
) -> flat.Value:
    given = _with(ctx, variable, value, update.value)
    if update.operator:
        given = fold.binary(update.operator, value, given, value.type)
    if isinstance(given, flat.Number):
        return fold.number(given.value, value.type)
    return given


def _constant_rounds(
    ctx: Context, node: tree.For, variable: tree.Variable, values: list[flat.Number]
) -> None:
    for value in values:
        ctx.frame.bindings[variable] = value
        _leave_unless(ctx, value_of(ctx, node.condition), node.at)
        _round(ctx, node.body)


# for (variable in collection)


def lower_for_in(ctx: Context, node: tree.ForIn) -> None:
    """Lower `for (variable in collection)`."""
    if isinstance(node.collection, tree.Binary) and node.collection.operator == "..":
        _for_range(ctx, node, node.collection)
    else:
        values = [keep(ctx, value, node.at) for value in _collection(ctx, node)]
        _for_each(ctx, node, values)


def _for_each(ctx: Context, node: tree.ForIn, values: list[places.Place]) -> None:
    constant = not _changes(ctx, node.body, node.variable)
    _loop(ctx, lambda: _rounds_over(ctx, node, values, constant=constant), max(1, len(values)))


def _rounds_over(
    ctx: Context, node: tree.ForIn, values: list[places.Place], *, constant: bool
) -> None:
    variable: places.Place | None = None
    for value in values:
        if constant and isinstance(value, flat.Number):
            ctx.frame.bindings[node.variable] = value
        else:
            if variable is None:
                type_ = ctx.written(node.variable.type)
                variable = ctx.temporary(type_, node.variable.name)
            ctx.frame.bindings[node.variable] = variable
            assign(ctx, variable, value, node.at)
        _round(ctx, node.body)


def _collection(ctx: Context, node: tree.ForIn) -> list[places.Place]:
    place = place_of(ctx, node.collection)
    match place:
        case places.Struct():
            return list(place.parts.values())
        case places.Stack():
            return list(place.elements)
    raise ctx.unsupported(node.at, "a loop over this")


def _for_range(ctx: Context, node: tree.ForIn, bounds: tree.Binary) -> None:
    type_ = ctx.written(node.variable.type)
    first, last = value_of(ctx, bounds.left), value_of(ctx, bounds.right)
    if isinstance(first, flat.Number) and isinstance(last, flat.Number):
        low, high = (t.wrap(each.value, type_) for each in (first, last))
        if _fits(ctx, high - low + 1):
            numbers = range(low, high + 1)
            _for_each(ctx, node, [fold.number(each, type_) for each in numbers])
            return
    _loop(ctx, lambda: _range_rounds(ctx, node, first, last))


def _range_rounds(ctx: Context, node: tree.ForIn, first: flat.Value, last: flat.Value) -> None:
    """Emit a loop that counts up to a number of run time without going beyond it."""
    type_ = t.base(ctx.written(node.variable.type))
    name = node.variable.name
    counter, end = ctx.scalar(type_, name), ctx.scalar(type_, f"{name}.last")
    assign(ctx, counter, fold.cast(first, type_), node.at)
    assign(ctx, end, fold.cast(last, type_), node.at)
    _leave_unless(ctx, fold.binary("<=", counter, end, t.BOOL), node.at)
    _repeat(ctx, lambda: _range_round(ctx, node, counter, end), node.at)


def _range_round(ctx: Context, node: tree.ForIn, counter: flat.Field, end: flat.Field) -> None:
    variable: flat.Field = counter
    if _changes(ctx, node.body, node.variable):
        variable = ctx.scalar(counter.type, node.variable.name)
        assign(ctx, variable, counter, node.at)
    ctx.frame.bindings[node.variable] = variable
    _round(ctx, node.body)
    _leave_unless(ctx, fold.binary("!=", counter, end, t.BOOL), node.at)
    one = fold.number(1, counter.type)
    assign(ctx, counter, fold.binary("+", counter, one, counter.type), node.at)


# Who changes a variable


def _refers(ctx: Context, target: tree.Expression, variable: tree.Variable) -> bool:
    while isinstance(target, tree.Member | tree.Index | tree.Slice):
        target = target.base
    return ctx.checked.references.get(target) is variable


def _changes(ctx: Context, body: tree.Statement, variable: tree.Variable) -> bool:
    """Tell whether a statement may change a variable."""
    for node in _nodes(body):
        if isinstance(node, tree.Assignment) and _refers(ctx, node.target, variable):
            return True
        if isinstance(node, tree.Call):
            call = ctx.checked.calls.get(node)
            for parameter, value in call.arguments if call else ():
                written = value is not None and parameter.direction in {"out", "inout"}
                if written and value is not None and _refers(ctx, value, variable):
                    return True
    return False


def _nodes(node: object) -> Iterator[tree.Node]:
    """Give a node and everything in it."""
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)
    elif isinstance(node, tree.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from _nodes(getattr(node, field.name))
