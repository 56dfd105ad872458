"""The fifth pass, part nine: statements."""

from collections.abc import Sequence

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort
from p4.compiler.lower_assign import assign, invalidate
from p4.compiler.lower_calls import lower_call, make_object
from p4.compiler.lower_context import Context
from p4.compiler.lower_expressions import place_of, read_value, shape_as, value_of
from p4.compiler.lower_loops import lower_for, lower_for_in
from p4.compiler.lower_objects import declare_extern
from p4.compiler.lower_tables import apply_and_go_on, apply_table


def lower_statements(ctx: Context, statements: Sequence[tree.Statement]) -> None:
    """Lower statements in order, going on after those that are wrong."""
    for statement in statements:
        try:
            _lower_statement(ctx, statement)
        except Abort:
            continue


def _lower_statement(ctx: Context, node: tree.Statement) -> None:  # noqa: C901, PLR0912
    match node:
        case tree.Assignment():
            _assignment(ctx, node)
        case tree.CallStatement():
            lower_call(ctx, node.call)
        case tree.If():
            _if_statement(ctx, node)
        case tree.Block():
            lower_statements(ctx, node.statements)
        case tree.Return():
            _return(ctx, node)
        case tree.Exit():
            ctx.jump(ctx.frame.exit, node.at)
        case tree.Break():
            ctx.jump(ctx.frame.loop_end, node.at)
        case tree.Continue():
            ctx.jump(ctx.frame.loop_next, node.at)
        case tree.Switch():
            _switch(ctx, node)
        case tree.For():
            lower_for(ctx, node)
        case tree.ForIn():
            lower_for_in(ctx, node)
        case tree.Variable():
            _variable(ctx, node)
        case tree.Instance():
            make_instance(ctx, node)
        case _:
            return  # what is lowered where it is used


def _assignment(ctx: Context, node: tree.Assignment) -> None:
    if not node.operator:
        target, source = _target_and_source(ctx, node)
        type_ = ctx.type_of(node.target)
        assign(ctx, target, shape_as(ctx, source, type_, node.at), node.at)
        return
    target = place_of(ctx, node.target)
    right = value_of(ctx, node.value)
    left = read_value(ctx, target, node.at)
    if node.operator == "++":
        result = fold.concatenate(left, right)
    else:
        result = fold.binary(node.operator, left, right, left.type)
    assign(ctx, target, result, node.at)


def _target_and_source(ctx: Context, node: tree.Assignment) -> tuple[places.Place, places.Place]:
    """Evaluate a target's index before the value, as P4 orders it."""
    target = place_of(ctx, node.target)
    return target, place_of(ctx, node.value)


# Conditions


def _if_statement(ctx: Context, node: tree.If) -> None:
    if _if_applied(ctx, node):
        return
    condition = value_of(ctx, node.condition)
    if isinstance(condition, flat.Number):
        branch = node.yes if condition.value else node.no
        lower_statements(ctx, (branch,) if branch is not None else ())
        return
    yes = ctx.capture(lambda: lower_statements(ctx, (node.yes,)))
    no = ctx.capture(lambda: lower_statements(ctx, (node.no,) if node.no is not None else ()))
    ctx.branch(condition, yes, no, node.at)


def _if_applied(ctx: Context, node: tree.If) -> bool:
    """Lower `if (table.apply().hit)` to the table's own outcomes."""
    condition, positive = node.condition, True
    while isinstance(condition, tree.Unary) and condition.operator == "!":
        condition, positive = condition.operand, not positive
    if not isinstance(condition, tree.Member):
        return False
    applied = ctx.checked.types.get(condition.base)
    if not isinstance(applied, t.Applied):
        return False
    if condition.name == "miss":
        positive = not positive
    table = apply_table(ctx, applied.table)
    yes = ctx.capture(lambda: lower_statements(ctx, (node.yes,)))
    no = ctx.capture(lambda: lower_statements(ctx, (node.no,) if node.no is not None else ()))
    hit, miss = (yes, no) if positive else (no, yes)
    apply_and_go_on(ctx, table, condition.at, hit, miss)
    return True


def applied_member(ctx: Context, node: tree.Member) -> places.Place:
    """Apply a table and return whether it hit or missed."""
    applied = ctx.checked.types[node.base]
    assert isinstance(applied, t.Applied)
    if node.name == "action_run":
        raise ctx.unsupported(node.at, "action_run outside of a switch")
    result = ctx.scalar(t.BOOL, node.name)
    table = apply_table(ctx, applied.table)
    outcome = {"hit": fold.TRUE, "miss": fold.FALSE}
    hit: flat.Code = (flat.Assign(result, outcome[node.name], node.at),)
    miss: flat.Code = (flat.Assign(result, fold.unary("!", outcome[node.name]), node.at),)
    apply_and_go_on(ctx, table, node.at, hit, miss)
    return result


# Switches


def _switch(ctx: Context, node: tree.Switch) -> None:
    if isinstance(ctx.checked.types[node.value], t.ActionRun):
        _switch_action(ctx, node)
        return
    value = ctx.save(value_of(ctx, node.value), node.at)
    groups, default = _case_groups(node)
    code = ctx.capture(lambda: lower_statements(ctx, default.statements if default else ()))
    for labels, block in reversed(groups):
        condition: flat.Value = fold.FALSE
        for label in labels:
            same = fold.binary("==", value, value_of(ctx, label), t.BOOL)
            condition = fold.binary("||", condition, same, t.BOOL)
        body = ctx.capture(lambda block=block: lower_statements(ctx, block.statements))  # type: ignore[misc]
        code = ctx.capture(
            lambda condition=condition, body=body, code=code: ctx.branch(  # type: ignore[misc]
                condition, body, code, node.at
            )
        )
    ctx.code.extend(code)


def _switch_action(ctx: Context, node: tree.Switch) -> None:
    member = node.value
    assert isinstance(member, tree.Member)
    applied = ctx.checked.types[member.base]
    assert isinstance(applied, t.Applied)
    table = apply_table(ctx, applied.table)
    places_of = [_reference_name(reference) for reference in applied.table.actions]
    groups, default = _case_groups(node)
    cases: list[tuple[int, flat.Code]] = []
    for labels, block in groups:
        body = ctx.capture(lambda block=block: lower_statements(ctx, block.statements))  # type: ignore[misc]
        cases.extend(
            (places_of.index(label.name), body) for label in labels if isinstance(label, tree.Name)
        )
    otherwise = ctx.capture(lambda: lower_statements(ctx, default.statements if default else ()))
    apply_and_go_on(ctx, table, node.at, cases=tuple(cases), otherwise=otherwise)


# Leaving


def _return(ctx: Context, node: tree.Return) -> None:
    if node.value is not None and ctx.frame.result is not None:
        result = ctx.frame.result
        source = shape_as(ctx, place_of(ctx, node.value), places.type_of(result), node.at)
        assign(ctx, result, source, node.at)
    ctx.jump(ctx.frame.leave, node.at)


# Declarations


def _variable(ctx: Context, node: tree.Variable) -> None:
    place = ctx.frame.bindings.get(node)
    value = None
    if node.value is not None:
        value = shape_as(ctx, place_of(ctx, node.value), ctx.written(node.type), node.at)
    if place is None:
        place = ctx.temporary(ctx.written(node.type), node.name)
        ctx.frame.bindings[node] = place
    if value is None:
        invalidate(ctx, place, node.at)
    else:
        assign(ctx, place, value, node.at)


def make_instance(ctx: Context, node: tree.Instance) -> None:
    """Make what an instance stands for."""
    if node in ctx.frame.bindings:
        return
    call = ctx.checked.calls[node]  # type: ignore[index]
    type_ = ctx.bound(ctx.checked.declared[node])
    assert isinstance(type_, t.Object)
    place = make_object(ctx, call, type_, ctx.full_name(node), node.at)
    ctx.frame.bindings[node] = place
    declare_extern(ctx, place, node)


def _case_groups(
    node: tree.Switch,
) -> tuple[list[tuple[list[tree.Expression], tree.Block]], tree.Block | None]:
    """Return the blocks of a switch with their labels, and the default block."""
    groups: list[tuple[list[tree.Expression], tree.Block]] = []
    default: tree.Block | None = None
    labels: list[tree.Expression] = []
    is_default = False
    for case in node.cases:
        if case.label is None:
            is_default = True
        else:
            labels.append(case.label)
        if case.block is not None:
            if is_default:
                default = case.block
            if labels:
                groups.append((labels, case.block))
            labels, is_default = [], False
    return groups, default


def _reference_name(reference: tree.ActionReference) -> str:
    call = reference.call
    function = call.function if isinstance(call, tree.Call) else call
    return function.name if isinstance(function, tree.Name) else ""
