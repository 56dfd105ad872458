"""The fifth pass, part two: expressions to places and values.

Whatever an expression does besides having a value is emitted as code before its use; operands
that later code could change are saved first.
"""

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_context import Context
from p4.compiler.storage import field_of

# Entry points


def place_of(ctx: Context, expression: tree.Expression) -> places.Place:
    """Return what an expression stands for, with its implicit cast done."""
    type_ = ctx.type_of(expression)
    constant = ctx.checked.constants.get(expression)
    if constant is not None and t.is_scalar(type_):
        return fold.number(constant, type_)
    return shape_as(ctx, _evaluate(ctx, expression), type_, expression.at)


def _evaluate(  # noqa: C901, PLR0911, PLR0912
    ctx: Context, node: tree.Expression
) -> places.Place:
    match node:
        case tree.Integer() | tree.Boolean() | tree.TypeReference():
            return _constant_expression(ctx, node)
        case tree.String():
            return flat.Text(node.value)
        case tree.Name():
            return _name(ctx, node)
        case tree.Member():
            return _member(ctx, node)
        case tree.Index():
            return _index(ctx, node)
        case tree.Slice():
            return _slice(ctx, node)
        case tree.Unary():
            return _unary(ctx, node)
        case tree.Binary():
            return _binary(ctx, node)
        case tree.Conditional():
            return _conditional(ctx, node)
        case tree.Cast():
            return _cast(ctx, node)
        case tree.Call():
            return _call_value(ctx, node)
        case tree.ListExpression():
            return _list(ctx, node)
        case tree.StructExpression():
            return _struct(ctx, node)
        case tree.Invalid():
            return _invalid(ctx, node)
        case tree.DefaultValue() | tree.Everything():
            return default_of(ctx, ctx.type_of(node), node.at)
    raise AssertionError(node)


def value_of(ctx: Context, expression: tree.Expression) -> flat.Value:
    """Return an expression's value, which must be one number."""
    return read_value(ctx, place_of(ctx, expression), expression.at)


def read_value(ctx: Context, place: places.Place, at: Position) -> flat.Value:
    """Return the number that a place holds."""
    match place:
        case places.Choice():
            values = [read_value(ctx, each, at) for each in place.places]
            result = values[-1]
            for index in range(len(values) - 2, -1, -1):
                here = fold.number(index, place.index.type)
                condition = fold.binary("==", place.index, here, t.BOOL)
                result = fold.choose(condition, values[index], result)
            return result
        case places.Bits():
            return fold.cut(read_value(ctx, place.place, at), place.high, place.low)
        case places.Struct() | places.Header() | places.HeaderLiteral() | places.Union():
            pass
        case places.Stack() | places.StackEnd() | places.Varbit() | places.Object():
            pass
        case flat.Text():
            pass
        case _:
            return place
    raise ctx.unsupported(at, f"a value of type {places.type_of(place)} here")


def shape_as(ctx: Context, place: places.Place, type_: t.Type, at: Position) -> places.Place:
    """Give a literal the type that its context wants of it."""
    wanted = t.base(type_)
    if isinstance(place, places.Struct | places.HeaderLiteral):
        if isinstance(wanted, t.Record | t.Tuple | t.Stack) and place.type != wanted:
            return _reshape(ctx, place, wanted, at)
        return place
    if isinstance(place, flat.Number) and place.type == t.INTEGER and t.is_scalar(wanted):
        return fold.number(place.value, wanted)
    return place


def _reshape(
    ctx: Context, literal: places.Struct | places.HeaderLiteral, wanted: t.Type, at: Position
) -> places.Place:
    given = list(literal.parts.values())
    if isinstance(wanted, t.Tuple):
        named = {str(index): part for index, part in enumerate(given)}
        return places.Struct(wanted, named)
    if isinstance(wanted, t.Stack):
        return places.Struct(literal.type, literal.parts)
    assert isinstance(wanted, t.Record)
    if wanted.kind == "header_union":
        raise ctx.unsupported(at, "a header union from a list")
    parts: dict[str, places.Place] = {}
    by_name = isinstance(literal.type, t.Record)
    for index, (name, part) in enumerate(wanted.fields):
        value = literal.parts.get(name) if by_name else literal.parts.get(str(index))
        if value is None:
            value = default_of(ctx, part, at)
        parts[name] = shape_as(ctx, value, part, at)
    if wanted.kind == "header":
        return places.HeaderLiteral(wanted, fold.TRUE, parts)
    return places.Struct(wanted, parts)


def default_of(ctx: Context, type_: t.Type, at: Position) -> places.Place:
    """Return the default value of a type, which `...` stands for."""
    inner = t.base(type_)
    match inner:
        case t.Record(kind="struct"):
            parts = {name: default_of(ctx, part, at) for name, part in inner.fields}
            return places.Struct(inner, parts)
        case t.Tuple():
            items = {str(n): default_of(ctx, part, at) for n, part in enumerate(inner.items)}
            return places.Struct(inner, items)
        case t.Record():
            return places.HeaderLiteral(inner, fold.FALSE, {})
        case t.Stack():
            items = {str(n): default_of(ctx, inner.element, at) for n in range(inner.size)}
            return places.Struct(t.Tuple((inner.element,) * inner.size), items)
    if t.is_scalar(inner):
        return fold.number(0, inner)
    raise ctx.unsupported(at, f"the default value of {type_}")


# Names and literals


def _constant_expression(ctx: Context, node: tree.Expression) -> places.Place:
    constant = ctx.checked.constants.get(node)
    assert constant is not None
    return flat.Number(constant, ctx.type_of(node))


def _name(ctx: Context, node: tree.Name) -> places.Place:
    declaration = ctx.checked.references.get(node)
    assert declaration is not None
    place = ctx.frame.find(declaration)
    if place is not None:
        return place
    if isinstance(declaration, tree.Constant):
        return place_of(ctx, declaration.value)
    raise ctx.unsupported(node.at, f"{node.name!r} as a value here")


def _list(ctx: Context, node: tree.ListExpression) -> places.Place:
    items = _sequence(ctx, list(node.items))
    parts = {str(index): item for index, item in enumerate(items)}
    type_ = t.Tuple(tuple(places.type_of(item) for item in items))
    return places.Struct(type_, parts)


def _struct(ctx: Context, node: tree.StructExpression) -> places.Place:
    items = _sequence(ctx, [value for _, value in node.fields])
    names = [name for name, _ in node.fields]
    parts = dict(zip(names, items, strict=True))
    fields = tuple((name, places.type_of(item)) for name, item in parts.items())
    return places.Struct(t.Record("struct", "", fields), parts)


def _sequence(ctx: Context, expressions: list[tree.Expression]) -> list[places.Place]:
    """Evaluate from left to right; what later ones may change is saved."""
    result: list[places.Place] = []
    effects = [has_effects(ctx, each) for each in expressions]
    for index, expression in enumerate(expressions):
        place = place_of(ctx, expression)
        if any(effects[index + 1 :]):
            place = keep(ctx, place, expression.at)
        result.append(place)
    return result


def keep(ctx: Context, place: places.Place, at: Position) -> places.Place:
    """Return a copy of what a place holds now."""
    match place:
        case flat.Number() | flat.RuntimeData() | flat.Text() | places.Object():
            return place
        case places.Struct() if not place.parts:
            return place
    type_ = places.type_of(place)
    copy = ctx.temporary(type_)
    ctx.later.assign(ctx, copy, place, at)
    return copy


def _invalid(ctx: Context, node: tree.Invalid) -> places.Place:
    type_ = t.base(ctx.type_of(node))
    if not isinstance(type_, t.Record):
        type_ = t.Record("header", "an invalid header", ())
    return places.HeaderLiteral(type_, fold.FALSE, {})


# Members and indices


def _member(ctx: Context, node: tree.Member) -> places.Place:
    applied = ctx.checked.types.get(node.base)
    if isinstance(applied, t.Applied):
        return ctx.later.applied_member(ctx, node)
    return member_of(ctx, place_of(ctx, node.base), node.name, node.at)


def member_of(  # noqa: PLR0911
    ctx: Context, base: places.Place, name: str, at: Position
) -> places.Place:
    """Return the place of a member."""
    match base:
        case places.Struct() | places.HeaderLiteral() if name in base.parts:
            return base.parts[name]
        case places.HeaderLiteral():
            type_ = base.type.field(name)
            return default_of(ctx, type_ or t.Bits(1), at)
        case places.Header():
            type_ = base.type.field(name)
            assert type_ is not None
            return field_of(base.name, name, type_)
        case places.Union():
            names = [key for key, _ in base.type.fields]
            return base.members[names.index(name)]
        case places.Choice():
            found = tuple(member_of(ctx, each, name, at) for each in base.places)
            return places.Choice(base.index, found)
        case places.Stack():
            return _stack_member(base, name)
        case places.StackEnd():
            return _stack_end_member(ctx, base, name, at)
    raise ctx.unsupported(at, f"member {name!r} here")


def _stack_member(stack: places.Stack, name: str) -> places.Place:
    element = stack.type.element
    assert isinstance(element, t.Record)
    if name == "size":
        return fold.number(stack.type.size, t.Bits(32))
    if name == "lastIndex":
        union = element.kind == "header_union"
        return flat.LastIndex(stack.name, "header_union_stack" if union else "header_stack")
    return places.StackEnd(stack, name, None, element)


def _stack_end_member(ctx: Context, base: places.StackEnd, name: str, at: Position) -> places.Place:
    type_ = base.type.field(name)
    assert type_ is not None
    if base.type.kind == "header_union":
        assert isinstance(type_, t.Record)
        return places.StackEnd(base.stack, base.which, name, type_)
    if base.which == "next":
        raise ctx.unsupported(at, "reading a stack's next element", "extract into it first")
    if not t.is_scalar(type_):
        raise ctx.unsupported(at, f"a field of type {type_} of a stack's last element")
    return flat.StackTop(base.stack.name, base.member, name, t.base(type_))


def _index(ctx: Context, node: tree.Index) -> places.Place:
    base = place_of(ctx, node.base)
    index = value_of(ctx, node.index)
    if isinstance(index, flat.Number) and not isinstance(base, places.Choice):
        return _element(ctx, base, index.value, node)
    index = ctx.save(index, node.at)
    size = len(_elements(ctx, base, node))
    choices = tuple(_element(ctx, base, place, node) for place in range(size))
    return places.Choice(index, choices)


def _elements(ctx: Context, base: places.Place, node: tree.Index) -> list[places.Place]:
    match base:
        case places.Stack():
            return list(base.elements)
        case places.Struct() | places.HeaderLiteral():
            return list(base.parts.values())
        case places.Choice():
            return _elements(ctx, base.places[0], node)
    raise ctx.unsupported(node.at, "an index here")


def _element(ctx: Context, base: places.Place, index: int, node: tree.Index) -> places.Place:
    if isinstance(base, places.Choice):
        found = tuple(_element(ctx, each, index, node) for each in base.places)
        return places.Choice(base.index, found)
    elements = _elements(ctx, base, node)
    if not 0 <= index < len(elements):
        raise ctx.diagnostics.fail(node.index.at, f"index {index} is out of range")
    return elements[index]


def _slice(ctx: Context, node: tree.Slice) -> places.Place:
    high = ctx.checked.constants[node.high]
    low = ctx.checked.constants[node.low]
    base = place_of(ctx, node.base)
    if isinstance(base, flat.Field | places.Choice | places.Bits):
        return places.Bits(base, high, low)
    return fold.cut(read_value(ctx, base, node.at), high, low)


# Operators


def _unary(ctx: Context, node: tree.Unary) -> places.Place:
    return fold.unary(node.operator, value_of(ctx, node.operand))


def _binary(ctx: Context, node: tree.Binary) -> places.Place:
    if node.operator in {"&&", "||"}:
        return _logical(ctx, node)
    left, right = _sequence(ctx, [node.left, node.right])
    if node.operator in {"==", "!="}:
        same = _equal(ctx, left, right, node.at)
        return same if node.operator == "==" else fold.unary("!", same)
    first, second = read_value(ctx, left, node.at), read_value(ctx, right, node.at)
    if node.operator == "++":
        return fold.concatenate(first, second)
    return fold.binary(node.operator, first, second, t.base(ctx.type_of(node)))


def _logical(ctx: Context, node: tree.Binary) -> places.Place:
    if not has_effects(ctx, node.right):
        left = value_of(ctx, node.left)
        return fold.binary(node.operator, left, value_of(ctx, node.right), t.BOOL)
    result = ctx.scalar(t.BOOL)
    ctx.later.assign(ctx, result, value_of(ctx, node.left), node.at)
    right = ctx.capture(lambda: ctx.later.assign(ctx, result, value_of(ctx, node.right), node.at))
    if node.operator == "&&":
        ctx.branch(result, right, (), node.at)
    else:
        ctx.branch(result, (), right, node.at)
    return result


def _equal(  # noqa: PLR0911
    ctx: Context, left: places.Place, right: places.Place, at: Position
) -> flat.Value:
    """Return whether two places hold the same."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, places.Choice):
            chosen = [_equal(ctx, each, other, at) for each in one.places]
            return read_value(ctx, places.Choice(one.index, tuple(chosen)), at)
    match left, right:
        case (places.Union(), places.Union()):
            pairs = zip(left.members, right.members, strict=True)
            return fold.join([_equal(ctx, one, other, at) for one, other in pairs])
        case (places.Union(), places.HeaderLiteral()):
            return fold.unary("!", flat.UnionValidity(left.name))
        case (places.HeaderLiteral(), places.Union()):
            return fold.unary("!", flat.UnionValidity(right.name))
    if _is_header(left) or _is_header(right):
        return _equal_headers(ctx, left, right, at)
    if isinstance(left, places.Struct | places.Stack):
        return _equal_parts(ctx, left, right, at)
    if isinstance(left, places.Varbit) and isinstance(right, places.Varbit):
        first = flat.Field(left.header, left.name, left.type)
        second = flat.Field(right.header, right.name, right.type)
        return fold.binary("==", first, second, t.BOOL)
    return fold.binary("==", read_value(ctx, left, at), read_value(ctx, right, at), t.BOOL)


def _is_header(place: places.Place) -> bool:
    return isinstance(place, places.Header | places.HeaderLiteral | places.StackEnd)


def _equal_parts(ctx: Context, left: places.Place, right: places.Place, at: Position) -> flat.Value:
    first, second = _members(left), _members(right)
    return fold.join(
        [_equal(ctx, one, other, at) for one, other in zip(first, second, strict=True)]
    )


def _members(place: places.Place) -> list[places.Place]:
    if isinstance(place, places.Stack):
        return list(place.elements)
    assert isinstance(place, places.Struct)
    return list(place.parts.values())


def _equal_headers(
    ctx: Context, left: places.Place, right: places.Place, at: Position
) -> flat.Value:
    valid_left, valid_right = validity_of(ctx, left, at), validity_of(ctx, right, at)
    type_ = places.type_of(left)
    assert isinstance(type_, t.Record)
    same = fold.join(
        [
            _equal(ctx, member_of(ctx, left, name, at), member_of(ctx, right, name, at), at)
            for name, _ in type_.fields
        ]
        if fold.FALSE not in {valid_left, valid_right}
        else []
    )
    both = fold.join([valid_left, valid_right, same])
    neither = fold.join([fold.unary("!", valid_left), fold.unary("!", valid_right)])
    return fold.binary("||", neither, both, t.BOOL)


def validity_of(ctx: Context, place: places.Place, at: Position) -> flat.Value:
    """Return whether a header or union is valid."""
    match place:
        case places.Header():
            return flat.Validity(place.name)
        case places.Union():
            return flat.UnionValidity(place.name)
        case places.HeaderLiteral():
            return place.valid
        case places.StackEnd(which="last"):
            return fold.TRUE
        case places.Choice():
            found = tuple(validity_of(ctx, each, at) for each in place.places)
            return read_value(ctx, places.Choice(place.index, found), at)
    raise ctx.unsupported(at, "whether this is valid")


def _conditional(ctx: Context, node: tree.Conditional) -> places.Place:
    type_ = ctx.type_of(node)
    simple = t.is_scalar(type_) and not (has_effects(ctx, node.yes) or has_effects(ctx, node.no))
    if simple:
        condition = value_of(ctx, node.condition)
        return fold.choose(condition, value_of(ctx, node.yes), value_of(ctx, node.no))
    result = ctx.temporary(type_)
    condition = value_of(ctx, node.condition)
    yes = ctx.capture(lambda: ctx.later.assign(ctx, result, place_of(ctx, node.yes), node.at))
    no = ctx.capture(lambda: ctx.later.assign(ctx, result, place_of(ctx, node.no), node.at))
    ctx.branch(condition, yes, no, node.at)
    return result


def _cast(ctx: Context, node: tree.Cast) -> places.Place:
    target = t.base(ctx.written(node.type))
    operand = place_of(ctx, node.operand)
    if not t.is_scalar(target):
        return shape_as(ctx, operand, target, node.at)
    return fold.cast(read_value(ctx, operand, node.at), target)


def _call_value(ctx: Context, node: tree.Call) -> places.Place:
    place = ctx.later.lower_call(ctx, node)
    if place is None:
        raise ctx.unsupported(node.at, "a call without a result as a value")
    return place


# Effects


def has_effects(ctx: Context, expression: tree.Expression) -> bool:
    """Tell whether evaluating an expression does more than read."""
    match expression:
        case tree.Call():
            call = ctx.checked.calls.get(expression)
            pure = call is not None and call.kind == "builtin" and call.name == "isValid"
            return not pure
        case tree.Unary() | tree.Cast():
            return has_effects(ctx, expression.operand)
        case tree.Member() | tree.Slice():
            return has_effects(ctx, expression.base)
        case tree.Index():
            return has_effects(ctx, expression.base) or has_effects(ctx, expression.index)
    return any(has_effects(ctx, each) for each in _operands(expression))


def _operands(expression: tree.Expression) -> tuple[tree.Expression, ...]:
    match expression:
        case tree.Binary():
            return (expression.left, expression.right)
        case tree.Conditional():
            return (expression.condition, expression.yes, expression.no)
        case tree.ListExpression():
            return expression.items
        case tree.StructExpression():
            return tuple(value for _, value in expression.fields)
    return ()
