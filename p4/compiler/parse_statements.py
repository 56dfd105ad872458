"""The third pass, part two: statements and the declarations that stand among them."""

from collections.abc import Callable

from p4.compiler import tree
from p4.compiler.diagnostics import Abort, Position
from p4.compiler.lexer import END, NUMBER, STRING, Token, number
from p4.compiler.parse_expressions import BASE_TYPES, ExpressionParser

_ASSIGNMENTS = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", "|+|=", "|-|=", "++=")


Rules = dict[str, Callable[[], tree.Statement]]


class StatementParser(ExpressionParser):
    """Statements, annotations, parameters, constants, variables and instances."""

    # Annotations and parameters

    def _annotations(self) -> tree.Annotations:
        """annotations: {"@" name ["(" tokens ")" | "[" tokens "]"]}."""
        found: list[tree.Annotation] = []
        while self._accept("@"):
            name = self._next()
            arguments: tuple[str | int, ...] = ()
            if self._is("(", "["):
                arguments = self._annotation_body()
            found.append(tree.Annotation(name.at, name.text, arguments))
        return tuple(found)

    def _annotation_body(self) -> tuple[str | int, ...]:
        arguments: list[str | int] = []
        depth = 0
        while True:
            token = self._next()
            if token.kind == END:
                raise self._fail("annotation is never closed")
            if token.kind == STRING:
                arguments.append(token.text[1:-1])
            elif token.kind == NUMBER:
                arguments.append(number(token.text)[0])
            elif token.text in {"(", "[", "{"}:
                depth += 1
            elif token.text in {")", "]", "}"}:
                depth -= 1
                if depth == 0:
                    return tuple(arguments)
            elif token.text != ",":
                arguments.append(token.text)

    def _type_parameters(self) -> tuple[tree.TypeParameter, ...]:
        """typeParameters: ["<" name {"," name} ">"]."""
        if not self._accept("<"):
            return ()
        found: list[tree.TypeParameter] = []
        while not self._is(">"):
            token = self._identifier("a type parameter")
            self._types.add(token.text)
            found.append(tree.TypeParameter(token.at, token.text, ()))
            if not self._accept(","):
                break
        self._expect(">")
        return tuple(found)

    def _parameters(self) -> tuple[tree.Parameter, ...]:
        """parameters: "(" [parameter {"," parameter}] ")"."""
        self._expect("(")
        found: list[tree.Parameter] = []
        while not self._is(")"):
            found.append(self._parameter())
            if not self._accept(","):
                break
        self._expect(")")
        return tuple(found)

    def _parameter(self) -> tree.Parameter:
        """parameter: annotations ["in" | "out" | "inout"] type name ["=" expression]."""
        annotations = self._annotations()
        direction = self._next().text if self._is("in", "out", "inout") else ""
        written = self._type()
        name = self._identifier("a parameter's name")
        default = self._expression() if self._accept("=") else None
        return tree.Parameter(name.at, name.text, annotations, direction, written, default)

    # Statements

    def _block(self) -> tree.Block:
        """block: annotations "{" {statement | declaration} "}"."""
        self._annotations()
        at = self._expect("{").at
        statements: list[tree.Statement] = []
        while not self._is("}"):
            if self._token.kind == END:
                raise self._fail("block is never closed", f"its '{{' stands on line {at.line}")
            self._statement_or_recover(statements)
        self._expect("}")
        return tree.Block(at, tuple(statements))

    def _statement_or_recover(self, statements: list[tree.Statement]) -> None:
        place = self._place
        try:
            statement = self._nested(self._statement)
            if statement is not None:
                statements.append(statement)
        except Abort:
            if self._speculating:
                raise
            self._depth = 0
            self._place = max(self._place, place)
            self._skip_to_statement()

    def _skip_to_statement(self) -> None:
        while not self._is("}") and self._token.kind != END:
            if self._is("{"):
                self._skip_to()
                return
            if self._next().text == ";":
                return

    def _statement(self) -> tree.Statement | None:
        """statement: if | block | return | exit | switch | loop | declaration | assignment."""
        annotations = self._annotations()
        token = self._token
        rules: Rules = {
            "{": self._block,
            "if": self._if,
            "return": self._return,
            "switch": self._switch,
            "for": self._for,
            "const": self._constant,
            "exit": lambda: self._simple(tree.Exit(token.at)),
            "break": lambda: self._simple(tree.Break(token.at)),
            "continue": lambda: self._simple(tree.Continue(token.at)),
        }
        if token.kind != STRING and token.text in rules:
            return rules[token.text]()
        if self._accept(";"):
            return None
        declaration = self._local_declaration(annotations)
        return declaration or self._assignment_or_call()

    def _simple(self, statement: tree.Statement) -> tree.Statement:
        self._next()
        self._expect(";")
        return statement

    def _branch(self) -> tree.Statement:
        at = self._at
        return self._nested(self._statement) or tree.Block(at, ())

    def _if(self) -> tree.If:
        """if: "if" "(" expression ")" statement ["else" statement]."""
        at = self._next().at
        self._expect("(")
        condition = self._expression()
        self._expect(")")
        yes = self._branch()
        no = self._branch() if self._accept("else") else None
        return tree.If(at, condition, yes, no)

    def _return(self) -> tree.Return:
        at = self._next().at
        value = None if self._is(";") else self._expression()
        self._expect(";")
        return tree.Return(at, value)

    def _switch(self) -> tree.Switch:
        """switch: "switch" "(" e ")" "{" {("default" | e) ":" [block]} "}"."""
        at = self._next().at
        self._expect("(")
        value = self._expression()
        self._expect(")")
        self._expect("{")
        cases: list[tree.SwitchCase] = []
        while not self._is("}"):
            case_at = self._at
            label = None if self._accept("default", "_") else self._expression()
            self._expect(":")
            block = self._block() if self._is("{", "@") else None
            cases.append(tree.SwitchCase(case_at, label, block))
        self._expect("}")
        return tree.Switch(at, value, tuple(cases))

    def _for(self) -> tree.For | tree.ForIn:
        """for: "for" "(" (type name "in" e | [inits] ";" e ";" [updates]) ")" statement."""
        at = self._next().at
        self._expect("(")
        collection = self._attempt(self._for_in_head)
        if collection is not None:
            variable = collection
            first = self._expression()
            if self._accept(".."):
                first = tree.Binary(at, "..", first, self._expression())
            self._expect(")")
            return tree.ForIn(at, variable, first, self._branch())
        initial = self._comma_list(";", declares=True)
        condition = self._expression()
        self._expect(";")
        updates = self._comma_list(")", declares=False)
        return tree.For(at, initial, condition, updates, self._branch())

    def _for_in_head(self) -> tree.Variable:
        annotations = self._annotations()
        written = self._type()
        name = self._identifier("a loop variable")
        self._expect("in")
        return tree.Variable(name.at, name.text, annotations, written, None)

    def _comma_list(self, end: str, *, declares: bool) -> tuple[tree.Statement, ...]:
        statements: list[tree.Statement] = []
        while not self._is(end):
            annotations = self._annotations()
            head = self._attempt(self._declaration_head) if declares else None
            if head is not None:
                value = self._expression() if self._accept("=") else None
                statements.append(tree.Variable(head[1], head[2], annotations, head[0], value))
            else:
                statements.append(self._assignment_or_call(end=""))
            if not self._accept(","):
                break
        self._expect(end)
        return tuple(statements)

    def _assignment_or_call(self, end: str = ";") -> tree.Statement:
        """Parse assignment: postfix ("=" | "+=" | ...) expression ";"; call: postfix ";"."""
        at = self._at
        target = self._postfix(self._primary())
        if self._is(";", ")", ",") and isinstance(target, tree.Call):
            statement: tree.Statement = tree.CallStatement(target.at, target)
        else:
            operator = self._assignment_operator()
            statement = tree.Assignment(at, target, operator, self._expression())
        if end:
            self._expect(end)
        return statement

    def _assignment_operator(self) -> str:
        if self._accept("="):
            return ""
        if self._is(*_ASSIGNMENTS):
            return self._next().text[:-1]
        if self._is(">") and self._adjacent_shift_assignment():
            self._place += 2
            return ">>"
        raise self._fail(f"expected '=' or a call but found {self._found()}")

    # Declarations among statements

    def _constant(self) -> tree.Constant:
        """constant: "const" type name "=" expression ";"."""
        self._expect("const")
        written = self._type()
        name = self._identifier("a constant's name")
        self._expect("=")
        value = self._expression()
        self._expect(";")
        return tree.Constant(name.at, name.text, (), written, value)

    def _local_declaration(self, annotations: tree.Annotations) -> tree.Statement | None:
        """Parse declaration: type name ["=" e] ";" | type "(" arguments ")" name ";"."""
        head = self._attempt(self._declaration_head)
        if head is None:
            return self._attempt_instance(annotations)
        written, at, name = head
        value = self._expression() if self._accept("=") else None
        self._expect(";")
        return tree.Variable(at, name, annotations, written, value)

    def _declaration_head(self) -> tuple[tree.TypeNode, Position, str]:
        if not (self._is_identifier() or self._is(*BASE_TYPES, "tuple", ".")):
            raise self._fail("expected a type")
        written = self._type()
        name = self._identifier("a name")
        return written, name.at, name.text

    def _attempt_instance(self, annotations: tree.Annotations) -> tree.Instance | None:
        head = self._attempt(self._instance_head)
        if head is None:
            return None
        written, arguments, name = head
        if self._is("="):
            raise self._fail("unsupported: an instance with a block of its own functions")
        self._expect(";")
        return tree.Instance(name.at, name.text, annotations, written, arguments)

    def _instance_head(self) -> tuple[tree.TypeNode, tuple[tree.Argument, ...], Token]:
        written = self._type()
        arguments = self._call_arguments()
        name = self._identifier("an instance's name")
        return written, arguments, name
