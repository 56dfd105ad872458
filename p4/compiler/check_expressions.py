"""The fourth pass, part four: the types and constant values of expressions."""

from p4.compiler import evaluate, tree
from p4.compiler import types as t
from p4.compiler.check_casts import cast_hint, coerce, convert, indirect_cast
from p4.compiler.check_context import Context
from p4.compiler.check_types import TYPE_DECLARATIONS, resolve_type
from p4.compiler.diagnostics import Abort

NUMBER_LIMIT = 4096

_COMPARISONS = {"<", ">", "<=", ">="}
SIZES = {
    "minSizeInBits": (False, 1),
    "minSizeInBytes": (False, 8),
    "maxSizeInBits": (True, 1),
    "maxSizeInBytes": (True, 8),
}


# Entry points


def infer(ctx: Context, expression: tree.Expression) -> t.Type:
    """Return an expression's type, and note it."""
    type_ = _type_of(ctx, expression)
    ctx.checked.types[expression] = type_
    return type_


def _type_of(ctx: Context, node: tree.Expression) -> t.Type:  # noqa: C901, PLR0911, PLR0912
    match node:
        case tree.Integer():
            return _integer(ctx, node)
        case tree.Boolean():
            return _boolean(ctx, node)
        case tree.String():
            return t.STRING
        case tree.Name():
            return _name(ctx, node)
        case tree.TypeReference():
            return t.Named("type", str(resolve_type(ctx, node.type)))
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
            return ctx.later.check_call(ctx, node)
        case tree.ListExpression():
            return t.Tuple(tuple(infer(ctx, item) for item in node.items))
        case tree.StructExpression():
            return _struct(ctx, node)
        case tree.Invalid():
            return t.INVALID
        case tree.DefaultValue():
            return t.DEFAULT
        case tree.Everything():
            return t.Set(t.ANYTHING)
    raise AssertionError(node)


def check_as(ctx: Context, expression: tree.Expression, expected: t.Type, what: str = "") -> t.Type:
    """Check that an expression can be used where `expected` is wanted, and note its type."""
    return coerce(ctx, expression, infer(ctx, expression), expected, what)


def check_quietly(ctx: Context, expression: tree.Expression, expected: t.Type) -> None:
    """Check an expression, going on after it if it is wrong."""
    try:
        check_as(ctx, expression, expected)
    except Abort:
        ctx.checked.types.setdefault(expression, t.ANYTHING)


def constant_of(ctx: Context, expression: tree.Expression, what: str) -> int:
    """Return the value of an expression that must be known at compile time."""
    if expression not in ctx.checked.types:
        infer(ctx, expression)
    value = ctx.checked.constants.get(expression)
    if value is None:
        raise ctx.diagnostics.fail(
            expression.at, f"{what} must be known at compile time", "use a constant"
        )
    return value


# Literals and names


def note(ctx: Context, expression: tree.Expression, value: int | None) -> None:
    """Note the value of an expression that is known at compile time."""
    if value is None:
        return
    if value.bit_length() > NUMBER_LIMIT:
        raise ctx.diagnostics.fail(expression.at, f"this number has more than {NUMBER_LIMIT} bits")
    ctx.checked.constants[expression] = value


def _integer(ctx: Context, node: tree.Integer) -> t.Type:
    if node.width is None:
        note(ctx, node, node.value)
        return t.INTEGER
    type_ = t.Bits(node.width, node.signed)
    if node.width <= 0:
        note(ctx, node, 0)
        return type_
    if node.width > NUMBER_LIMIT:
        raise ctx.diagnostics.fail(node.at, f"this number has more than {NUMBER_LIMIT} bits")
    if not t.fits(node.value, type_):
        ctx.diagnostics.warning(
            node.at, f"{node.value} does not fit in {type_} and loses its upper bits"
        )
    note(ctx, node, t.wrap(node.value, type_))
    return type_


def _boolean(ctx: Context, node: tree.Boolean) -> t.Type:
    note(ctx, node, int(node.value))
    return t.BOOL


def _name(ctx: Context, node: tree.Name) -> t.Type:
    found = ctx.find(node.name, node.at, absolute=node.absolute)
    declaration = found[0]
    ctx.checked.references[node] = declaration
    if declaration in ctx.checked.declared and not isinstance(declaration, TYPE_DECLARATIONS):
        if isinstance(declaration, tree.Constant):
            note(ctx, node, ctx.checked.constants.get(declaration.value))
        return ctx.checked.declared[declaration]
    if isinstance(declaration, TYPE_DECLARATIONS):
        return t.Named("type", node.name)
    what = type(declaration).__name__.lower()
    return t.Named(what, node.name)


def denoted_type(ctx: Context, node: tree.Expression) -> t.Type | None:
    """Return the type that an expression names, None if it is a value."""
    if isinstance(node, tree.TypeReference):
        return resolve_type(ctx, node.type)
    if isinstance(node, tree.Name):
        found = (ctx.global_scope if node.absolute else ctx.scope).find(node.name)
        if found and isinstance(found[0], TYPE_DECLARATIONS):
            reference = tree.TypeName(node.at, node.name, (), node.absolute)
            return resolve_type(ctx, reference)
    return None


# Members, indices, slices


def _member(ctx: Context, node: tree.Member) -> t.Type:
    denoted = denoted_type(ctx, node.base)
    if denoted is not None:
        ctx.checked.types[node.base] = t.Named("type", str(denoted))
        return _type_member(ctx, node, denoted)
    type_ = infer(ctx, node.base)
    match type_:
        case t.Record():
            return _field(ctx, node, type_)
        case t.Stack():
            return _stack_member(ctx, node, type_)
        case t.Applied() if node.name in {"hit", "miss"}:
            return t.BOOL
        case t.Applied() if node.name == "action_run":
            return t.ActionRun(type_.table)
        case t.Simple(name="any type"):
            return t.ANYTHING
    raise ctx.diagnostics.fail(node.at, f"{type_} has no member {node.name!r}")


def _type_member(ctx: Context, node: tree.Member, denoted: t.Type) -> t.Type:
    if denoted == t.ERROR:
        if node.name not in ctx.checked.errors:
            raise ctx.unknown("error", node.name, node.at, list(ctx.checked.errors))
        note(ctx, node, ctx.checked.errors[node.name])
        return t.ERROR
    if isinstance(denoted, t.Enumeration):
        if node.name not in denoted.members:
            raise ctx.unknown(f"member of {denoted}", node.name, node.at, list(denoted.members))
        place = denoted.members.index(node.name)
        note(ctx, node, denoted.values[place] if denoted.underlying else place)
        return denoted
    raise ctx.diagnostics.fail(node.at, f"type {denoted} has no member {node.name!r}")


def _field(ctx: Context, node: tree.Member, record: t.Record) -> t.Type:
    type_ = record.field(node.name)
    if type_ is None:
        raise ctx.unknown(
            f"field of {record}", node.name, node.at, [name for name, _ in record.fields]
        )
    return type_


def _stack_member(ctx: Context, node: tree.Member, stack: t.Stack) -> t.Type:
    if node.name in {"next", "last", "lastIndex"} and ctx.where != "parser":
        raise ctx.diagnostics.fail(node.at, f"{node.name} of a stack is for parsers only")
    if node.name in {"next", "last"}:
        return stack.element
    if node.name == "size":
        note(ctx, node, stack.size)
        return t.Bits(32)
    if node.name == "lastIndex":
        return t.Bits(32)
    raise ctx.unknown(
        "member of a stack", node.name, node.at, ["next", "last", "lastIndex", "size"]
    )


def _index(ctx: Context, node: tree.Index) -> t.Type:
    type_ = infer(ctx, node.base)
    index = infer(ctx, node.index)
    if isinstance(type_, t.Tuple):
        place = constant_of(ctx, node.index, "a tuple's index")
        if not 0 <= place < len(type_.items):
            raise ctx.diagnostics.fail(node.index.at, f"{type_} has no item {place}")
        return type_.items[place]
    if type_ == t.ANYTHING:
        return type_
    if not isinstance(type_, t.Stack):
        raise ctx.diagnostics.fail(node.at, f"{type_} cannot be indexed")
    value = ctx.checked.constants.get(node.index)
    if index == t.INTEGER and value is not None:
        coerce(ctx, node.index, index, t.Bits(32))
    elif not isinstance(t.base(index), t.Bits):
        raise ctx.diagnostics.fail(node.index.at, f"an index is a number, not {index}")
    if value is not None and not 0 <= value < type_.size:
        raise ctx.diagnostics.fail(
            node.index.at, f"index {value} is outside a stack of {type_.size}"
        )
    return type_.element


def _slice(ctx: Context, node: tree.Slice) -> t.Type:
    type_ = infer(ctx, node.base)
    high = _bound(ctx, node.high)
    low = _bound(ctx, node.low)
    bits = t.base(type_)
    if bits == t.INTEGER:
        bits = t.Bits(max(high + 1, 1))
    if not isinstance(bits, t.Bits):
        raise ctx.diagnostics.fail(node.at, f"{type_} has no bits to slice")
    if not 0 <= low <= high < bits.width:
        raise ctx.diagnostics.fail(
            node.at, f"[{high}:{low}] is not a slice of {bits}", "write [high:low]"
        )
    result = t.Bits(high - low + 1)
    value = ctx.checked.constants.get(node.base)
    note(ctx, node, None if value is None else t.wrap(value >> low, result))
    return result


def _bound(ctx: Context, node: tree.Expression) -> int:
    infer(ctx, node)
    return constant_of(ctx, node, "a slice's bound")


# Operators


def _unary(ctx: Context, node: tree.Unary) -> t.Type:
    type_ = infer(ctx, node.operand)
    if node.operator == "!":
        if type_ not in {t.BOOL, t.ANYTHING}:
            raise ctx.diagnostics.fail(node.at, f"! takes a bool, not {type_}")
    elif not _is_number(type_) or (node.operator == "~" and type_ == t.INTEGER):
        raise ctx.diagnostics.fail(node.at, f"{node.operator} does not take {type_}")
    if isinstance(type_, t.Enumeration):
        type_ = t.base(type_)
    value = ctx.checked.constants.get(node.operand)
    if value is not None:
        note(ctx, node, evaluate.unary(node.operator, value, type_))
    return type_


def _counts(type_: t.Type) -> bool:
    """Tell whether one can calculate with a type; one made by `type` is only compared."""
    return _is_number(type_) and not isinstance(type_, t.Distinct)


def _is_number(type_: t.Type) -> bool:
    return isinstance(t.base(type_), t.Bits) or type_ in {t.INTEGER, t.ANYTHING}


def _binary(ctx: Context, node: tree.Binary) -> t.Type:  # noqa: PLR0911
    left = infer(ctx, node.left)
    right = infer(ctx, node.right)
    if t.ANYTHING in {left, right}:
        return t.BOOL if node.operator in _COMPARISONS | {"==", "!=", "&&", "||"} else t.ANYTHING
    if node.operator in {"&&", "||"}:
        return _logical(ctx, node, left, right)
    if node.operator in {"<<", ">>"}:
        return _shift(ctx, node, left, right)
    if node.operator == "++":
        return _concatenation(ctx, node, left, right)
    if node.operator in {"==", "!="}:
        return _equality(ctx, node, left, right)
    if node.operator in {"&&&", ".."}:
        return t.Set(_unify_operands(ctx, node, left, right))
    return _arithmetic(ctx, node, left, right)


def _unify_operands(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    """Give both operands one type."""
    if isinstance(left, t.Enumeration) and (left != right or node.operator not in {"==", "!="}):
        left = _underlying(ctx, node.left, left)
    if isinstance(right, t.Enumeration) and left != right:
        right = _underlying(ctx, node.right, right)
    if left == right:
        return left
    if left == t.INTEGER and _is_number(right):
        return _coerce_distinct(ctx, node.left, left, right)
    if right == t.INTEGER and _is_number(left):
        return _coerce_distinct(ctx, node.right, right, left)
    raise ctx.diagnostics.fail(
        node.at,
        f"{node.operator} takes two operands of one type, not {left} and {right}",
        cast_hint(right, left),
    )


def _coerce_distinct(
    ctx: Context, expression: tree.Expression, actual: t.Type, expected: t.Type
) -> t.Type:
    coerce(ctx, expression, actual, t.base(expected))
    ctx.checked.types[expression] = expected
    return expected


def _underlying(ctx: Context, expression: tree.Expression, type_: t.Enumeration) -> t.Type:
    if type_.underlying is None:
        return type_
    ctx.checked.types[expression] = type_.underlying
    return type_.underlying


def _fold(ctx: Context, node: tree.Binary, type_: t.Type) -> None:
    left = ctx.checked.constants.get(node.left)
    right = ctx.checked.constants.get(node.right)
    if left is None or right is None:
        return
    note(ctx, node, evaluate.binary(node.operator, left, right, type_))


def _logical(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    for operand, type_ in ((node.left, left), (node.right, right)):
        if type_ != t.BOOL:
            raise ctx.diagnostics.fail(operand.at, f"{node.operator} takes bool, not {type_}")
    _fold(ctx, node, t.BOOL)
    return t.BOOL


def _shift(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    left = _underlying(ctx, node.left, left) if isinstance(left, t.Enumeration) else left
    amount = ctx.checked.constants.get(node.right)
    bits = t.base(right)
    if not _counts(left) or not _counts(right):
        raise ctx.diagnostics.fail(node.at, f"{node.operator} does not take {left} and {right}")
    if amount is not None and amount < 0:
        raise ctx.diagnostics.fail(node.right.at, "a shift by a negative amount")
    shifted = t.base(left)
    if isinstance(shifted, t.Bits) and amount is not None and amount >= shifted.width:
        ctx.diagnostics.warning(node.at, f"a shift by {amount} leaves nothing of {left}")
    if isinstance(bits, t.Bits) and bits.signed and amount is None:
        raise ctx.diagnostics.fail(
            node.right.at, "a shift's amount must be unsigned", "cast it to bit<…>"
        )
    if left == t.INTEGER and amount is None:
        raise ctx.diagnostics.fail(
            node.left.at,
            "the width of the shifted number is unknown",
            "write it with a width, as in 32w1",
        )
    _fold(ctx, node, left)
    return left


def _concatenation(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    first, second = t.base(left), t.base(right)
    if not isinstance(first, t.Bits) or not isinstance(second, t.Bits):
        raise ctx.diagnostics.fail(
            node.at,
            f"++ takes numbers of known width, not {left} and {right}",
            "write literals with a width, as in 8w1",
        )
    result = t.Bits(first.width + second.width, first.signed)
    upper = ctx.checked.constants.get(node.left)
    lower = ctx.checked.constants.get(node.right)
    if upper is not None and lower is not None:
        note(ctx, node, evaluate.concatenate(upper, lower, second.width, result))
    return result


def _equality(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    parts = (tree.ListExpression, tree.StructExpression, tree.Invalid)
    if isinstance(node.left, parts) and not isinstance(node.right, parts):
        coerce(ctx, node.left, left, right)
    elif isinstance(node.right, parts) and not isinstance(node.left, parts):
        coerce(ctx, node.right, right, left)
    elif left != right:
        _unify_operands(ctx, node, left, right)
    if not _comparable(ctx.checked.types[node.left]):
        raise ctx.diagnostics.fail(node.at, f"{left} cannot be compared")
    _fold(ctx, node, t.BOOL)
    return t.BOOL


def _arithmetic(ctx: Context, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
    if node.operator in {"/", "%"}:
        _check_division(ctx, node, (left, right))
    type_ = _unify_operands(ctx, node, left, right)
    bits = t.base(type_)
    saturating = node.operator in {"|+|", "|-|"}
    if not _counts(type_) or (saturating and not isinstance(bits, t.Bits)):
        raise ctx.diagnostics.fail(node.at, f"{node.operator} does not take {left}")
    _fold(ctx, node, type_)
    return t.BOOL if node.operator in _COMPARISONS else type_


def _check_division(ctx: Context, node: tree.Binary, types: tuple[t.Type, t.Type]) -> None:
    for operand, type_ in zip((node.left, node.right), types, strict=True):
        bits = t.base(type_)
        if isinstance(bits, t.Bits) and bits.signed:
            raise ctx.diagnostics.fail(
                node.at, f"{node.operator} does not take signed numbers", "cast them to bit<…>"
            )
        if ctx.checked.constants.get(operand, 0) < 0:
            raise ctx.diagnostics.fail(
                operand.at, f"{node.operator} does not take negative numbers"
            )
    if ctx.checked.constants.get(node.right) == 0:
        raise ctx.diagnostics.fail(node.right.at, "division by zero")


def _conditional(ctx: Context, node: tree.Conditional) -> t.Type:
    check_as(ctx, node.condition, t.BOOL, "a condition")
    yes = infer(ctx, node.yes)
    no = infer(ctx, node.no)
    pair = tree.Binary(node.at, "?:", node.yes, node.no)
    type_ = _branches(ctx, pair, yes, no)
    choice = ctx.checked.constants.get(node.condition)
    if choice is not None:
        branch = node.yes if choice else node.no
        note(ctx, node, ctx.checked.constants.get(branch))
    return type_


def _branches(ctx: Context, pair: tree.Binary, yes: t.Type, no: t.Type) -> t.Type:
    literal = (tree.ListExpression, tree.StructExpression, tree.Invalid, tree.DefaultValue)
    if isinstance(pair.left, literal) and not isinstance(pair.right, literal):
        return coerce(ctx, pair.left, yes, no)
    if isinstance(pair.right, literal):
        return coerce(ctx, pair.right, no, yes)
    if yes == no or t.ANYTHING in {yes, no}:
        return yes
    return _unify_operands(ctx, pair, yes, no)


def _cast(ctx: Context, node: tree.Cast) -> t.Type:
    target = resolve_type(ctx, node.type)
    source = infer(ctx, node.operand)
    if source == target or t.ANYTHING in {source, target}:
        note(ctx, node, ctx.checked.constants.get(node.operand))
        return target
    value = ctx.checked.constants.get(node.operand)
    if _castable(source, target, value):
        if value is not None and isinstance(t.base(target), t.Bits | t.Simple):
            note(ctx, node, evaluate.cast(value, source, target))
        return target
    if convert(ctx, node.operand, source, target):
        ctx.checked.types[node.operand] = target
        return target
    raise ctx.diagnostics.fail(
        node.at, f"cannot cast {source} to {target}", indirect_cast(source, target)
    )


# Lists


def _struct(ctx: Context, node: tree.StructExpression) -> t.Type:
    fields = tuple((name, infer(ctx, value)) for name, value in node.fields)
    return t.Record("struct", "a struct without a name", fields)


# L-values


def check_writable(ctx: Context, node: tree.Expression) -> None:
    """Complain about an expression that cannot be assigned to."""
    place = node
    while isinstance(place, tree.Member | tree.Index | tree.Slice):
        place = place.base
    declaration = ctx.checked.references.get(place)
    if isinstance(declaration, tree.Variable):
        return
    if isinstance(declaration, tree.Parameter):
        if declaration.direction in {"out", "inout"}:
            return
        kind = declaration.direction or "directionless"
        raise ctx.diagnostics.fail(
            node.at,
            f"{declaration.name!r} is read-only: it is a parameter with direction {kind}"
            if declaration.direction
            else f"{declaration.name!r} is read-only: it is a parameter without a direction",
            "declare it inout, or copy it to a variable",
        )
    if isinstance(declaration, tree.Constant):
        raise ctx.diagnostics.fail(node.at, f"{declaration.name!r} is a constant")
    raise ctx.diagnostics.fail(node.at, "this cannot be assigned to")


def _comparable(type_: t.Type) -> bool:
    return not isinstance(type_, t.Named | t.Object | t.Applied | t.ActionRun | t.Set)


def _castable(source: t.Type, target: t.Type, value: int | None) -> bool:
    """Tell whether an explicit cast goes from one type to the other."""
    distinct = isinstance(source, t.Distinct) or isinstance(target, t.Distinct)
    if distinct and t.base(source) == t.base(target):
        return True
    first, second = t.base(source), t.base(target)
    if isinstance(second, t.Bits):
        if isinstance(first, t.Bits):
            same = first.signed == second.signed or first.width == second.width
            return same or first.width == second.width
        return first == t.INTEGER or (first == t.BOOL and second == t.Bits(1))
    if second == t.BOOL:
        return first == t.Bits(1) or (first == t.INTEGER and value in {0, 1})
    return second == t.INTEGER and isinstance(first, t.Bits) and value is not None
