"""The fourth pass, part two: the types and constant values of expressions."""

from collections.abc import Callable
from typing import Any

from p4.compiler import evaluate, tree
from p4.compiler import types as t
from p4.compiler.check_types import TYPE_DECLARATIONS, TypeChecker
from p4.compiler.diagnostics import Abort

NUMBER_LIMIT = 4096

_COMPARISONS = {"<", ">", "<=", ">="}
SIZES = {
    "minSizeInBits": (False, 1),
    "minSizeInBytes": (False, 8),
    "maxSizeInBits": (True, 1),
    "maxSizeInBytes": (True, 8),
}


class ExpressionChecker(TypeChecker):
    """Types of expressions. `_infer` finds what an expression is, `_check` what it must be."""

    def _call(self, call: tree.Call) -> t.Type:
        raise NotImplementedError

    # Entry points

    def _infer(self, expression: tree.Expression) -> t.Type:
        """Return an expression's type, and note it."""
        handler = _HANDLERS[type(expression)]
        type_ = handler(self, expression)
        self.checked.types[expression] = type_
        return type_

    def _check(self, expression: tree.Expression, expected: t.Type, what: str = "") -> t.Type:
        """Check that an expression can be used where `expected` is wanted, and note its type."""
        return self._coerce(expression, self._infer(expression), expected, what)

    def _check_quietly(self, expression: tree.Expression, expected: t.Type) -> None:
        try:
            self._check(expression, expected)
        except Abort:
            self.checked.types.setdefault(expression, t.ANYTHING)

    def _constant(self, expression: tree.Expression, what: str) -> int:
        """Return the value of an expression that must be known at compile time."""
        if expression not in self.checked.types:
            self._infer(expression)
        value = self.checked.constants.get(expression)
        if value is None:
            raise self._diagnostics.fail(
                expression.at, f"{what} must be known at compile time", "use a constant"
            )
        return value

    # Implicit casts

    def _coerce(
        self, expression: tree.Expression, actual: t.Type, expected: t.Type, what: str = ""
    ) -> t.Type:
        if actual == expected or t.ANYTHING in {actual, expected}:
            return actual
        if self._convert(expression, actual, expected):
            single = isinstance(expected, t.Set) and not isinstance(actual, t.Set)
            self.checked.types[expression] = expected.element if single else expected  # type: ignore[union-attr]
            return expected
        where = f" for {what}" if what else ""
        raise self._diagnostics.fail(
            expression.at, f"expected {expected}{where}, not {actual}", _cast_hint(actual, expected)
        )

    def _convert(self, expression: tree.Expression, actual: t.Type, expected: t.Type) -> bool:  # noqa: PLR0911
        """Tell whether the expression becomes `expected` by itself, casting what is inside."""
        if isinstance(expected, t.Set) and not isinstance(actual, t.Set):
            return self._convert(expression, actual, expected.element) or actual == expected.element
        if isinstance(expected, t.Distinct) and actual not in {t.DEFAULT, t.INTEGER}:
            return False
        if actual == t.INTEGER:
            return self._convert_integer(expression, expected)
        if isinstance(actual, t.Enumeration) and actual.underlying == expected:
            return True
        if isinstance(actual, t.Enumeration) and actual.underlying is not None:
            return False
        if actual == t.INVALID:
            return isinstance(expected, t.Record) and expected.kind != "struct"
        if actual == t.DEFAULT:
            return isinstance(expression, tree.DefaultValue)
        return self._convert_parts(expression, actual, expected)

    def _convert_integer(self, expression: tree.Expression, expected: t.Type) -> bool:
        target = t.base(expected)
        if not isinstance(target, t.Bits) or isinstance(expected, t.Enumeration):
            return False
        value = self.checked.constants.get(expression)
        if value is not None:
            wrapped = t.wrap(value, target)
            if value != wrapped:
                self._diagnostics.warning(
                    expression.at, f"{value} does not fit in {target} and becomes {wrapped}"
                )
            self.checked.constants[expression] = wrapped
        if isinstance(expression, tree.Conditional):
            self._coerce(expression.yes, self.checked.types[expression.yes], expected)
            self._coerce(expression.no, self.checked.types[expression.no], expected)
        return True

    def _convert_parts(self, expression: tree.Expression, actual: t.Type, expected: t.Type) -> bool:
        if isinstance(expression, tree.Conditional) and isinstance(actual, t.Tuple):
            for branch in (expression.yes, expression.no):
                self._coerce(branch, self.checked.types[branch], expected)
            return True
        if isinstance(expression, tree.ListExpression):
            return self._convert_list(expression, expected)
        if isinstance(expression, tree.StructExpression):
            return self._convert_struct(expression, expected)
        if isinstance(actual, t.Set) and isinstance(expected, t.Set):
            return self._convert_set(expression, actual, expected)
        return False

    def _convert_set(self, expression: tree.Expression, actual: t.Set, expected: t.Set) -> bool:
        if actual.element == t.ANYTHING:
            return True
        if isinstance(expression, tree.Binary) and actual.element == t.INTEGER:
            self._coerce(expression.left, t.INTEGER, expected.element)
            self._coerce(expression.right, t.INTEGER, expected.element)
            return True
        under, wanted = actual.element, expected.element
        if isinstance(wanted, t.Enumeration):
            return wanted.underlying == under
        if isinstance(under, t.Record):
            return _parts(under) in {_parts(wanted), (wanted,)}
        return isinstance(under, t.Enumeration) and under.underlying == wanted

    def _convert_list(self, expression: tree.ListExpression, expected: t.Type) -> bool:
        wanted = _parts(expected)
        if wanted is None:
            return False
        given = len(expression.items)
        if given > len(wanted) or (given < len(wanted) and not expression.open_ended):
            raise self._diagnostics.fail(
                expression.at, f"{expected} has {len(wanted)} parts, not {given}"
            )
        for item, type_ in zip(expression.items, wanted, strict=False):
            self._coerce(item, self.checked.types[item], type_)
        return True

    def _convert_struct(self, expression: tree.StructExpression, expected: t.Type) -> bool:
        if not isinstance(expected, t.Record) or expected.kind == "header_union":
            return False
        names = [name for name, _ in expected.fields]
        given = [name for name, _ in expression.fields]
        for name, value in expression.fields:
            type_ = expected.field(name)
            if type_ is None:
                raise self._unknown(f"field of {expected}", name, value.at, names)
            self._coerce(value, self.checked.types[value], type_, f"field {name!r}")
        missing = [name for name in names if name not in given]
        if missing and not expression.open_ended:
            raise self._diagnostics.fail(
                expression.at, f"{expected} needs a value for {missing[0]!r}"
            )
        if len(set(given)) < len(given):
            raise self._diagnostics.fail(expression.at, "a field is given twice")
        return True

    # Literals and names

    def _note(self, expression: tree.Expression, value: int | None) -> None:
        if value is None:
            return
        if value.bit_length() > NUMBER_LIMIT:
            raise self._diagnostics.fail(
                expression.at, f"this number has more than {NUMBER_LIMIT} bits"
            )
        self.checked.constants[expression] = value

    def _integer(self, node: tree.Integer) -> t.Type:
        if node.width is None:
            self._note(node, node.value)
            return t.INTEGER
        type_ = t.Bits(node.width, node.signed)
        if node.width <= 0:
            self._note(node, 0)
            return type_
        if not t.fits(node.value, type_):
            self._diagnostics.warning(
                node.at, f"{node.value} does not fit in {type_} and loses its upper bits"
            )
        self._note(node, t.wrap(node.value, type_))
        return type_

    def _boolean(self, node: tree.Boolean) -> t.Type:
        self._note(node, int(node.value))
        return t.BOOL

    def _name(self, node: tree.Name) -> t.Type:
        found = self._find(node.name, node.at, absolute=node.absolute)
        declaration = found[0]
        self.checked.references[node] = declaration
        if declaration in self.checked.declared and not isinstance(declaration, TYPE_DECLARATIONS):
            if isinstance(declaration, tree.Constant):
                self._note(node, self.checked.constants.get(declaration.value))
            return self.checked.declared[declaration]
        if isinstance(declaration, TYPE_DECLARATIONS):
            return t.Named("type", node.name)
        what = type(declaration).__name__.lower()
        return t.Named(what, node.name)

    def _type_reference(self, node: tree.TypeReference) -> t.Type:
        return t.Named("type", str(self._resolve(node.type)))

    def _denoted_type(self, node: tree.Expression) -> t.Type | None:
        """Return the type that an expression names, None if it is a value."""
        if isinstance(node, tree.TypeReference):
            return self._resolve(node.type)
        if isinstance(node, tree.Name):
            found = (self._global if node.absolute else self._scope).find(node.name)
            if found and isinstance(found[0], TYPE_DECLARATIONS):
                reference = tree.TypeName(node.at, node.name, (), node.absolute)
                return self._resolve(reference)
        return None

    # Members, indices, slices

    def _member(self, node: tree.Member) -> t.Type:
        denoted = self._denoted_type(node.base)
        if denoted is not None:
            self.checked.types[node.base] = t.Named("type", str(denoted))
            return self._type_member(node, denoted)
        type_ = self._infer(node.base)
        match type_:
            case t.Record():
                return self._field(node, type_)
            case t.Stack():
                return self._stack_member(node, type_)
            case t.Applied() if node.name in {"hit", "miss"}:
                return t.BOOL
            case t.Applied() if node.name == "action_run":
                return t.ActionRun(type_.table)
            case t.Simple(name="any type"):
                return t.ANYTHING
        raise self._diagnostics.fail(node.at, f"{type_} has no member {node.name!r}")

    def _type_member(self, node: tree.Member, denoted: t.Type) -> t.Type:
        if denoted == t.ERROR:
            if node.name not in self.checked.errors:
                raise self._unknown("error", node.name, node.at, list(self.checked.errors))
            self._note(node, self.checked.errors[node.name])
            return t.ERROR
        if isinstance(denoted, t.Enumeration):
            if node.name not in denoted.members:
                raise self._unknown(
                    f"member of {denoted}", node.name, node.at, list(denoted.members)
                )
            place = denoted.members.index(node.name)
            self._note(node, denoted.values[place] if denoted.underlying else place)
            return denoted
        raise self._diagnostics.fail(node.at, f"type {denoted} has no member {node.name!r}")

    def _field(self, node: tree.Member, record: t.Record) -> t.Type:
        type_ = record.field(node.name)
        if type_ is None:
            raise self._unknown(
                f"field of {record}", node.name, node.at, [name for name, _ in record.fields]
            )
        return type_

    def _stack_member(self, node: tree.Member, stack: t.Stack) -> t.Type:
        if node.name in {"next", "last", "lastIndex"} and self._context != "parser":
            raise self._diagnostics.fail(node.at, f"{node.name} of a stack is for parsers only")
        if node.name in {"next", "last"}:
            return stack.element
        if node.name == "size":
            self._note(node, stack.size)
            return t.Bits(32)
        if node.name == "lastIndex":
            return t.Bits(32)
        raise self._unknown(
            "member of a stack", node.name, node.at, ["next", "last", "lastIndex", "size"]
        )

    def _index(self, node: tree.Index) -> t.Type:
        type_ = self._infer(node.base)
        index = self._infer(node.index)
        if isinstance(type_, t.Tuple):
            place = self._constant(node.index, "a tuple's index")
            if not 0 <= place < len(type_.items):
                raise self._diagnostics.fail(node.index.at, f"{type_} has no item {place}")
            return type_.items[place]
        if type_ == t.ANYTHING:
            return type_
        if not isinstance(type_, t.Stack):
            raise self._diagnostics.fail(node.at, f"{type_} cannot be indexed")
        value = self.checked.constants.get(node.index)
        if index == t.INTEGER and value is not None:
            self._coerce(node.index, index, t.Bits(32))
        elif not isinstance(t.base(index), t.Bits):
            raise self._diagnostics.fail(node.index.at, f"an index is a number, not {index}")
        if value is not None and not 0 <= value < type_.size:
            raise self._diagnostics.fail(
                node.index.at, f"index {value} is outside a stack of {type_.size}"
            )
        return type_.element

    def _slice(self, node: tree.Slice) -> t.Type:
        type_ = self._infer(node.base)
        high = self._bound(node.high)
        low = self._bound(node.low)
        bits = t.base(type_)
        if bits == t.INTEGER:
            bits = t.Bits(max(high + 1, 1))
        if not isinstance(bits, t.Bits):
            raise self._diagnostics.fail(node.at, f"{type_} has no bits to slice")
        if not 0 <= low <= high < bits.width:
            raise self._diagnostics.fail(
                node.at, f"[{high}:{low}] is not a slice of {bits}", "write [high:low]"
            )
        result = t.Bits(high - low + 1)
        value = self.checked.constants.get(node.base)
        self._note(node, None if value is None else t.wrap(value >> low, result))
        return result

    def _bound(self, node: tree.Expression) -> int:
        self._infer(node)
        return self._constant(node, "a slice's bound")

    # Operators

    def _unary(self, node: tree.Unary) -> t.Type:
        type_ = self._infer(node.operand)
        if node.operator == "!":
            if type_ not in {t.BOOL, t.ANYTHING}:
                raise self._diagnostics.fail(node.at, f"! takes a bool, not {type_}")
        elif not self._is_number(type_) or (node.operator == "~" and type_ == t.INTEGER):
            raise self._diagnostics.fail(node.at, f"{node.operator} does not take {type_}")
        if isinstance(type_, t.Enumeration):
            type_ = t.base(type_)
        value = self.checked.constants.get(node.operand)
        if value is not None:
            self._note(node, evaluate.unary(node.operator, value, type_))
        return type_

    @staticmethod
    def _is_number(type_: t.Type) -> bool:
        return isinstance(t.base(type_), t.Bits) or type_ in {t.INTEGER, t.ANYTHING}

    def _binary(self, node: tree.Binary) -> t.Type:  # noqa: PLR0911
        left = self._infer(node.left)
        right = self._infer(node.right)
        if t.ANYTHING in {left, right}:
            return (
                t.BOOL if node.operator in _COMPARISONS | {"==", "!=", "&&", "||"} else t.ANYTHING
            )
        if node.operator in {"&&", "||"}:
            return self._logical(node, left, right)
        if node.operator in {"<<", ">>"}:
            return self._shift(node, left, right)
        if node.operator == "++":
            return self._concatenation(node, left, right)
        if node.operator in {"==", "!="}:
            return self._equality(node, left, right)
        if node.operator in {"&&&", ".."}:
            return t.Set(self._unify_operands(node, left, right))
        return self._arithmetic(node, left, right)

    def _unify_operands(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        """Give both operands one type."""
        if isinstance(left, t.Enumeration) and (left != right or node.operator not in {"==", "!="}):
            left = self._underlying(node.left, left)
        if isinstance(right, t.Enumeration) and left != right:
            right = self._underlying(node.right, right)
        if left == right:
            return left
        if left == t.INTEGER and self._is_number(right):
            return self._coerce_distinct(node.left, left, right)
        if right == t.INTEGER and self._is_number(left):
            return self._coerce_distinct(node.right, right, left)
        raise self._diagnostics.fail(
            node.at,
            f"{node.operator} takes two operands of one type, not {left} and {right}",
            _cast_hint(right, left),
        )

    def _coerce_distinct(
        self, expression: tree.Expression, actual: t.Type, expected: t.Type
    ) -> t.Type:
        self._coerce(expression, actual, t.base(expected))
        self.checked.types[expression] = expected
        return expected

    def _underlying(self, expression: tree.Expression, type_: t.Enumeration) -> t.Type:
        if type_.underlying is None:
            return type_
        self.checked.types[expression] = type_.underlying
        return type_.underlying

    def _fold(self, node: tree.Binary, type_: t.Type) -> None:
        left = self.checked.constants.get(node.left)
        right = self.checked.constants.get(node.right)
        if left is None or right is None:
            return
        self._note(node, evaluate.binary(node.operator, left, right, type_))

    def _logical(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        for operand, type_ in ((node.left, left), (node.right, right)):
            if type_ != t.BOOL:
                raise self._diagnostics.fail(operand.at, f"{node.operator} takes bool, not {type_}")
        self._fold(node, t.BOOL)
        return t.BOOL

    def _shift(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        left = self._underlying(node.left, left) if isinstance(left, t.Enumeration) else left
        amount = self.checked.constants.get(node.right)
        bits = t.base(right)
        if not self._is_number(left) or not self._is_number(right):
            raise self._diagnostics.fail(
                node.at, f"{node.operator} does not take {left} and {right}"
            )
        if amount is not None and amount < 0:
            raise self._diagnostics.fail(node.right.at, "a shift by a negative amount")
        shifted = t.base(left)
        if isinstance(shifted, t.Bits) and amount is not None and amount >= shifted.width:
            self._diagnostics.warning(node.at, f"a shift by {amount} leaves nothing of {left}")
        if isinstance(bits, t.Bits) and bits.signed and amount is None:
            raise self._diagnostics.fail(
                node.right.at, "a shift's amount must be unsigned", "cast it to bit<…>"
            )
        if left == t.INTEGER and amount is None:
            raise self._diagnostics.fail(
                node.left.at,
                "the width of the shifted number is unknown",
                "write it with a width, as in 32w1",
            )
        self._fold(node, left)
        return left

    def _concatenation(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        first, second = t.base(left), t.base(right)
        if not isinstance(first, t.Bits) or not isinstance(second, t.Bits):
            raise self._diagnostics.fail(
                node.at,
                f"++ takes numbers of known width, not {left} and {right}",
                "write literals with a width, as in 8w1",
            )
        result = t.Bits(first.width + second.width, first.signed)
        upper = self.checked.constants.get(node.left)
        lower = self.checked.constants.get(node.right)
        if upper is not None and lower is not None:
            self._note(node, evaluate.concatenate(upper, lower, second.width, result))
        return result

    def _equality(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        parts = (tree.ListExpression, tree.StructExpression, tree.Invalid)
        if isinstance(node.left, parts) and not isinstance(node.right, parts):
            self._coerce(node.left, left, right)
        elif isinstance(node.right, parts) and not isinstance(node.left, parts):
            self._coerce(node.right, right, left)
        elif left != right:
            self._unify_operands(node, left, right)
        if not _comparable(self.checked.types[node.left]):
            raise self._diagnostics.fail(node.at, f"{left} cannot be compared")
        self._fold(node, t.BOOL)
        return t.BOOL

    def _arithmetic(self, node: tree.Binary, left: t.Type, right: t.Type) -> t.Type:
        if node.operator in {"/", "%"}:
            self._check_division(node, (left, right))
        type_ = self._unify_operands(node, left, right)
        bits = t.base(type_)
        saturating = node.operator in {"|+|", "|-|"}
        if not self._is_number(type_) or (saturating and not isinstance(bits, t.Bits)):
            raise self._diagnostics.fail(node.at, f"{node.operator} does not take {left}")
        self._fold(node, type_)
        return t.BOOL if node.operator in _COMPARISONS else type_

    def _check_division(self, node: tree.Binary, types: tuple[t.Type, t.Type]) -> None:
        for operand, type_ in zip((node.left, node.right), types, strict=True):
            bits = t.base(type_)
            if isinstance(bits, t.Bits) and bits.signed:
                raise self._diagnostics.fail(
                    node.at, f"{node.operator} does not take signed numbers", "cast them to bit<…>"
                )
            if self.checked.constants.get(operand, 0) < 0:
                raise self._diagnostics.fail(
                    operand.at, f"{node.operator} does not take negative numbers"
                )
        if self.checked.constants.get(node.right) == 0:
            raise self._diagnostics.fail(node.right.at, "division by zero")

    def _conditional(self, node: tree.Conditional) -> t.Type:
        self._check(node.condition, t.BOOL, "a condition")
        yes = self._infer(node.yes)
        no = self._infer(node.no)
        pair = tree.Binary(node.at, "?:", node.yes, node.no)
        type_ = self._branches(pair, yes, no)
        choice = self.checked.constants.get(node.condition)
        if choice is not None:
            branch = node.yes if choice else node.no
            self._note(node, self.checked.constants.get(branch))
        return type_

    def _branches(self, pair: tree.Binary, yes: t.Type, no: t.Type) -> t.Type:
        literal = (tree.ListExpression, tree.StructExpression, tree.Invalid, tree.DefaultValue)
        if isinstance(pair.left, literal) and not isinstance(pair.right, literal):
            return self._coerce(pair.left, yes, no)
        if isinstance(pair.right, literal):
            return self._coerce(pair.right, no, yes)
        if yes == no or t.ANYTHING in {yes, no}:
            return yes
        return self._unify_operands(pair, yes, no)

    def _cast(self, node: tree.Cast) -> t.Type:
        target = self._resolve(node.type)
        source = self._infer(node.operand)
        if source == target or t.ANYTHING in {source, target}:
            self._note(node, self.checked.constants.get(node.operand))
            return target
        value = self.checked.constants.get(node.operand)
        if _castable(source, target, value):
            if value is not None and isinstance(t.base(target), t.Bits | t.Simple):
                self._note(node, evaluate.cast(value, source, target))
            return target
        if self._convert(node.operand, source, target):
            self.checked.types[node.operand] = target
            return target
        raise self._diagnostics.fail(
            node.at, f"cannot cast {source} to {target}", _indirect_cast(source, target)
        )

    # Lists

    def _list(self, node: tree.ListExpression) -> t.Type:
        return t.Tuple(tuple(self._infer(item) for item in node.items))

    def _struct(self, node: tree.StructExpression) -> t.Type:
        fields = tuple((name, self._infer(value)) for name, value in node.fields)
        return t.Record("struct", "a struct without a name", fields)

    # L-values

    def _check_writable(self, node: tree.Expression) -> None:
        """Complain about an expression that cannot be assigned to."""
        place = node
        while isinstance(place, tree.Member | tree.Index | tree.Slice):
            place = place.base
        declaration = self.checked.references.get(place)
        if isinstance(declaration, tree.Variable):
            return
        if isinstance(declaration, tree.Parameter):
            if declaration.direction in {"out", "inout"}:
                return
            kind = declaration.direction or "directionless"
            raise self._diagnostics.fail(
                node.at,
                f"{declaration.name!r} is read-only: it is a parameter with direction {kind}"
                if declaration.direction
                else f"{declaration.name!r} is read-only: it is a parameter without a direction",
                "declare it inout, or copy it to a variable",
            )
        if isinstance(declaration, tree.Constant):
            raise self._diagnostics.fail(node.at, f"{declaration.name!r} is a constant")
        raise self._diagnostics.fail(node.at, "this cannot be assigned to")


_HANDLERS: dict[type, Callable[[Any, Any], t.Type]] = {
    tree.Integer: ExpressionChecker._integer,  # noqa: SLF001
    tree.Boolean: ExpressionChecker._boolean,  # noqa: SLF001
    tree.String: lambda _self, _node: t.STRING,
    tree.Name: ExpressionChecker._name,  # noqa: SLF001
    tree.TypeReference: ExpressionChecker._type_reference,  # noqa: SLF001
    tree.Member: ExpressionChecker._member,  # noqa: SLF001
    tree.Index: ExpressionChecker._index,  # noqa: SLF001
    tree.Slice: ExpressionChecker._slice,  # noqa: SLF001
    tree.Unary: ExpressionChecker._unary,  # noqa: SLF001
    tree.Binary: ExpressionChecker._binary,  # noqa: SLF001
    tree.Conditional: ExpressionChecker._conditional,  # noqa: SLF001
    tree.Cast: ExpressionChecker._cast,  # noqa: SLF001
    tree.Call: lambda self, node: self._call(node),
    tree.ListExpression: ExpressionChecker._list,  # noqa: SLF001
    tree.StructExpression: ExpressionChecker._struct,  # noqa: SLF001
    tree.Invalid: lambda _self, _node: t.INVALID,
    tree.DefaultValue: lambda _self, _node: t.DEFAULT,
    tree.Everything: lambda _self, _node: t.Set(t.ANYTHING),
}


def _parts(type_: t.Type) -> tuple[t.Type, ...] | None:
    match type_:
        case t.Tuple():
            return type_.items
        case t.Record() if type_.kind != "header_union":
            return tuple(part for _, part in type_.fields)
        case t.Stack():
            return (type_.element,) * type_.size
    return None


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


def _cast_hint(actual: t.Type, expected: t.Type) -> str:
    if isinstance(t.base(actual), t.Bits) and isinstance(t.base(expected), t.Bits):
        return _indirect_cast(actual, expected) or f"cast it: ({expected})"
    if actual == t.BOOL and expected == t.Bits(1):
        return "cast it: (bit<1>)"
    if expected == t.BOOL and isinstance(t.base(actual), t.Bits):
        return "compare it, as in != 0"
    return ""


def _indirect_cast(source: t.Type, target: t.Type) -> str:
    first, second = t.base(source), t.base(target)
    if not isinstance(first, t.Bits) or not isinstance(second, t.Bits):
        return ""
    if first.signed == second.signed or first.width == second.width:
        return ""
    return f"cast in two steps: ({target})({t.Bits(first.width, second.signed)})"
