"""The fourth pass, part five: what is called, with which arguments, for which types."""

from collections.abc import Sequence

from p4.compiler import tree
from p4.compiler import types as t
from p4.compiler.check_casts import coerce
from p4.compiler.check_context import Context
from p4.compiler.check_expressions import (
    SIZES,
    check_writable,
    constant_of,
    denoted_type,
    infer,
    note,
)
from p4.compiler.check_types import resolve_type
from p4.compiler.model import Call

Callee = tree.Function | tree.Action
Applicable = tree.Parser | tree.Control


def _only_in(ctx: Context, call: tree.Call, contexts: tuple[str, ...], what: str) -> None:
    if ctx.where not in contexts:
        where = f"{ctx.where}s" if ctx.where else "here"
        place = f"in {where}" if ctx.where else where
        allowed = " and ".join(f"{each}s" for each in contexts)
        raise ctx.diagnostics.fail(
            call.at, f"{what} cannot stand {place}", f"it belongs in {allowed}"
        )


def check_call(ctx: Context, call: tree.Call) -> t.Type:
    """Return the type of a call's result."""
    function = call.function
    if isinstance(function, tree.Member):
        type_ = _method_call(ctx, call, function)
        if type_ is not None:
            return type_
    denoted = denoted_type(ctx, function)
    if denoted is not None:
        return check_constructor(ctx, call, denoted)
    if isinstance(function, tree.Name):
        return _named_call(ctx, call, function)
    raise ctx.diagnostics.fail(call.at, "this cannot be called")


# Methods


def _method_call(ctx: Context, call: tree.Call, function: tree.Member) -> t.Type | None:  # noqa: PLR0911
    denoted = denoted_type(ctx, function.base)
    if denoted is not None:
        return _call_on_type(ctx, call, function, denoted)
    type_ = infer(ctx, function.base)
    if function.name in SIZES and t.width(type_) is not None:
        return _size(ctx, call, function.name, type_)
    match type_:
        case t.Named(what="table"):
            return _apply_table(ctx, call, function)
        case t.Object() if isinstance(type_.declaration, tree.Extern):
            return _extern_method(ctx, call, function, type_)
        case t.Object():
            return _apply(ctx, call, function, type_)
        case t.Record() if type_.kind != "struct":
            return _header_method(ctx, call, function, type_)
        case t.Stack() if function.name in {"push_front", "pop_front"}:
            return _stack_method(ctx, call, function)
        case t.Simple(name="any type"):
            return t.ANYTHING
    raise ctx.diagnostics.fail(function.at, f"{type_} has no method {function.name!r}")


def _call_on_type(ctx: Context, call: tree.Call, function: tree.Member, denoted: t.Type) -> t.Type:
    ctx.checked.types[function.base] = t.Named("type", str(denoted))
    if function.name in SIZES and t.width(denoted) is not None:
        return _size(ctx, call, function.name, denoted)
    if isinstance(denoted, t.Object) and function.name == "apply":
        return _apply(ctx, call, function, denoted)
    raise ctx.diagnostics.fail(function.at, f"{denoted} has no method {function.name!r}")


def _size(ctx: Context, call: tree.Call, name: str, type_: t.Type) -> t.Type:
    _no_arguments(ctx, call, name)
    greatest, unit = SIZES[name]
    bits = t.width(type_, greatest=greatest) or 0
    note(ctx, call, (bits + unit - 1) // unit)
    ctx.checked.calls[call] = Call("builtin", name)
    return t.INTEGER


def _no_arguments(ctx: Context, call: tree.Call, name: str) -> None:
    if call.arguments:
        raise ctx.diagnostics.fail(call.arguments[0].at, f"{name} takes no arguments")


def _header_method(
    ctx: Context, call: tree.Call, function: tree.Member, record: t.Record
) -> t.Type:
    methods = ["isValid", "setValid", "setInvalid"] if record.kind == "header" else ["isValid"]
    if function.name not in methods:
        raise ctx.unknown(f"method of {record}", function.name, function.at, methods)
    _no_arguments(ctx, call, function.name)
    ctx.checked.calls[call] = Call("builtin", function.name, None, function.base)
    if function.name == "isValid":
        return t.BOOL
    check_writable(ctx, function.base)
    return t.VOID


def _stack_method(ctx: Context, call: tree.Call, function: tree.Member) -> t.Type:
    if len(call.arguments) != 1 or call.arguments[0].value is None:
        raise ctx.diagnostics.fail(call.at, f"{function.name} takes one argument")
    value = call.arguments[0].value
    infer(ctx, value)
    if constant_of(ctx, value, "the count") < 0:
        raise ctx.diagnostics.fail(value.at, "the count is negative")
    check_writable(ctx, function.base)
    parameter = tree.Parameter(call.at, "count", (), "", tree.BaseType(call.at, "int"), None)
    ctx.checked.calls[call] = Call(
        "builtin", function.name, None, function.base, ((parameter, value),)
    )
    return t.VOID


def _extern_method(ctx: Context, call: tree.Call, function: tree.Member, type_: t.Object) -> t.Type:
    extern = type_.declaration
    assert isinstance(extern, tree.Extern)
    methods = [method for method in extern.methods if method.name == function.name]
    if not methods or function.name == extern.name:
        names = [method.name for method in extern.methods if method.name != extern.name]
        raise ctx.unknown(f"method of {type_}", function.name, function.at, names)
    method = _overload(call, methods)
    if extern.name == "packet_in":
        _only_in(ctx, call, ("parser",), f"{function.name}")
    outer = dict(zip(extern.parameters, type_.arguments, strict=True))
    return _invoke(ctx, "method", call, method, function.base, outer)


def _apply_table(ctx: Context, call: tree.Call, function: tree.Member) -> t.Type:
    if function.name != "apply":
        raise ctx.unknown("method of a table", function.name, function.at, ["apply"])
    _no_arguments(ctx, call, "apply")
    table = ctx.checked.references[function.base]
    assert isinstance(table, tree.Table)
    _only_in(ctx, call, ("control",), "applying a table")
    ctx.checked.calls[call] = Call("apply", "apply", table, function.base)
    return t.Applied(table)


def _apply(ctx: Context, call: tree.Call, function: tree.Member, type_: t.Object) -> t.Type:
    declaration = type_.declaration
    if function.name != "apply" or not isinstance(declaration, tree.Parser | tree.Control):
        raise ctx.diagnostics.fail(function.at, f"{type_} has no method {function.name!r}")
    kind = "parser" if isinstance(declaration, tree.Parser) else "control"
    _only_in(ctx, call, (kind,), f"applying a {kind}")
    bindings = dict(zip(declaration.parameters, type_.arguments, strict=True))
    for parameter in declaration.parameters:
        if bindings[parameter] == t.Variable(parameter):
            del bindings[parameter]
    arguments = match_arguments(ctx, call, declaration.arguments, declaration.name)
    solved = solve(ctx, call, declaration.parameters, arguments, bindings)
    check_arguments(ctx, arguments, solved)
    ctx.checked.calls[call] = Call("apply", "apply", declaration, function.base, arguments, solved)
    return t.VOID


# Functions, actions and constructors


def _named_call(ctx: Context, call: tree.Call, function: tree.Name) -> t.Type:
    found = ctx.find(function.name, function.at, absolute=function.absolute)
    functions = [entry for entry in found if isinstance(entry, tree.Function | tree.Action)]
    if not functions:
        raise ctx.diagnostics.fail(function.at, f"{function.name!r} cannot be called")
    declaration = _overload(call, functions)
    ctx.checked.references[function] = declaration
    if isinstance(declaration, tree.Action):
        kind = "action"
        _only_in(ctx, call, ("control", "action"), "calling an action")
    else:
        if declaration.name == "verify" and declaration.body is None:
            _only_in(ctx, call, ("parser",), "verify")
        kind = "extern" if declaration.body is None else "function"
    return _invoke(ctx, kind, call, declaration, None, {})


def _overload(call: tree.Call, candidates: Sequence[Callee]) -> Callee:
    """Choose by the number and the names of the arguments."""
    names = {argument.name for argument in call.arguments if argument.name}
    fitting = [
        candidate
        for candidate in candidates
        if _least(candidate) <= len(call.arguments) <= len(candidate.arguments)
        and names <= {parameter.name for parameter in candidate.arguments}
    ]
    return fitting[0] if fitting else candidates[0]


def _invoke(  # noqa: PLR0917
    ctx: Context,
    kind: str,
    call: tree.Call,
    declaration: Callee,
    base: tree.Expression | None,
    outer: t.Bindings,
) -> t.Type:
    arguments = match_arguments(ctx, call, declaration.arguments, declaration.name)
    parameters = getattr(declaration, "parameters", ())
    solved = solve(ctx, call, parameters, arguments, outer)
    check_arguments(ctx, arguments, solved)
    ctx.checked.calls[call] = Call(kind, declaration.name, declaration, base, arguments, solved)
    if isinstance(declaration, tree.Action) or declaration.returns is None:
        return t.VOID
    result = t.substitute(_resolved(ctx, declaration.returns), solved)
    if declaration.name == "extract" and kind == "method":
        _check_extracted(ctx, call, arguments)
    if declaration.name == "static_assert" and kind == "extern":
        _static_assert(ctx, call)
    return result


def _check_extracted(
    ctx: Context,
    call: tree.Call,
    arguments: tuple[tuple[tree.Parameter, tree.Expression | None], ...],
) -> None:
    """Check that what is extracted is a header, and has a varbit field if a length is given."""
    value = arguments[0][1]
    type_ = ctx.checked.types.get(value, t.ANYTHING) if value is not None else t.ANYTHING
    if type_ == t.ANYTHING or isinstance(type_, t.Variable):
        return
    if not isinstance(type_, t.Record) or type_.kind != "header":
        raise ctx.diagnostics.fail(call.at, f"extract takes a header, not {type_}")
    varbits = sum(isinstance(t.base(part), t.Varbit) for _, part in type_.fields)
    if len(arguments) == 1 and varbits:
        raise ctx.diagnostics.fail(
            call.at,
            f"{type_} has a varbit field",
            "give extract its length in bits as a second argument",
        )
    if len(arguments) > 1 and varbits != 1:
        raise ctx.diagnostics.fail(call.at, f"{type_} has no varbit field to give a length")


def _static_assert(ctx: Context, call: tree.Call) -> None:
    values = [argument.value for argument in call.arguments if argument.value is not None]
    if constant_of(ctx, values[0], "the argument of static_assert"):
        note(ctx, call, 1)
        return
    text = values[1].value if len(values) > 1 and isinstance(values[1], tree.String) else ""
    raise ctx.diagnostics.fail(call.at, text or "static_assert failed")


def _resolved(ctx: Context, node: tree.TypeNode) -> t.Type:
    """Return the type of a node that its declaration has resolved."""
    return ctx.checked.written.get(node, t.ANYTHING)


def check_constructor(ctx: Context, call: tree.Call, denoted: t.Type) -> t.Type:
    """Return the type of what a constructor makes."""
    if not isinstance(denoted, t.Object):
        raise ctx.diagnostics.fail(call.at, f"{denoted} has no constructor")
    declaration = denoted.declaration
    parameters = _constructor_parameters(ctx, call, declaration)
    own = declaration.parameters
    bindings = {
        parameter: argument
        for parameter, argument in zip(own, denoted.arguments, strict=True)
        if argument != t.Variable(parameter) and argument != t.ANYTHING
    }
    arguments = match_arguments(ctx, call, parameters, declaration.name)
    solved = solve(ctx, call, own, arguments, bindings, partial=True)
    check_arguments(ctx, arguments, solved)
    ctx.checked.calls[call] = Call(
        "constructor", declaration.name, declaration, None, arguments, solved
    )
    return t.substitute(t.Object(declaration, tuple(map(t.Variable, own))), solved)


def _constructor_parameters(
    ctx: Context,
    call: tree.Call,
    declaration: tree.Extern | tree.Parser | tree.Control | tree.Package,
) -> tuple[tree.Parameter, ...]:
    if isinstance(declaration, tree.Package):
        return declaration.arguments
    if isinstance(declaration, tree.Parser | tree.Control):
        return declaration.constructor
    constructors = [each for each in declaration.methods if each.name == declaration.name]
    if not constructors:
        raise ctx.diagnostics.fail(call.at, f"{declaration.name} has no constructor")
    return _overload(call, constructors).arguments


# Arguments


def match_arguments(
    ctx: Context, call: tree.Call, parameters: Sequence[tree.Parameter], name: str
) -> tuple[tuple[tree.Parameter, tree.Expression | None], ...]:
    """Pair parameters with arguments, by place or by name."""
    given: dict[str, tree.Argument] = {}
    for place, argument in enumerate(call.arguments):
        if argument.name is None and place >= len(parameters):
            raise ctx.diagnostics.fail(
                argument.at,
                f"{name} takes {len(parameters)} arguments, not {len(call.arguments)}",
            )
        key = argument.name or parameters[place].name
        if key not in {parameter.name for parameter in parameters}:
            names = [parameter.name for parameter in parameters]
            raise ctx.unknown(f"parameter of {name}", key, argument.at, names)
        if key in given:
            raise ctx.diagnostics.fail(argument.at, f"argument {key!r} is given twice")
        given[key] = argument
    return tuple(
        (parameter, _argument_of(ctx, call, parameter, given, name)) for parameter in parameters
    )


def _argument_of(
    ctx: Context,
    call: tree.Call,
    parameter: tree.Parameter,
    given: dict[str, tree.Argument],
    name: str,
) -> tree.Expression | None:
    argument = given.get(parameter.name)
    if argument is not None:
        if argument.value is None and parameter.direction != "out":
            raise ctx.diagnostics.fail(argument.at, "'_' can only stand for an out parameter")
        return argument.value
    if parameter.default is not None:
        return parameter.default
    optional = any(entry.name == "optional" for entry in parameter.annotations)
    if optional or (parameter.direction == "out" and parameter.name in given):
        return None
    raise ctx.diagnostics.fail(call.at, f"{name} needs an argument for {parameter.name!r}")


def solve(
    ctx: Context,
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
            raise ctx.diagnostics.fail(
                call.at, f"expected {len(parameters)} type arguments, not {len(call.types)}"
            )
        for variable, node in zip(parameters, call.types, strict=True):
            resolved = resolve_type(ctx, node)
            if resolved != t.ANYTHING:
                bindings[variable] = resolved
    for parameter, value in arguments:
        if value is not None:
            formal = _resolved(ctx, parameter.type)
            actual = ctx.checked.types.get(value) if value is parameter.default else None
            unify(formal, actual or infer(ctx, value), bindings, free)
    if not partial:
        bindings.update({variable: t.VOID for variable in free if variable not in bindings})
    return bindings


def check_arguments(
    ctx: Context,
    arguments: Sequence[tuple[tree.Parameter, tree.Expression | None]],
    bindings: t.Bindings,
) -> None:
    """Check that each argument can stand for its parameter."""
    for parameter, value in arguments:
        if value is None or value is parameter.default:
            continue
        expected = t.substitute(_resolved(ctx, parameter.type), bindings)
        actual = ctx.checked.types[value]
        if expected == t.INTEGER and parameter.direction:
            raise ctx.diagnostics.fail(
                value.at, "the width of this number is unknown", "write it with one, as in 16w5"
            )
        if isinstance(expected, t.Object):
            _check_object(ctx, value, actual, expected)
            continue
        if parameter.direction in {"out", "inout"}:
            if actual != expected and t.ANYTHING not in {actual, expected}:
                raise ctx.diagnostics.fail(
                    value.at,
                    f"{parameter.name!r} needs a variable of type {expected}, not {actual}",
                )
            check_writable(ctx, value)
        else:
            coerce(ctx, value, actual, expected, f"parameter {parameter.name!r}")


def _check_object(ctx: Context, value: tree.Expression, actual: t.Type, expected: t.Object) -> None:
    if isinstance(actual, t.Object):
        wanted, given = expected.declaration, actual.declaration
        if given is wanted or _same_shape(given, wanted):
            return
    raise ctx.diagnostics.fail(value.at, f"expected {expected}, not {actual}")


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
