"""The fifth pass, part two: expressions to places and values.

Whatever an expression does besides having a value is emitted as code before its use; operands
that later code could change are saved first.
"""

from collections.abc import Callable
from typing import Any

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_base import LowerBase
from p4.compiler.storage import field_of


class ExpressionLowering(LowerBase):
    """Expressions."""

    def _call(self, call: tree.Call) -> places.Place | None:
        raise NotImplementedError

    # Entry points

    def _place(self, expression: tree.Expression) -> places.Place:
        """Return what an expression stands for, with its implicit cast done."""
        type_ = self._type(expression)
        constant = self._checked.constants.get(expression)
        if constant is not None and t.is_scalar(type_):
            return fold.number(constant, type_)
        return self._shaped(_HANDLERS[type(expression)](self, expression), type_, expression.at)

    def _value(self, expression: tree.Expression) -> flat.Value:
        """Return an expression's value, which must be one number."""
        return self._read(self._place(expression), expression.at)

    def _read(self, place: places.Place, at: Position) -> flat.Value:
        """Return the number that a place holds."""
        match place:
            case places.Choice():
                values = [self._read(each, at) for each in place.places]
                result = values[-1]
                for index in range(len(values) - 2, -1, -1):
                    here = fold.number(index, place.index.type)
                    condition = fold.binary("==", place.index, here, t.BOOL)
                    result = fold.choose(condition, values[index], result)
                return result
            case places.Bits():
                return fold.cut(self._read(place.place, at), place.high, place.low)
            case places.Struct() | places.Header() | places.HeaderLiteral() | places.Union():
                pass
            case places.Stack() | places.StackEnd() | places.Varbit() | places.Object():
                pass
            case flat.Text():
                pass
            case _:
                return place
        raise self._unsupported(at, f"a value of type {places.type_of(place)} here")

    def _shaped(self, place: places.Place, type_: t.Type, at: Position) -> places.Place:
        """Give a literal the type that its context wants of it."""
        wanted = t.base(type_)
        if isinstance(place, places.Struct | places.HeaderLiteral):
            if isinstance(wanted, t.Record | t.Tuple | t.Stack) and place.type != wanted:
                return self._reshape(place, wanted, at)
            return place
        if isinstance(place, flat.Number) and place.type == t.INTEGER and t.is_scalar(wanted):
            return fold.number(place.value, wanted)
        return place

    def _reshape(
        self, literal: places.Struct | places.HeaderLiteral, wanted: t.Type, at: Position
    ) -> places.Place:
        given = list(literal.parts.values())
        if isinstance(wanted, t.Tuple):
            named = {str(index): part for index, part in enumerate(given)}
            return places.Struct(wanted, named)
        if isinstance(wanted, t.Stack):
            return places.Struct(literal.type, literal.parts)
        assert isinstance(wanted, t.Record)
        if wanted.kind == "header_union":
            raise self._unsupported(at, "a header union from a list")
        parts: dict[str, places.Place] = {}
        by_name = isinstance(literal.type, t.Record)
        for index, (name, part) in enumerate(wanted.fields):
            value = literal.parts.get(name) if by_name else literal.parts.get(str(index))
            if value is None:
                value = self._default(part, at)
            parts[name] = self._shaped(value, part, at)
        if wanted.kind == "header":
            return places.HeaderLiteral(wanted, fold.TRUE, parts)
        return places.Struct(wanted, parts)

    def _default(self, type_: t.Type, at: Position) -> places.Place:
        """Return the default value of a type, which `...` stands for."""
        inner = t.base(type_)
        match inner:
            case t.Record(kind="struct"):
                parts = {name: self._default(part, at) for name, part in inner.fields}
                return places.Struct(inner, parts)
            case t.Tuple():
                items = {str(n): self._default(part, at) for n, part in enumerate(inner.items)}
                return places.Struct(inner, items)
            case t.Record():
                return places.HeaderLiteral(inner, fold.FALSE, {})
            case t.Stack():
                items = {str(n): self._default(inner.element, at) for n in range(inner.size)}
                return places.Struct(t.Tuple((inner.element,) * inner.size), items)
        if t.is_scalar(inner):
            return fold.number(0, inner)
        raise self._unsupported(at, f"the default value of {type_}")

    # Names and literals

    def _constant_expression(self, node: tree.Expression) -> places.Place:
        constant = self._checked.constants.get(node)
        assert constant is not None
        return flat.Number(constant, self._type(node))

    def _string(self, node: tree.String) -> places.Place:
        return flat.Text(node.value)

    def _name(self, node: tree.Name) -> places.Place:
        declaration = self._checked.references.get(node)
        assert declaration is not None
        place = self._frame.find(declaration)
        if place is not None:
            return place
        if isinstance(declaration, tree.Constant):
            return self._place(declaration.value)
        raise self._unsupported(node.at, f"{node.name!r} as a value here")

    def _list(self, node: tree.ListExpression) -> places.Place:
        items = self._sequence(list(node.items))
        parts = {str(index): item for index, item in enumerate(items)}
        type_ = t.Tuple(tuple(places.type_of(item) for item in items))
        return places.Struct(type_, parts)

    def _struct(self, node: tree.StructExpression) -> places.Place:
        items = self._sequence([value for _, value in node.fields])
        names = [name for name, _ in node.fields]
        parts = dict(zip(names, items, strict=True))
        fields = tuple((name, places.type_of(item)) for name, item in parts.items())
        return places.Struct(t.Record("struct", "", fields), parts)

    def _sequence(self, expressions: list[tree.Expression]) -> list[places.Place]:
        """Evaluate from left to right; what later ones may change is saved."""
        result: list[places.Place] = []
        effects = [self._has_effects(each) for each in expressions]
        for index, expression in enumerate(expressions):
            place = self._place(expression)
            if any(effects[index + 1 :]):
                place = self._kept(place, expression.at)
            result.append(place)
        return result

    def _kept(self, place: places.Place, at: Position) -> places.Place:
        """Return a copy of what a place holds now."""
        match place:
            case flat.Number() | flat.RuntimeData() | flat.Text() | places.Object():
                return place
            case places.Struct() if not place.parts:
                return place
        type_ = places.type_of(place)
        copy = self._temporary(type_)
        self._assign(copy, place, at)
        return copy

    def _invalid(self, node: tree.Invalid) -> places.Place:
        type_ = t.base(self._type(node))
        if not isinstance(type_, t.Record):
            type_ = t.Record("header", "an invalid header", ())
        return places.HeaderLiteral(type_, fold.FALSE, {})

    def _default_value(self, node: tree.DefaultValue) -> places.Place:
        return self._default(self._type(node), node.at)

    # Members and indices

    def _member(self, node: tree.Member) -> places.Place:
        applied = self._checked.types.get(node.base)
        if isinstance(applied, t.Applied):
            return self._applied_member(node)
        return self._member_of(self._place(node.base), node.name, node.at)

    def _applied_member(self, node: tree.Member) -> places.Place:
        raise NotImplementedError

    def _member_of(  # noqa: PLR0911
        self, base: places.Place, name: str, at: Position
    ) -> places.Place:
        match base:
            case places.Struct() | places.HeaderLiteral() if name in base.parts:
                return base.parts[name]
            case places.HeaderLiteral():
                type_ = base.type.field(name)
                return self._default(type_ or t.Bits(1), at)
            case places.Header():
                type_ = base.type.field(name)
                assert type_ is not None
                return field_of(base.name, name, type_)
            case places.Union():
                names = [key for key, _ in base.type.fields]
                return base.members[names.index(name)]
            case places.Choice():
                found = tuple(self._member_of(each, name, at) for each in base.places)
                return places.Choice(base.index, found)
            case places.Stack():
                return self._stack_member(base, name)
            case places.StackEnd():
                return self._stack_end_member(base, name, at)
        raise self._unsupported(at, f"member {name!r} here")

    def _stack_member(self, stack: places.Stack, name: str) -> places.Place:
        element = stack.type.element
        assert isinstance(element, t.Record)
        if name == "size":
            return fold.number(stack.type.size, t.Bits(32))
        if name == "lastIndex":
            union = element.kind == "header_union"
            return flat.LastIndex(stack.name, "header_union_stack" if union else "header_stack")
        return places.StackEnd(stack, name, None, element)

    def _stack_end_member(self, base: places.StackEnd, name: str, at: Position) -> places.Place:
        type_ = base.type.field(name)
        assert type_ is not None
        if base.type.kind == "header_union":
            assert isinstance(type_, t.Record)
            return places.StackEnd(base.stack, base.which, name, type_)
        if base.which == "next":
            raise self._unsupported(at, "reading a stack's next element", "extract into it first")
        if not t.is_scalar(type_):
            raise self._unsupported(at, f"a field of type {type_} of a stack's last element")
        return flat.StackTop(base.stack.name, base.member, name, t.base(type_))

    def _index(self, node: tree.Index) -> places.Place:
        base = self._place(node.base)
        index = self._value(node.index)
        if isinstance(index, flat.Number) and not isinstance(base, places.Choice):
            return self._element(base, index.value, node)
        index = self._save(index, node.at)
        size = len(self._elements(base, node))
        choices = tuple(self._element(base, place, node) for place in range(size))
        return places.Choice(index, choices)

    def _elements(self, base: places.Place, node: tree.Index) -> list[places.Place]:
        match base:
            case places.Stack():
                return list(base.elements)
            case places.Struct() | places.HeaderLiteral():
                return list(base.parts.values())
            case places.Choice():
                return self._elements(base.places[0], node)
        raise self._unsupported(node.at, "an index here")

    def _element(self, base: places.Place, index: int, node: tree.Index) -> places.Place:
        if isinstance(base, places.Choice):
            found = tuple(self._element(each, index, node) for each in base.places)
            return places.Choice(base.index, found)
        elements = self._elements(base, node)
        if not 0 <= index < len(elements):
            raise self._diagnostics.fail(node.index.at, f"index {index} is out of range")
        return elements[index]

    def _slice(self, node: tree.Slice) -> places.Place:
        high = self._checked.constants[node.high]
        low = self._checked.constants[node.low]
        base = self._place(node.base)
        if isinstance(base, flat.Field | places.Choice | places.Bits):
            return places.Bits(base, high, low)
        return fold.cut(self._read(base, node.at), high, low)

    # Operators

    def _unary(self, node: tree.Unary) -> places.Place:
        return fold.unary(node.operator, self._value(node.operand))

    def _binary(self, node: tree.Binary) -> places.Place:
        if node.operator in {"&&", "||"}:
            return self._logical(node)
        left, right = self._sequence([node.left, node.right])
        if node.operator in {"==", "!="}:
            same = self._equal(left, right, node.at)
            return same if node.operator == "==" else fold.unary("!", same)
        first, second = self._read(left, node.at), self._read(right, node.at)
        if node.operator == "++":
            return fold.concatenate(first, second)
        return fold.binary(node.operator, first, second, t.base(self._type(node)))

    def _logical(self, node: tree.Binary) -> places.Place:
        if not self._has_effects(node.right):
            left = self._value(node.left)
            return fold.binary(node.operator, left, self._value(node.right), t.BOOL)
        result = self._scalar(t.BOOL)
        self._assign(result, self._value(node.left), node.at)
        right = self._capture(lambda: self._assign(result, self._value(node.right), node.at))
        if node.operator == "&&":
            self._if(result, right, (), node.at)
        else:
            self._if(result, (), right, node.at)
        return result

    def _equal(  # noqa: PLR0911
        self, left: places.Place, right: places.Place, at: Position
    ) -> flat.Value:
        """Return whether two places hold the same."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, places.Choice):
                chosen = [self._equal(each, other, at) for each in one.places]
                return self._read(places.Choice(one.index, tuple(chosen)), at)
        match left, right:
            case (places.Union(), places.Union()):
                pairs = zip(left.members, right.members, strict=True)
                return fold.join([self._equal(one, other, at) for one, other in pairs])
            case (places.Union(), places.HeaderLiteral()):
                return fold.unary("!", flat.UnionValidity(left.name))
            case (places.HeaderLiteral(), places.Union()):
                return fold.unary("!", flat.UnionValidity(right.name))
        if self._is_header(left) or self._is_header(right):
            return self._equal_headers(left, right, at)
        if isinstance(left, places.Struct | places.Stack):
            return self._equal_parts(left, right, at)
        if isinstance(left, places.Varbit) and isinstance(right, places.Varbit):
            first = flat.Field(left.header, left.name, left.type)
            second = flat.Field(right.header, right.name, right.type)
            return fold.binary("==", first, second, t.BOOL)
        return fold.binary("==", self._read(left, at), self._read(right, at), t.BOOL)

    @staticmethod
    def _is_header(place: places.Place) -> bool:
        return isinstance(place, places.Header | places.HeaderLiteral | places.StackEnd)

    def _equal_parts(self, left: places.Place, right: places.Place, at: Position) -> flat.Value:
        first, second = self._members(left), self._members(right)
        return fold.join(
            [self._equal(one, other, at) for one, other in zip(first, second, strict=True)]
        )

    @staticmethod
    def _members(place: places.Place) -> list[places.Place]:
        if isinstance(place, places.Stack):
            return list(place.elements)
        assert isinstance(place, places.Struct)
        return list(place.parts.values())

    def _equal_headers(self, left: places.Place, right: places.Place, at: Position) -> flat.Value:
        valid_left, valid_right = self._validity(left, at), self._validity(right, at)
        type_ = places.type_of(left)
        assert isinstance(type_, t.Record)
        same = fold.join(
            [
                self._equal(self._member_of(left, name, at), self._member_of(right, name, at), at)
                for name, _ in type_.fields
            ]
            if fold.FALSE not in {valid_left, valid_right}
            else []
        )
        both = fold.join([valid_left, valid_right, same])
        neither = fold.join([fold.unary("!", valid_left), fold.unary("!", valid_right)])
        return fold.binary("||", neither, both, t.BOOL)

    def _validity(self, place: places.Place, at: Position) -> flat.Value:
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
                found = tuple(self._validity(each, at) for each in place.places)
                return self._read(places.Choice(place.index, found), at)
        raise self._unsupported(at, "whether this is valid")

    def _conditional(self, node: tree.Conditional) -> places.Place:
        type_ = self._type(node)
        simple = t.is_scalar(type_) and not (
            self._has_effects(node.yes) or self._has_effects(node.no)
        )
        if simple:
            condition = self._value(node.condition)
            return fold.choose(condition, self._value(node.yes), self._value(node.no))
        result = self._temporary(type_)
        condition = self._value(node.condition)
        yes = self._capture(lambda: self._assign(result, self._place(node.yes), node.at))
        no = self._capture(lambda: self._assign(result, self._place(node.no), node.at))
        self._if(condition, yes, no, node.at)
        return result

    def _cast(self, node: tree.Cast) -> places.Place:
        target = t.base(self._written(node.type))
        operand = self._place(node.operand)
        if not t.is_scalar(target):
            return self._shaped(operand, target, node.at)
        return fold.cast(self._read(operand, node.at), target)

    def _call_value(self, node: tree.Call) -> places.Place:
        place = self._call(node)
        if place is None:
            raise self._unsupported(node.at, "a call without a result as a value")
        return place

    # Effects

    def _has_effects(self, expression: tree.Expression) -> bool:
        """Tell whether evaluating an expression does more than read."""
        match expression:
            case tree.Call():
                call = self._checked.calls.get(expression)
                pure = call is not None and call.kind == "builtin" and call.name == "isValid"
                return not pure
            case tree.Unary() | tree.Cast():
                return self._has_effects(expression.operand)
            case tree.Member() | tree.Slice():
                return self._has_effects(expression.base)
            case tree.Index():
                return self._has_effects(expression.base) or self._has_effects(expression.index)
        return any(self._has_effects(each) for each in _operands(expression))


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


_HANDLERS: dict[type, Callable[[Any, Any], places.Place]] = {
    tree.Integer: ExpressionLowering._constant_expression,  # noqa: SLF001
    tree.Boolean: ExpressionLowering._constant_expression,  # noqa: SLF001
    tree.String: ExpressionLowering._string,  # noqa: SLF001
    tree.Name: ExpressionLowering._name,  # noqa: SLF001
    tree.TypeReference: ExpressionLowering._constant_expression,  # noqa: SLF001
    tree.Member: ExpressionLowering._member,  # noqa: SLF001
    tree.Index: ExpressionLowering._index,  # noqa: SLF001
    tree.Slice: ExpressionLowering._slice,  # noqa: SLF001
    tree.Unary: ExpressionLowering._unary,  # noqa: SLF001
    tree.Binary: ExpressionLowering._binary,  # noqa: SLF001
    tree.Conditional: ExpressionLowering._conditional,  # noqa: SLF001
    tree.Cast: ExpressionLowering._cast,  # noqa: SLF001
    tree.Call: ExpressionLowering._call_value,  # noqa: SLF001
    tree.ListExpression: ExpressionLowering._list,  # noqa: SLF001
    tree.StructExpression: ExpressionLowering._struct,  # noqa: SLF001
    tree.Invalid: ExpressionLowering._invalid,  # noqa: SLF001
    tree.DefaultValue: ExpressionLowering._default_value,  # noqa: SLF001
    tree.Everything: ExpressionLowering._default_value,  # noqa: SLF001
}
