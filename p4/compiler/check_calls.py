"""The fourth pass, part three: what is called, with which arguments, for which types."""

from collections.abc import Sequence

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_expressions import SIZES, ExpressionChecker
from p4.compiler.model import Call

Callee = tree.Function | tree.Action
Applicable = tree.Parser | tree.Control


class CallChecker(ExpressionChecker):
    """Calls: overloads, type arguments, directions."""

    def _only_in(self, call: tree.Call, contexts: tuple[str, ...], what: str) -> None:
        if self._context not in contexts:
            where = f"{self._context}s" if self._context else "here"
            place = f"in {where}" if self._context else where
            allowed = " and ".join(f"{each}s" for each in contexts)
            raise self._diagnostics.fail(
                call.at, f"{what} cannot stand {place}", f"it belongs in {allowed}"
            )

    def _call(self, call: tree.Call) -> t.Type:
        function = call.function
        if isinstance(function, tree.Member):
            type_ = self._method_call(call, function)
            if type_ is not None:
                return type_
        denoted = self._denoted_type(function)
        if denoted is not None:
            return self._constructor(call, denoted)
        if isinstance(function, tree.Name):
            return self._named_call(call, function)
        raise self._diagnostics.fail(call.at, "this cannot be called")

    # Methods

    def _method_call(self, call: tree.Call, function: tree.Member) -> t.Type | None:  # noqa: PLR0911
        denoted = self._denoted_type(function.base)
        if denoted is not None:
            return self._call_on_type(call, function, denoted)
        type_ = self._infer(function.base)
        if function.name in SIZES and t.width(type_) is not None:
            return self._size(call, function.name, type_)
        match type_:
            case t.Named(what="table"):
                return self._apply_table(call, function)
            case t.Object() if isinstance(type_.declaration, tree.Extern):
                return self._extern_method(call, function, type_)
            case t.Object():
                return self._apply(call, function, type_)
            case t.Record() if type_.kind != "struct":
                return self._header_method(call, function, type_)
            case t.Stack() if function.name in {"push_front", "pop_front"}:
                return self._stack_method(call, function)
            case t.Simple(name="any type"):
                return t.ANYTHING
        raise self._diagnostics.fail(function.at, f"{type_} has no method {function.name!r}")

    def _call_on_type(self, call: tree.Call, function: tree.Member, denoted: t.Type) -> t.Type:
        self.checked.types[function.base] = t.Named("type", str(denoted))
        if function.name in SIZES and t.width(denoted) is not None:
            return self._size(call, function.name, denoted)
        if isinstance(denoted, t.Object) and function.name == "apply":
            return self._apply(call, function, denoted)
        raise self._diagnostics.fail(function.at, f"{denoted} has no method {function.name!r}")

    def _size(self, call: tree.Call, name: str, type_: t.Type) -> t.Type:
        self._no_arguments(call, name)
        greatest, unit = SIZES[name]
        bits = t.width(type_, greatest=greatest) or 0
        self._note(call, (bits + unit - 1) // unit)
        self.checked.calls[call] = Call("builtin", name)
        return t.INTEGER

    def _no_arguments(self, call: tree.Call, name: str) -> None:
        if call.arguments:
            raise self._diagnostics.fail(call.arguments[0].at, f"{name} takes no arguments")

    def _header_method(self, call: tree.Call, function: tree.Member, record: t.Record) -> t.Type:
        methods = ["isValid", "setValid", "setInvalid"] if record.kind == "header" else ["isValid"]
        if function.name not in methods:
            raise self._unknown(f"method of {record}", function.name, function.at, methods)
        self._no_arguments(call, function.name)
        self.checked.calls[call] = Call("builtin", function.name, None, function.base)
        if function.name == "isValid":
            return t.BOOL
        self._check_writable(function.base)
        return t.VOID

    def _stack_method(self, call: tree.Call, function: tree.Member) -> t.Type:
        if len(call.arguments) != 1 or call.arguments[0].value is None:
            raise self._diagnostics.fail(call.at, f"{function.name} takes one argument")
        value = call.arguments[0].value
        self._infer(value)
        if self._constant(value, "the count") < 0:
            raise self._diagnostics.fail(value.at, "the count is negative")
        self._check_writable(function.base)
        parameter = tree.Parameter(call.at, "count", (), "", tree.BaseType(call.at, "int"), None)
        self.checked.calls[call] = Call(
            "builtin", function.name, None, function.base, ((parameter, value),)
        )
        return t.VOID

    def _extern_method(self, call: tree.Call, function: tree.Member, type_: t.Object) -> t.Type:
        extern = type_.declaration
        assert isinstance(extern, tree.Extern)
        methods = [method for method in extern.methods if method.name == function.name]
        if not methods or function.name == extern.name:
            names = [method.name for method in extern.methods if method.name != extern.name]
            raise self._unknown(f"method of {type_}", function.name, function.at, names)
        method = self._overload(call, methods)
        if extern.name == "packet_in":
            self._only_in(call, ("parser",), f"{function.name}")
        outer = dict(zip(extern.parameters, type_.arguments, strict=True))
        return self._invoke("method", call, method, function.base, outer)

    def _apply_table(self, call: tree.Call, function: tree.Member) -> t.Type:
        if function.name != "apply":
            raise self._unknown("method of a table", function.name, function.at, ["apply"])
        self._no_arguments(call, "apply")
        table = self.checked.references[function.base]
        assert isinstance(table, tree.Table)
        self._only_in(call, ("control",), "applying a table")
        self.checked.calls[call] = Call("apply", "apply", table, function.base)
        return t.Applied(table)

    def _apply(self, call: tree.Call, function: tree.Member, type_: t.Object) -> t.Type:
        declaration = type_.declaration
        if function.name != "apply" or not isinstance(declaration, tree.Parser | tree.Control):
            raise self._diagnostics.fail(function.at, f"{type_} has no method {function.name!r}")
        kind = "parser" if isinstance(declaration, tree.Parser) else "control"
        self._only_in(call, (kind,), f"applying a {kind}")
        bindings = dict(zip(declaration.parameters, type_.arguments, strict=True))
        for parameter in declaration.parameters:
            if bindings[parameter] == t.Variable(parameter):
                del bindings[parameter]
        arguments = self._match(call, declaration.arguments, declaration.name)
        solved = self._solve(call, declaration.parameters, arguments, bindings)
        self._check_arguments(arguments, solved)
        self.checked.calls[call] = Call(
            "apply", "apply", declaration, function.base, arguments, solved
        )
        return t.VOID

    # Functions, actions and constructors

    def _named_call(self, call: tree.Call, function: tree.Name) -> t.Type:
        found = self._find(function.name, function.at, absolute=function.absolute)
        functions = [entry for entry in found if isinstance(entry, tree.Function | tree.Action)]
        if not functions:
            raise self._diagnostics.fail(function.at, f"{function.name!r} cannot be called")
        declaration = self._overload(call, functions)
        self.checked.references[function] = declaration
        if isinstance(declaration, tree.Action):
            kind = "action"
            self._only_in(call, ("control", "action"), "calling an action")
        else:
            if declaration.name == "verify" and declaration.body is None:
                self._only_in(call, ("parser",), "verify")
            kind = "extern" if declaration.body is None else "function"
        return self._invoke(kind, call, declaration, None, {})

    def _overload(self, call: tree.Call, candidates: Sequence[Callee]) -> Callee:
        """Choose by the number and the names of the arguments."""
        names = {argument.name for argument in call.arguments if argument.name}
        fitting = [
            candidate
            for candidate in candidates
            if _least(candidate) <= len(call.arguments) <= len(candidate.arguments)
            and names <= {parameter.name for parameter in candidate.arguments}
        ]
        return fitting[0] if fitting else candidates[0]

    def _invoke(
        self,
        kind: str,
        call: tree.Call,
        declaration: Callee,
        base: tree.Expression | None,
        outer: t.Bindings,
    ) -> t.Type:
        arguments = self._match(call, declaration.arguments, declaration.name)
        parameters = getattr(declaration, "parameters", ())
        solved = self._solve(call, parameters, arguments, outer)
        self._check_arguments(arguments, solved)
        self.checked.calls[call] = Call(
            kind, declaration.name, declaration, base, arguments, solved
        )
        if isinstance(declaration, tree.Action) or declaration.returns is None:
            return t.VOID
        result = t.substitute(self._resolved(declaration.returns), solved)
        if declaration.name == "extract" and kind == "method":
            self._check_extracted(call, arguments)
        if declaration.name == "static_assert" and kind == "extern":
            self._static_assert(call)
        return result

    def _check_extracted(
        self,
        call: tree.Call,
        arguments: tuple[tuple[tree.Parameter, tree.Expression | None], ...],
    ) -> None:
        """Check that what is extracted is a header, and has a varbit field if a length is given."""
        value = arguments[0][1]
        type_ = self.checked.types.get(value, t.ANYTHING) if value is not None else t.ANYTHING
        if type_ == t.ANYTHING or isinstance(type_, t.Variable):
            return
        if not isinstance(type_, t.Record) or type_.kind != "header":
            raise self._diagnostics.fail(call.at, f"extract takes a header, not {type_}")
        varbits = sum(isinstance(t.base(part), t.Varbit) for _, part in type_.fields)
        if len(arguments) == 1 and varbits:
            raise self._diagnostics.fail(
                call.at,
                f"{type_} has a varbit field",
                "give extract its length in bits as a second argument",
            )
        if len(arguments) > 1 and varbits != 1:
            raise self._diagnostics.fail(call.at, f"{type_} has no varbit field to give a length")

    def _static_assert(self, call: tree.Call) -> None:
        values = [argument.value for argument in call.arguments if argument.value is not None]
        if self._constant(values[0], "the argument of static_assert"):
            self._note(call, 1)
            return
        text = values[1].value if len(values) > 1 and isinstance(values[1], tree.String) else ""
        raise self._diagnostics.fail(call.at, text or "static_assert failed")

    def _resolved(self, node: tree.TypeNode) -> t.Type:
        """Return the type of a node that its declaration has resolved."""
        return self.checked.written.get(node, t.ANYTHING)

    def _constructor(self, call: tree.Call, denoted: t.Type) -> t.Type:
        if not isinstance(denoted, t.Object):
            raise self._diagnostics.fail(call.at, f"{denoted} has no constructor")
        declaration = denoted.declaration
        parameters = self._constructor_parameters(call, declaration)
        own = declaration.parameters
        bindings = {
            parameter: argument
            for parameter, argument in zip(own, denoted.arguments, strict=True)
            if argument != t.Variable(parameter) and argument != t.ANYTHING
        }
        arguments = self._match(call, parameters, declaration.name)
        solved = self._solve(call, own, arguments, bindings, partial=True)
        self._check_arguments(arguments, solved)
        self.checked.calls[call] = Call(
            "constructor", declaration.name, declaration, None, arguments, solved
        )
        return t.substitute(t.Object(declaration, tuple(map(t.Variable, own))), solved)

    def _constructor_parameters(
        self,
        call: tree.Call,
        declaration: tree.Extern | tree.Parser | tree.Control | tree.Package,
    ) -> tuple[tree.Parameter, ...]:
        if isinstance(declaration, tree.Package):
            return declaration.arguments
        if isinstance(declaration, tree.Parser | tree.Control):
            return declaration.constructor
        constructors = [each for each in declaration.methods if each.name == declaration.name]
        if not constructors:
            raise self._diagnostics.fail(call.at, f"{declaration.name} has no constructor")
        return self._overload(call, constructors).arguments

    # Arguments

    def _match(
        self, call: tree.Call, parameters: Sequence[tree.Parameter], name: str
    ) -> tuple[tuple[tree.Parameter, tree.Expression | None], ...]:
        """Pair parameters with arguments, by place or by name."""
        given: dict[str, tree.Argument] = {}
        for place, argument in enumerate(call.arguments):
            if argument.name is None and place >= len(parameters):
                raise self._diagnostics.fail(
                    argument.at,
                    f"{name} takes {len(parameters)} arguments, not {len(call.arguments)}",
                )
            key = argument.name or parameters[place].name
            if key not in {parameter.name for parameter in parameters}:
                names = [parameter.name for parameter in parameters]
                raise self._unknown(f"parameter of {name}", key, argument.at, names)
            if key in given:
                raise self._diagnostics.fail(argument.at, f"argument {key!r} is given twice")
            given[key] = argument
        return tuple(
            (parameter, self._argument_of(call, parameter, given, name)) for parameter in parameters
        )

    def _argument_of(
        self,
        call: tree.Call,
        parameter: tree.Parameter,
        given: dict[str, tree.Argument],
        name: str,
    ) -> tree.Expression | None:
        argument = given.get(parameter.name)
        if argument is not None:
            if argument.value is None and parameter.direction != "out":
                raise self._diagnostics.fail(argument.at, "'_' can only stand for an out parameter")
            return argument.value
        if parameter.default is not None:
            return parameter.default
        optional = any(entry.name == "optional" for entry in parameter.annotations)
        if optional or (parameter.direction == "out" and parameter.name in given):
            return None
        raise self._diagnostics.fail(call.at, f"{name} needs an argument for {parameter.name!r}")

    def _solve(
        self,
        call: tree.Call,
        parameters: Sequence[tree.TypeParameter],
        arguments: Sequence[tuple[tree.Parameter, tree.Expression | None]],
        outer: t.Bindings,
        *,
        partial: bool = False,
    ) -> t.Bindings:
        """Find what the type parameters of what is called stand for."""
        bindings: dict[tree.TypeParameter, t.Type] = dict(outer)
        free = {parameter for parameter in parameters if parameter not in bindings}
        if call.types:
            if len(call.types) != len(parameters):
                raise self._diagnostics.fail(
                    call.at, f"expected {len(parameters)} type arguments, not {len(call.types)}"
                )
            for variable, node in zip(parameters, call.types, strict=True):
                resolved = self._resolve(node)
                if resolved != t.ANYTHING:
                    bindings[variable] = resolved
        for parameter, value in arguments:
            if value is not None:
                formal = self._resolved(parameter.type)
                actual = self.checked.types.get(value) if value is parameter.default else None
                unify(formal, actual or self._infer(value), bindings, free)
        if not partial:
            bindings.update({variable: t.VOID for variable in free if variable not in bindings})
        return bindings

    def _check_arguments(
        self,
        arguments: Sequence[tuple[tree.Parameter, tree.Expression | None]],
        bindings: t.Bindings,
    ) -> None:
        for parameter, value in arguments:
            if value is None or value is parameter.default:
                continue
            expected = t.substitute(self._resolved(parameter.type), bindings)
            actual = self.checked.types[value]
            if expected == t.INTEGER and parameter.direction:
                raise self._diagnostics.fail(
                    value.at, "the width of this number is unknown", "write it with one, as in 16w5"
                )
            if isinstance(expected, t.Object):
                self._check_object(value, actual, expected)
                continue
            if parameter.direction in {"out", "inout"}:
                if actual != expected and t.ANYTHING not in {actual, expected}:
                    raise self._diagnostics.fail(
                        value.at,
                        f"{parameter.name!r} needs a variable of type {expected}, not {actual}",
                    )
                self._check_writable(value)
            else:
                self._coerce(value, actual, expected, f"parameter {parameter.name!r}")

    def _check_object(self, value: tree.Expression, actual: t.Type, expected: t.Object) -> None:
        if isinstance(actual, t.Object):
            wanted, given = expected.declaration, actual.declaration
            if given is wanted or self._same_shape(given, wanted):
                return
        raise self._diagnostics.fail(value.at, f"expected {expected}, not {actual}")

    @staticmethod
    def _same_shape(given: tree.Declaration, wanted: tree.Declaration) -> bool:
        if type(given) is not type(wanted) or not isinstance(given, tree.Parser | tree.Control):
            return False
        assert isinstance(wanted, tree.Parser | tree.Control)
        ours = [parameter.direction for parameter in given.arguments]
        theirs = [parameter.direction for parameter in wanted.arguments]
        return ours == theirs


def _least(declaration: Callee) -> int:
    return sum(
        parameter.default is None
        and not any(entry.name == "optional" for entry in parameter.annotations)
        for parameter in declaration.arguments
    )


def unify(
    formal: t.Type,
    actual: t.Type,
    bindings: dict[tree.TypeParameter, t.Type],
    free: set[tree.TypeParameter],
) -> None:
    """Bind the free type parameters in `formal` so that it becomes `actual`, where it can."""
    if isinstance(formal, t.Variable):
        if formal.parameter in free and bindings.get(formal.parameter) in {None, t.INTEGER}:
            bindings[formal.parameter] = actual
        return
    for part, other in _corresponding(formal, actual):
        unify(part, other, bindings, free)


def _corresponding(  # noqa: PLR0911
    formal: t.Type, actual: t.Type
) -> list[tuple[t.Type, t.Type]]:
    """Return the parts of two types that must be the same for the types to be."""
    if isinstance(formal, t.Record) and isinstance(actual, t.Record):
        if formal.name == actual.name:
            return list(zip(formal.arguments, actual.arguments, strict=False))
        found = [(part, actual.field(name)) for name, part in formal.fields]
        return [(part, other) for part, other in found if other is not None]
    if isinstance(formal, t.Record) and isinstance(actual, t.Tuple):
        return list(zip((part for _, part in formal.fields), actual.items, strict=False))
    if isinstance(formal, t.Tuple) and isinstance(actual, t.Tuple):
        return list(zip(formal.items, actual.items, strict=False))
    if isinstance(formal, t.Stack | t.Set) and isinstance(actual, t.Stack | t.Set):
        return [(formal.element, actual.element)]
    if isinstance(formal, t.Object) and isinstance(actual, t.Object):
        return list(zip(formal.arguments, actual.arguments, strict=False))
    return []
