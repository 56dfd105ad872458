"""The fourth pass, part three: what an expression becomes where another type is wanted."""

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_context import Context


def coerce(
    ctx: Context, expression: tree.Expression, actual: t.Type, expected: t.Type, what: str = ""
) -> t.Type:
    """Check that a type can be used where `expected` is wanted, noting the cast."""
    if actual == expected or t.ANYTHING in {actual, expected}:
        return actual
    if convert(ctx, expression, actual, expected):
        single = isinstance(expected, t.Set) and not isinstance(actual, t.Set)
        ctx.checked.types[expression] = expected.element if single else expected  # type: ignore[union-attr]
        return expected
    where = f" for {what}" if what else ""
    raise ctx.diagnostics.fail(
        expression.at, f"expected {expected}{where}, not {actual}", cast_hint(actual, expected)
    )


def convert(ctx: Context, expression: tree.Expression, actual: t.Type, expected: t.Type) -> bool:  # noqa: PLR0911
    """Tell whether the expression becomes `expected` by itself, casting what is inside."""
    if isinstance(expected, t.Set) and not isinstance(actual, t.Set):
        return convert(ctx, expression, actual, expected.element) or actual == expected.element
    if isinstance(expected, t.Distinct) and actual not in {t.DEFAULT, t.INTEGER}:
        return False
    if actual == t.INTEGER:
        return _convert_integer(ctx, expression, expected)
    if isinstance(actual, t.Enumeration) and actual.underlying == expected:
        return True
    if isinstance(actual, t.Enumeration) and actual.underlying is not None:
        return False
    if actual == t.INVALID:
        return isinstance(expected, t.Record) and expected.kind != "struct"
    if actual == t.DEFAULT:
        return isinstance(expression, tree.DefaultValue)
    return _convert_parts(ctx, expression, actual, expected)


def _convert_integer(ctx: Context, expression: tree.Expression, expected: t.Type) -> bool:
    target = t.base(expected)
    if not isinstance(target, t.Bits) or isinstance(expected, t.Enumeration):
        return False
    value = ctx.checked.constants.get(expression)
    if value is not None:
        wrapped = t.wrap(value, target)
        if value != wrapped:
            ctx.diagnostics.warning(
                expression.at, f"{value} does not fit in {target} and becomes {wrapped}"
            )
        ctx.checked.constants[expression] = wrapped
    if isinstance(expression, tree.Conditional):
        coerce(ctx, expression.yes, ctx.checked.types[expression.yes], expected)
        coerce(ctx, expression.no, ctx.checked.types[expression.no], expected)
    return True


def _convert_parts(
    ctx: Context, expression: tree.Expression, actual: t.Type, expected: t.Type
) -> bool:
    if isinstance(expression, tree.Conditional) and isinstance(actual, t.Tuple):
        for branch in (expression.yes, expression.no):
            coerce(ctx, branch, ctx.checked.types[branch], expected)
        return True
    if isinstance(expression, tree.ListExpression):
        return _convert_list(ctx, expression, expected)
    if isinstance(expression, tree.StructExpression):
        return _convert_struct(ctx, expression, expected)
    if isinstance(actual, t.Set) and isinstance(expected, t.Set):
        return _convert_set(ctx, expression, actual, expected)
    return False


def _convert_set(ctx: Context, expression: tree.Expression, actual: t.Set, expected: t.Set) -> bool:
    if actual.element == t.ANYTHING:
        return True
    if isinstance(expression, tree.Binary) and actual.element == t.INTEGER:
        coerce(ctx, expression.left, t.INTEGER, expected.element)
        coerce(ctx, expression.right, t.INTEGER, expected.element)
        return True
    under, wanted = actual.element, expected.element
    if isinstance(wanted, t.Enumeration):
        return wanted.underlying == under
    if isinstance(under, t.Record):
        return _parts(under) in {_parts(wanted), (wanted,)}
    return isinstance(under, t.Enumeration) and under.underlying == wanted


def _convert_list(ctx: Context, expression: tree.ListExpression, expected: t.Type) -> bool:
    wanted = _parts(expected)
    if wanted is None:
        return False
    given = len(expression.items)
    if given > len(wanted) or (given < len(wanted) and not expression.open_ended):
        raise ctx.diagnostics.fail(
            expression.at, f"{expected} has {len(wanted)} parts, not {given}"
        )
    for item, type_ in zip(expression.items, wanted, strict=False):
        coerce(ctx, item, ctx.checked.types[item], type_)
    return True


def _convert_struct(ctx: Context, expression: tree.StructExpression, expected: t.Type) -> bool:
    if not isinstance(expected, t.Record) or expected.kind == "header_union":
        return False
    names = [name for name, _ in expected.fields]
    given = [name for name, _ in expression.fields]
    for name, value in expression.fields:
        type_ = expected.field(name)
        if type_ is None:
            raise ctx.unknown(f"field of {expected}", name, value.at, names)
        coerce(ctx, value, ctx.checked.types[value], type_, f"field {name!r}")
    missing = [name for name in names if name not in given]
    if missing and not expression.open_ended:
        raise ctx.diagnostics.fail(expression.at, f"{expected} needs a value for {missing[0]!r}")
    if len(set(given)) < len(given):
        raise ctx.diagnostics.fail(expression.at, "a field is given twice")
    return True


def _parts(type_: t.Type) -> tuple[t.Type, ...] | None:
    match type_:
        case t.Tuple():
            return type_.items
        case t.Record() if type_.kind != "header_union":
            return tuple(part for _, part in type_.fields)
        case t.Stack():
            return (type_.element,) * type_.size
    return None


def cast_hint(actual: t.Type, expected: t.Type) -> str:
    """Return what to write instead of a cast that does not happen by itself."""
    if isinstance(t.base(actual), t.Bits) and isinstance(t.base(expected), t.Bits):
        return indirect_cast(actual, expected) or f"cast it: ({expected})"
    if actual == t.BOOL and expected == t.Bits(1):
        return "cast it: (bit<1>)"
    if expected == t.BOOL and isinstance(t.base(actual), t.Bits):
        return "compare it, as in != 0"
    return ""


def indirect_cast(source: t.Type, target: t.Type) -> str:
    """Return how to cast in two steps where one is not allowed."""
    first, second = t.base(source), t.base(target)
    if not isinstance(first, t.Bits) or not isinstance(second, t.Bits):
        return ""
    if first.signed == second.signed or first.width == second.width:
        return ""
    return f"cast in two steps: ({target})({t.Bits(first.width, second.signed)})"
