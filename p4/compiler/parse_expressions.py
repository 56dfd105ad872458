"""The third pass, part one: expressions and types, by recursive descent."""

from collections.abc import Callable

from p4.compiler import tree
from p4.compiler.diagnostics import Position
from p4.compiler.lexer import IDENTIFIER, NUMBER, STRING, SYMBOL, Token, number
from p4.compiler.stream import CHAIN_LIMIT, Result, TokenStream

BASE_TYPES = ("bool", "error", "match_kind", "string", "int", "bit", "varbit", "void")

# From the loosest to the tightest; all of them associate to the left.
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("|",),
    ("^",),
    ("&",),
    ("<<", ">>"),
    ("++", "+", "-", "|+|", "|-|"),
    ("*", "/", "%"),
)
_TIGHTNESS = {operator: level for level, group in enumerate(_LEVELS) for operator in group}


class ExpressionParser(TokenStream):
    """Expressions and types. `_types` holds the names of types, which casts depend on."""

    _types: set[str]
    _in_angles = False

    # Types

    def _type(self) -> tree.TypeNode:
        """type: (baseType | tupleType | ["."] name [typeArguments]) ["[" expression "]"]*."""
        result = self._nested(self._plain_type)
        while self._is("["):
            at = self._next().at
            size = self._expression()
            self._expect("]")
            result = tree.StackType(at, result, size)
        return result

    def _plain_type(self) -> tree.TypeNode:
        token = self._token
        if self._is(*BASE_TYPES):
            return self._base_type()
        if self._is("tuple") or (self._is("list") and self._peek().text == "<"):
            self._next()
            return tree.TupleType(token.at, token.text, self._type_arguments())
        if self._accept("_"):
            return tree.AnyType(token.at)
        absolute = self._accept(".")
        name = self._identifier("a type")
        arguments = self._type_arguments() if self._is("<") else ()
        return tree.TypeName(name.at, name.text, arguments, absolute)

    def _base_type(self) -> tree.BaseType:
        """baseType: bool | error | ... | (bit | int | varbit) ["<" e-without-">" ">"]."""
        token = self._next()
        if token.text not in {"bit", "int", "varbit"} or not self._accept("<"):
            return tree.BaseType(token.at, token.text)
        width = self._angled(self._conditional)
        self._expect(">")
        return tree.BaseType(token.at, token.text, width)

    def _angled(self, parse: Callable[[], Result], *, angled: bool = True) -> Result:
        """Parse where a ">" ends what is parsed, or where, inside of brackets, it does not."""
        before, self._in_angles = self._in_angles, angled
        try:
            return parse()
        finally:
            self._in_angles = before

    def _type_arguments(self) -> tuple[tree.TypeNode, ...]:
        """typeArguments: "<" [type {"," type}] ">"."""
        self._expect("<")
        items: list[tree.TypeNode] = []
        while not self._is(">"):
            items.append(self._type())
            if not self._accept(","):
                break
        self._expect(">")
        return tuple(items)

    # Expressions

    def _expression(self) -> tree.Expression:
        """expression: binary {"?" expression ":" binary}."""
        return self._nested(lambda: self._angled(self._conditional, angled=False))

    def _conditional(self) -> tree.Expression:
        """Parse `?:`, which unlike C's goes left: a ? b : c ? d : e is (a ? b : c) ? d : e."""
        result = self._binary(0)
        for _ in range(CHAIN_LIMIT):
            if not self._is("?"):
                return result
            at = self._next().at
            yes = self._expression()
            self._expect(":")
            result = tree.Conditional(at, result, yes, self._binary(0))
        raise self._fail("the expression is too long")

    def _binary(self, tightness: int) -> tree.Expression:
        """binary: unary {operator binary-of-tighter-operators}."""
        left = self._unary()
        for _ in range(CHAIN_LIMIT):
            operator = self._operator()
            level = _TIGHTNESS.get(operator, -1)
            if level < tightness:
                return left
            at = self._at
            self._place += 2 if operator == ">>" else 1
            left = tree.Binary(at, operator, left, self._binary(level + 1))
        raise self._fail("the expression is too long")

    def _operator(self) -> str:
        if self._token.kind != SYMBOL:
            return ""
        if self._token.text == ">":
            if self._in_angles or self._adjacent_shift_assignment():
                return ""
            return ">>" if self._adjacent(">>") else ">"
        return self._token.text

    def _adjacent_shift_assignment(self) -> bool:
        after = self._peek()
        return after.text == ">=" and after.offset == self._token.offset + 1

    def _unary(self) -> tree.Expression:
        """unary: ("!" | "~" | "-" | "+") unary | "(" type ")" unary | postfix."""
        if self._is("!", "~", "-", "+"):
            token = self._next()
            return tree.Unary(token.at, token.text, self._nested(self._unary))
        if self._is("("):
            cast = self._cast()
            if cast is not None:
                return cast
        return self._postfix(self._primary())

    def _type_follows(self) -> bool:
        """Tell whether a type starts after this token, as far as one token says."""
        after = self._peek(2) if self._peek().text == "." else self._peek()
        return after.text in (*BASE_TYPES, "tuple", "_") or after.text in self._types

    def _cast(self) -> tree.Expression | None:
        if not self._type_follows():
            return None
        at = self._at
        target = self._attempt(self._cast_type)
        return None if target is None else tree.Cast(at, target, self._nested(self._unary))

    def _cast_type(self) -> tree.TypeNode:
        self._expect("(")
        result = self._type()
        self._expect(")")
        starts_operand = self._token.kind in {IDENTIFIER, NUMBER, STRING} or self._is(
            "(", "{", "-", "+", "~", "!", "true", "false", ".", "error", "...", "this"
        )
        if not starts_operand:
            raise self._fail("expected an operand of the cast")
        return result

    def _postfix(self, base: tree.Expression) -> tree.Expression:
        """postfix: primary {"." name | "[" e [":" e] "]" | [typeArguments] "(" arguments ")"}."""
        for _ in range(CHAIN_LIMIT):
            token = self._token
            if self._is("."):
                self._next()
                name = self._member_name()
                base = tree.Member(name.at, base, name.text)
            elif self._is("["):
                base = self._subscript(base)
            elif self._is("("):
                base = tree.Call(_start(base, token), base, (), self._call_arguments())
            elif self._is("<") and self._type_follows():
                types = self._attempt(self._call_types)
                if types is None:
                    return base
                base = tree.Call(_start(base, token), base, types, self._call_arguments())
            else:
                return base
        raise self._fail("the expression is too long")

    def _member_name(self) -> Token:
        return self._next() if self._is("apply") else self._identifier("a member's name")

    def _subscript(self, base: tree.Expression) -> tree.Expression:
        at = self._expect("[").at
        first = self._expression()
        if self._accept(":"):
            result: tree.Expression = tree.Slice(at, base, first, self._expression())
        elif self._accept("+:"):
            result = self._slice_by_width(at, base, first)
        else:
            result = tree.Index(at, base, first)
        self._expect("]")
        return result

    def _slice_by_width(
        self, at: Position, base: tree.Expression, low: tree.Expression
    ) -> tree.Slice:
        above = tree.Binary(at, "+", low, self._expression())
        return tree.Slice(at, base, tree.Binary(at, "-", above, tree.Integer(at, 1)), low)

    def _call_types(self) -> tuple[tree.TypeNode, ...]:
        types = self._type_arguments()
        if not self._is("("):
            raise self._fail("expected '('")
        return types

    def _call_arguments(self) -> tuple[tree.Argument, ...]:
        """arguments: "(" [argument {"," argument}] ")"; argument: [name "="] (e | "_")."""
        self._expect("(")
        arguments: list[tree.Argument] = []
        while not self._is(")"):
            at, name = self._at, None
            if self._is_identifier() and self._peek().text == "=":
                name = self._next().text
                self._next()
            value = None if self._accept("_") else self._expression()
            arguments.append(tree.Argument(at, name, value))
            if not self._accept(","):
                break
        self._expect(")")
        return tuple(arguments)

    def _primary(self) -> tree.Expression:  # noqa: PLR0911
        """primary: number | string | true | false | name | "(" e ")" | list | type | "..."."""
        token = self._token
        if token.kind == NUMBER:
            self._next()
            return self._number(token)
        if token.kind == STRING:
            self._next()
            return tree.String(token.at, token.text[1:-1].replace('\\"', '"'))
        if self._accept("true", "false"):
            return tree.Boolean(token.at, token.text == "true")
        if self._accept("..."):
            return tree.DefaultValue(token.at)
        if self._accept("("):
            inner = self._expression()
            self._expect(")")
            return inner
        if self._is("{"):
            return self._braces()
        return self._named()

    def _number(self, token: Token) -> tree.Integer:
        try:
            value, width, signed = number(token.text)
        except ValueError:
            self._place -= 1
            raise self._fail(f"{token.text[:40]!r} is not a number") from None
        return tree.Integer(token.at, value, width, signed)

    def _named(self) -> tree.Expression:
        token = self._token
        if self._is(*BASE_TYPES, "tuple"):
            return tree.TypeReference(token.at, self._type())
        absolute = self._accept(".")
        if self._is_identifier():
            if self._peek().text == "<" and self._token.text in self._types:
                generic = self._attempt(self._generic_type)
                if generic is not None:
                    return tree.TypeReference(token.at, generic)
            name = self._next()
            return tree.Name(name.at, name.text, absolute)
        raise self._fail(f"expected an expression but found {self._found()}")

    def _generic_type(self) -> tree.TypeNode:
        result = self._type()
        if not self._is(".", "("):
            raise self._fail("expected '.' or '('")
        return result

    def _braces(self) -> tree.Expression:
        """list: "{" "#" "}" | "{" [e {"," e}] ["..."] "}" | "{" name "=" e {"," ...} "}"."""
        at = self._expect("{").at
        if self._accept("#"):
            self._expect("}")
            return tree.Invalid(at)
        if self._is_identifier() and self._peek().text == "=":
            return self._struct_fields(at)
        items: list[tree.Expression] = []
        open_ended = False
        while not self._is("}"):
            if self._accept("..."):
                open_ended = True
                break
            items.append(self._expression())
            if not self._accept(","):
                break
        self._expect("}")
        return tree.ListExpression(at, tuple(items), open_ended)

    def _struct_fields(self, at: Position) -> tree.StructExpression:
        fields: list[tuple[str, tree.Expression]] = []
        open_ended = False
        while not self._is("}"):
            if self._accept("..."):
                open_ended = True
                break
            name = self._identifier("a field's name").text
            self._expect("=")
            fields.append((name, self._expression()))
            if not self._accept(","):
                break
        self._expect("}")
        return tree.StructExpression(at, tuple(fields), open_ended)

    # Keysets

    def _keyset(self) -> tuple[tree.Expression, ...]:
        """keyset: "(" simple {"," simple} ")" | simple."""
        if self._is("("):
            several = self._attempt(self._keyset_tuple)
            if several is not None:
                return several
        return (self._simple_keyset(),)

    def _keyset_tuple(self) -> tuple[tree.Expression, ...]:
        self._expect("(")
        keys = [self._simple_keyset()]
        while self._accept(","):
            if self._is(")"):
                break
            keys.append(self._simple_keyset())
        self._expect(")")
        if not self._is(":", ",", "}") and not self._is(*"@"):
            raise self._fail("expected ':'")
        return tuple(keys)

    def _simple_keyset(self) -> tree.Expression:
        """Parse simple: "default" | "_" | e | e "&&&" e | e ".." e."""
        if self._accept("default", "_"):
            return tree.Everything(self._tokens[self._place - 1].at)
        first = self._expression()
        if isinstance(first, tree.ListExpression) and len(first.items) == 1:
            return first.items[0]
        if self._is("&&&", ".."):
            token = self._next()
            return tree.Binary(token.at, token.text, first, self._expression())
        return first


def _start(base: tree.Expression, token: Token) -> Position:
    return base.at if isinstance(base, tree.Name | tree.Member | tree.TypeReference) else token.at
