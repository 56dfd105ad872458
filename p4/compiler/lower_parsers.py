"""The fifth pass, part ten: parsers, whose states are inlined into the states that run them."""

import itertools
from collections.abc import Sequence

from p4.compiler import flat, tree
from p4.compiler import types as t
from p4.compiler.check import reachable
from p4.compiler.diagnostics import Position
from p4.compiler.lower_context import Context, Frame
from p4.compiler.lower_expressions import value_of
from p4.compiler.lower_statements import lower_statements

CASE_LIMIT = 4096

Choices = list[tuple[int, int]]


def apply_parser(ctx: Context, frame: Frame, parser: tree.Parser, at: Position) -> None:
    """Emit the states of a parser, which run in its frame."""
    assert parser.states is not None
    for local in parser.locals:
        if isinstance(local, tree.ValueSet):
            _value_set(ctx, local)
    lower_statements(ctx, parser.locals)
    reached = reachable(parser.states)
    states = tuple(_state(ctx, state) for state in parser.states if state.name in reached)
    ctx.emit(flat.RunParser(states, at, frame.prefix))


def _value_set(ctx: Context, node: tree.ValueSet) -> None:
    name = ctx.full_name(node)
    if any(known.name == name for known in ctx.program.value_sets):
        return
    type_ = ctx.written(node.type)
    width = t.width(type_)
    if width is None:
        raise ctx.unsupported(node.at, f"a value set of {type_}")
    size = ctx.checked.constants[node.size]
    ctx.program.value_sets.append(flat.Array(name, node.at, size, width))


def _state(ctx: Context, state: tree.State) -> flat.State:
    result = flat.State(state.name, at=state.at)
    result.code = ctx.capture(lambda: _fill_state(ctx, result, state))
    return result


def _fill_state(ctx: Context, result: flat.State, state: tree.State) -> None:
    lower_statements(ctx, state.statements)
    match state.transition:
        case tree.Select() as select:
            ctx.attempt(lambda: _select(ctx, result, select))
        case str(name):
            result.cases = (flat.Case(None, None, None, name),)
        case None:
            result.cases = (flat.Case(None, None, None, "reject"),)


# Select


def _select(ctx: Context, result: flat.State, select: tree.Select) -> None:
    values = [value_of(ctx, key) for key in select.keys]
    keys: list[flat.Field | flat.StackTop] = []
    for value, key in zip(values, select.keys, strict=True):
        if isinstance(value, flat.Field | flat.StackTop):
            keys.append(value)
        else:
            field = ctx.scalar(value.type, "select")
            ctx.emit(flat.Assign(field, value, key.at))
            keys.append(field)
    result.keys = tuple(keys)
    widths = [t.width(key.type) or 0 for key in keys]
    cases = [found for case in select.cases for found in _cases(ctx, case, widths)]
    result.cases = tuple(cases)


def _cases(ctx: Context, case: tree.SelectCase, widths: Sequence[int]) -> list[flat.Case]:
    """Return a case's transitions: one for each way to cover its ranges with masks."""
    first = case.keys[0]
    if all(isinstance(key, tree.Everything) for key in case.keys):
        return [flat.Case(None, None, None, case.state)]
    value_set = _named_set(ctx, first)
    if value_set is not None:
        if len(case.keys) > 1:
            raise ctx.unsupported(case.at, "a value set beside other keys")
        return [flat.Case(None, None, value_set, case.state)]
    choices = [_choices(ctx, key, width) for key, width in zip(case.keys, widths, strict=True)]
    found: list[flat.Case] = []
    for combination in itertools.product(*choices):
        if len(found) > CASE_LIMIT:
            raise ctx.unsupported(case.at, "ranges that need so many masks")
        values = tuple(value for value, _ in combination)
        masks = tuple(mask for _, mask in combination)
        full = all(mask == (1 << width) - 1 for mask, width in zip(masks, widths, strict=True))
        found.append(flat.Case(values, None if full else masks, None, case.state))
    return found


def _named_set(ctx: Context, key: tree.Expression) -> str | None:
    declaration = ctx.checked.references.get(key)
    return ctx.full_name(declaration) if isinstance(declaration, tree.ValueSet) else None


def _choices(ctx: Context, key: tree.Expression, width: int) -> Choices:
    everything = (1 << width) - 1
    if isinstance(key, tree.Everything):
        return [(0, 0)]
    if isinstance(key, tree.Binary) and key.operator == "&&&":
        value, mask = _known(ctx, key.left), _known(ctx, key.right)
        return [(value & mask & everything, mask & everything)]
    if isinstance(key, tree.Binary) and key.operator == "..":
        low, high = _known(ctx, key.left) & everything, _known(ctx, key.right) & everything
        return [(value, mask & everything) for value, mask in cover(low, high)]
    return [(_known(ctx, key) & everything, everything)]


def _known(ctx: Context, key: tree.Expression) -> int:
    value = value_of(ctx, key)
    if not isinstance(value, flat.Number):
        raise ctx.unsupported(key.at, "a case that is not constant")
    return value.value


def cover(low: int, high: int) -> Choices:
    """Return values and masks that together match the numbers from `low` to `high`.

    The masks are negative numbers: all bits above the varying ones are set.
    """
    found: Choices = []
    while low <= high:
        size = low & -low if low else 1 << (high + 1).bit_length()
        while size > high - low + 1:
            size >>= 1
        found.append((low, ~(size - 1)))
        low += size
    return found
