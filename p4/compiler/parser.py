"""The third pass, part three: declarations, and the whole program."""

from collections.abc import Callable

from p4.compiler import tree
from p4.compiler.diagnostics import Abort, Diagnostics, Position
from p4.compiler.lexer import END, Token
from p4.compiler.parse_statements import StatementParser

Rules = dict[str, Callable[[], tree.Declaration]]


def parse(tokens: list[Token], diagnostics: Diagnostics) -> tree.Program:
    """Parse a program. Errors go to `diagnostics`, several if they are apart from each other."""
    return Parser(tokens, diagnostics).program()


class Parser(StatementParser):
    """A program and its declarations."""

    def __init__(self, tokens: list[Token], diagnostics: Diagnostics) -> None:
        super().__init__(tokens, diagnostics)
        self._types: set[str] = set()

    def program(self) -> tree.Program:
        """program: {declaration | ";"}."""
        declarations: list[tree.Declaration] = []
        while self._token.kind != END:
            if self._accept(";"):
                continue
            try:
                declarations.append(self._declaration())
            except Abort:
                self._depth = 0
                self._skip_to(";")
        return tree.Program(Position(self._at.file, 1, 1), tuple(declarations))

    def _declaration(self) -> tree.Declaration:
        annotations = self._annotations()
        token = self._token
        rules: Rules = {
            "const": self._constant,
            "extern": lambda: self._extern(annotations),
            "action": lambda: self._action(annotations),
            "parser": lambda: self._parser(annotations),
            "control": lambda: self._control(annotations),
            "package": lambda: self._package(annotations),
            "struct": lambda: self._composite(annotations),
            "header": lambda: self._composite(annotations),
            "header_union": lambda: self._composite(annotations),
            "enum": lambda: self._enum(annotations),
            "typedef": lambda: self._typedef(annotations),
        }
        if token.text in rules:
            return rules[token.text]()
        if self._is("error", "match_kind") and self._peek().text == "{":
            return self._names()
        if token.text == "type" and self._peek().text not in {"(", "<"}:
            return self._typedef(annotations)
        instance = self._attempt_instance(annotations)
        return instance or self._function(annotations)

    def _declared_type(self) -> Token:
        name = self._identifier("a type's name")
        self._types.add(name.text)
        return name

    # Types

    def _composite(self, annotations: tree.Annotations) -> tree.Composite:
        """composite: ("struct" | "header" | "header_union") name [typeParameters] fields."""
        kind = self._next().text
        name = self._declared_type()
        parameters = self._type_parameters()
        self._expect("{")
        fields: list[tree.Field] = []
        while not self._accept("}"):
            field_annotations = self._annotations()
            written = self._type()
            field = self._identifier("a field's name")
            self._expect(";", " after the field")
            fields.append(tree.Field(field.at, field.text, field_annotations, written))
        return tree.Composite(name.at, name.text, annotations, kind, parameters, tuple(fields))

    def _enum(self, annotations: tree.Annotations) -> tree.Enum:
        """enum: "enum" [type] name "{" name ["=" expression] {"," ...} "}"."""
        self._expect("enum")
        underlying = None
        if self._peek().text != "{":
            underlying = self._type()
        name = self._declared_type()
        return tree.Enum(name.at, name.text, annotations, underlying, self._members())

    def _names(self) -> tree.Names:
        """names: ("error" | "match_kind") "{" name {"," name} "}"."""
        token = self._next()
        return tree.Names(token.at, token.text, (), self._members())

    def _members(self) -> tuple[tree.EnumMember, ...]:
        self._expect("{")
        members: list[tree.EnumMember] = []
        while not self._is("}"):
            annotations = self._annotations()
            name = self._identifier("a member's name")
            value = self._expression() if self._accept("=") else None
            members.append(tree.EnumMember(name.at, name.text, annotations, value))
            if not self._accept(","):
                break
        self._expect("}")
        return tuple(members)

    def _typedef(self, annotations: tree.Annotations) -> tree.Typedef:
        """typedef: ("typedef" | "type") type name ";"."""
        distinct = self._next().text == "type"
        written = self._type()
        name = self._declared_type()
        self._expect(";")
        return tree.Typedef(name.at, name.text, annotations, written, distinct)

    # Externs, functions, packages

    def _extern(self, annotations: tree.Annotations) -> tree.Declaration:
        """extern: "extern" (name [typeParameters] "{" {prototype} "}" | prototype)."""
        self._expect("extern")
        head = self._attempt(self._extern_object_head)
        if head is None:
            prototype = self._prototype(annotations)
            self._expect(";")
            return prototype
        name, parameters = head
        self._types.add(name.text)
        methods: list[tree.Function] = []
        while not self._accept("}"):
            methods.append(self._method(name.text))
        return tree.Extern(name.at, name.text, annotations, parameters, tuple(methods))

    def _extern_object_head(self) -> tuple[Token, tuple[tree.TypeParameter, ...]]:
        name = self._identifier("an extern's name")
        parameters = self._type_parameters()
        self._expect("{")
        return name, parameters

    def _method(self, owner: str) -> tree.Function:
        annotations = self._annotations()
        self._accept("abstract")
        if self._token.text == owner and self._peek().text == "(":
            name = self._next()
            arguments = self._parameters()
            method = tree.Function(name.at, owner, annotations, (), None, arguments, None)
        else:
            method = self._prototype(annotations)
        self._expect(";")
        return method

    def _prototype(self, annotations: tree.Annotations) -> tree.Function:
        """prototype: type name [typeParameters] parameters."""
        known = set(self._types)
        if self._is_identifier() and self._peek().text not in {".", "<"}:
            self._types.add(self._token.text)
        returns = self._type()
        name = self._identifier("a function's name")
        parameters = self._type_parameters()
        arguments = self._parameters()
        self._types = known
        return tree.Function(name.at, name.text, annotations, parameters, returns, arguments, None)

    def _function(self, annotations: tree.Annotations) -> tree.Function:
        """Parse function: prototype block."""
        if not self._is_identifier() and not self._starts_type():
            raise self._fail(f"expected a declaration but found {self._found()}")
        known = set(self._types)
        returns = self._type()
        name = self._identifier("a declaration's name")
        parameters = self._type_parameters()
        if not self._is("("):
            raise self._fail(
                f"expected '(' but found {self._found()}",
                "variables are declared inside controls, parsers and functions only",
            )
        arguments = self._parameters()
        body = self._block()
        self._types = known
        return tree.Function(name.at, name.text, annotations, parameters, returns, arguments, body)

    def _starts_type(self) -> bool:
        return self._is("bit", "int", "bool", "varbit", "void", "error", "string", "tuple", ".")

    def _package(self, annotations: tree.Annotations) -> tree.Package:
        """package: "package" name [typeParameters] parameters ";"."""
        self._expect("package")
        name = self._declared_type()
        known = set(self._types)
        parameters = self._type_parameters()
        arguments = self._parameters()
        self._types = known
        self._expect(";")
        return tree.Package(name.at, name.text, annotations, parameters, arguments)

    # Controls

    def _control(self, annotations: tree.Annotations) -> tree.Control:
        """control: "control" name [typeParameters] parameters [parameters] (body | ";")."""
        self._expect("control")
        name = self._declared_type()
        known = set(self._types)
        parameters = self._type_parameters()
        arguments = self._parameters()
        if self._accept(";"):
            self._types = known
            head = (name.at, name.text, annotations, parameters, arguments)
            return tree.Control(*head, (), (), None)
        constructor = self._parameters() if self._is("(") else ()
        self._expect("{")
        found: list[tree.Statement] = []
        while not (self._is("apply") and self._peek().text in {"{", "@"}):
            self._local(found)
        self._expect("apply")
        body = self._block()
        self._expect("}")
        self._types = known
        head = (name.at, name.text, annotations, parameters, arguments)
        return tree.Control(*head, constructor, tuple(found), body)

    def _local(self, found: list[tree.Statement]) -> None:
        try:
            found.append(self._local_of_block())
        except Abort:
            if self._speculating or self._is("}") or self._token.kind == END:
                raise
            self._depth = 0
            self._skip_to_statement()

    def _local_of_block(self) -> tree.Statement:
        """local: action | table | constant | variable | instance | value set."""
        annotations = self._annotations()
        if self._is("action"):
            return self._action(annotations)
        if self._is("table"):
            return self._table(annotations)
        if self._is("const"):
            return self._constant()
        if self._is("value_set"):
            return self._value_set(annotations)
        declaration = self._local_declaration(annotations)
        if declaration is None:
            raise self._fail(
                f"expected a declaration or 'apply' but found {self._found()}",
                "statements stand inside apply { }, actions and functions",
            )
        return declaration

    def _action(self, annotations: tree.Annotations) -> tree.Action:
        """Parse action: "action" name parameters block."""
        self._expect("action")
        name = self._identifier("an action's name")
        arguments = self._parameters()
        return tree.Action(name.at, name.text, annotations, arguments, self._block())

    # Tables

    def _table(self, annotations: tree.Annotations) -> tree.Table:
        """table: "table" name "{" {property} "}"."""
        self._expect("table")
        name = self._identifier("a table's name")
        self._expect("{")
        keys: tuple[tree.Key, ...] = ()
        actions: tuple[tree.ActionReference, ...] = ()
        seen: set[str] = set()
        entries: tuple[tree.Entry, ...] | None = None
        entries_constant = False
        properties: list[tree.Property] = []
        while not self._accept("}"):
            property_annotations = self._annotations()
            constant = self._accept("const")
            word = self._identifier("a table's property")
            if word.text in seen:
                self._diagnostics.error(word.at, f"a table has but one {word.text!r}")
            seen.add(word.text)
            self._expect("=")
            if word.text == "key":
                keys = self._keys()
            elif word.text == "actions":
                actions = self._action_list()
            elif word.text == "entries":
                entries, entries_constant = self._entries(), constant
            else:
                value = self._expression()
                self._expect(";")
                properties.append(
                    tree.Property(word.at, word.text, value, constant, property_annotations)
                )
        if "actions" not in seen:
            hint = "give it a list: actions = { … }"
            self._diagnostics.error(name.at, f"table {name.text!r} has no actions", hint)
        body = (keys, actions, entries, entries_constant, tuple(properties))
        return tree.Table(name.at, name.text, annotations, *body)

    def _keys(self) -> tuple[tree.Key, ...]:
        """keys: "{" {expression ":" name annotations ";"} "}"."""
        self._expect("{")
        keys: list[tree.Key] = []
        while not self._accept("}"):
            value = self._expression()
            self._expect(":", " and a match kind after the key")
            kind = self._identifier("a match kind")
            annotations = self._annotations()
            self._expect(";")
            keys.append(tree.Key(value.at, value, kind.text, annotations))
        self._accept(";")
        return tuple(keys)

    def _action_list(self) -> tuple[tree.ActionReference, ...]:
        """actions: "{" {annotations name [arguments] ";"} "}"."""
        self._expect("{")
        actions: list[tree.ActionReference] = []
        while not self._accept("}"):
            annotations = self._annotations()
            at = self._at
            call = self._postfix(self._primary())
            self._expect(";")
            actions.append(tree.ActionReference(at, call, annotations))
        self._accept(";")
        return tuple(actions)

    def _entries(self) -> tuple[tree.Entry, ...]:
        """entries: "{" {["const"] ["priority" "=" e ":"] keyset ":" action annotations ";"} "}"."""
        self._expect("{")
        entries: list[tree.Entry] = []
        while not self._accept("}"):
            at = self._at
            constant = self._accept("const")
            priority = None
            if self._token.text == "priority" and self._peek().text == "=":
                self._place += 2
                priority = self._expression()
                self._expect(":")
            keys = self._keyset()
            self._expect(":")
            action = self._postfix(self._primary())
            annotations = self._annotations()
            self._expect(";")
            entries.append(tree.Entry(at, keys, action, priority, constant, annotations))
        self._accept(";")
        return tuple(entries)

    # Parsers

    def _parser(self, annotations: tree.Annotations) -> tree.Parser:
        """parser: "parser" name [typeParameters] parameters [parameters] (body | ";")."""
        self._expect("parser")
        name = self._declared_type()
        known = set(self._types)
        parameters = self._type_parameters()
        head = (name.at, name.text, annotations, parameters, self._parameters())
        if self._accept(";"):
            self._types = known
            return tree.Parser(*head, (), (), None)
        constructor = self._parameters() if self._is("(") else ()
        self._expect("{")
        found: list[tree.Statement] = []
        states: list[tree.State] = []
        while not self._accept("}"):
            if self._starts_state():
                states.append(self._state())
            else:
                self._local(found)
        self._types = known
        return tree.Parser(*head, constructor, tuple(found), tuple(states))

    def _starts_state(self) -> bool:
        place = self._place
        self._annotations()
        result = self._token.text == "state" and self._peek(2).text == "{"
        self._place = place
        return result

    def _state(self) -> tree.State:
        """state: "state" name "{" {statement} [transition] "}"."""
        annotations = self._annotations()
        self._expect("state")
        name = self._identifier("a state's name")
        self._expect("{")
        statements: list[tree.Statement] = []
        while not self._is("transition", "}"):
            if self._token.kind == END:
                raise self._fail("state is never closed")
            self._statement_or_recover(statements)
        at = self._at
        transition: str | tree.Select | None = None
        if self._accept("transition"):
            transition = self._transition()
        self._expect("}")
        body = tuple(statements)
        return tree.State(name.at, name.text, annotations, body, transition, at)

    def _transition(self) -> str | tree.Select:
        """transition: name ";" | "select" "(" keys ")" "{" {keyset ":" name ";"} "}" [";"]."""
        at = self._at
        if not self._accept("select"):
            name = self._identifier("a state's name").text
            self._expect(";")
            return name
        keys = tuple(argument.value for argument in self._call_arguments() if argument.value)
        self._expect("{")
        cases: list[tree.SelectCase] = []
        while not self._accept("}"):
            case_at = self._at
            keyset = self._keyset()
            self._expect(":", " and a state after the keyset")
            state = self._identifier("a state's name").text
            self._expect(";")
            cases.append(tree.SelectCase(case_at, keyset, state))
        self._accept(";")
        return tree.Select(at, keys, tuple(cases))

    def _value_set(self, annotations: tree.Annotations) -> tree.ValueSet:
        """valueSet: "value_set" "<" type ">" "(" expression ")" name ";"."""
        self._expect("value_set")
        self._expect("<")
        written = self._type()
        self._expect(">")
        self._expect("(")
        size = self._expression()
        self._expect(")")
        name = self._identifier("a value set's name")
        self._expect(";")
        return tree.ValueSet(name.at, name.text, annotations, written, size)
