"""The fifth pass, part four: calls, which are all inlined."""

from collections.abc import Callable

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_assign import assign, choose_by_index, invalidate
from p4.compiler.lower_context import Context, Frame
from p4.compiler.lower_expressions import (
    default_of,
    has_effects,
    keep,
    place_of,
    shape_as,
    validity_of,
)
from p4.compiler.model import Call

CODE_LIMIT = 200_000

CopyOut = tuple[places.Place, places.Place]


def lower_call(ctx: Context, node: tree.Call) -> places.Place | None:
    """Inline a call; returns its result's place, None if it has none."""
    call = ctx.checked.calls[node]
    if len(ctx.code) > CODE_LIMIT:
        raise ctx.unsupported(node.at, "a program that is this large once its calls are inlined")
    match call.kind:
        case "builtin":
            return _builtin(ctx, call, node.at)
        case "function":
            return _function(ctx, call, node.at)
        case "action":
            return _action_call(ctx, call, node.at)
        case "apply":
            return _apply(ctx, call, node.at)
        case "constructor":
            return _construct(ctx, call, node.at)
        case _:
            return ctx.later.lower_extern_call(ctx, call, node.at)


# Headers and stacks


def _builtin(ctx: Context, call: Call, at: Position) -> places.Place | None:
    assert call.base is not None
    place = place_of(ctx, call.base)
    if call.name == "isValid":
        return validity_of(ctx, place, at)
    if call.name in {"setValid", "setInvalid"}:
        _set_validity(ctx, place, valid=call.name == "setValid", at=at)
        return None
    value = call.arguments[0][1]
    assert value is not None
    count = fold.number(ctx.checked.constants[value], t.Bits(32))
    assert isinstance(place, places.Stack)
    union = isinstance(place.elements[0], places.Union)
    kind = "header_union_stack" if union else "header_stack"
    ctx.do(call.name.split("_")[0], at, flat.Reference(kind, place.name), count)
    return None


def _set_validity(ctx: Context, place: places.Place, *, valid: bool, at: Position) -> None:
    match place:
        case places.Header():
            primitive = "add_header" if valid else "remove_header"
            ctx.do(primitive, at, flat.Reference("header", place.name))
        case places.Choice():
            choose_by_index(
                ctx, place, lambda each: _set_validity(ctx, each, valid=valid, at=at), at
            )
        case _:
            raise ctx.unsupported(at, "changing the validity of this")


# Arguments


def bind(ctx: Context, call: Call, frame: Frame, *, copy: bool) -> list[CopyOut]:
    """Bind parameters in `frame`; returns what is to be copied out after the call.

    An argument stands for its parameter itself, without a copy, where nobody can tell.
    """
    bound = evaluate_arguments(ctx, call)
    written = [
        places.storage(place)
        for parameter, place, _ in bound
        if parameter.direction in {"out", "inout"}
    ]
    copies: list[CopyOut] = []
    for parameter, place, type_ in bound:
        if parameter.direction in {"out", "inout"}:
            _bind_output(ctx, parameter, place, type_, frame, bound, copies, copy=copy)
        else:
            _bind_input(ctx, parameter, place, type_, frame, written, copy=copy)
    return copies


def evaluate_arguments(
    ctx: Context, call: Call
) -> list[tuple[tree.Parameter, places.Place | None, t.Type]]:
    """Return parameters with the places of their arguments and their types."""
    effects = [value is not None and has_effects(ctx, value) for _, value in call.arguments]
    found: list[tuple[tree.Parameter, places.Place | None, t.Type]] = []
    for index, (parameter, value) in enumerate(call.arguments):
        formal = ctx.checked.declared.get(parameter, t.ANYTHING)
        type_ = ctx.bound(t.substitute(formal, call.bindings))
        place = None
        if value is not None:
            place = place_of(ctx, value)
            if isinstance(type_, t.Record | t.Tuple):
                place = shape_as(ctx, place, type_, value.at)
            if parameter.direction in {"", "in"} and any(effects[index + 1 :]):
                place = keep(ctx, place, value.at)
        found.append((parameter, place, type_))
    return found


def _bind_output(  # noqa: PLR0917
    ctx: Context,
    parameter: tree.Parameter,
    place: places.Place | None,
    type_: t.Type,
    frame: Frame,
    bound: list[tuple[tree.Parameter, places.Place | None, t.Type]],
    copies: list[CopyOut],
    *,
    copy: bool,
) -> None:
    own = places.storage(place)
    others = (places.storage(other) for key, other, _ in bound if key is not parameter)
    plain = isinstance(
        place, flat.Field | places.Struct | places.Header | places.Union | places.Stack
    )
    if plain and not copy and not any(places.overlap(own, other) for other in others):
        assert place is not None
        frame.bindings[parameter] = place
        if parameter.direction == "out":
            invalidate(ctx, place, parameter.at)
        return
    inner = _temporary_in(ctx, frame, type_, parameter.name)
    frame.bindings[parameter] = inner
    if parameter.direction == "out":
        invalidate(ctx, inner, parameter.at)
    elif place is not None:
        assign(ctx, inner, place, parameter.at)
    if place is not None:
        copies.append((place, inner))


def _bind_input(  # noqa: PLR0917
    ctx: Context,
    parameter: tree.Parameter,
    place: places.Place | None,
    type_: t.Type,
    frame: Frame,
    written: list[set[tuple[str, str]]],
    *,
    copy: bool,
) -> None:
    if place is None:
        place = default_of(ctx, type_, parameter.at)
    constant = isinstance(place, flat.Number | flat.RuntimeData | flat.Text | places.Object)
    stored = isinstance(
        place, flat.Field | places.Struct | places.Header | places.Union | places.Stack
    )
    own = places.storage(place)
    stable = stored and not copy and not any(places.overlap(own, each) for each in written)
    if constant or stable:
        frame.bindings[parameter] = place
        return
    inner = _temporary_in(ctx, frame, type_, parameter.name)
    assign(ctx, inner, place, parameter.at)
    frame.bindings[parameter] = inner


def _temporary_in(ctx: Context, frame: Frame, type_: t.Type, name: str) -> places.Place:
    before, ctx.frame = ctx.frame, frame
    try:
        return ctx.temporary(type_, name)
    finally:
        ctx.frame = before


# Inlining


def inline(
    ctx: Context, frame: Frame, body: Callable[[], object], copies: list[CopyOut], at: Position
) -> None:
    """Emit `body` as it runs in `frame`, then copy out, also when it exits."""
    outer = ctx.frame
    frame.leave = ctx.new_label()
    frame.exit = ctx.new_label() if copies else outer.exit
    ctx.frame = frame
    try:
        code = ctx.capture(body)
    finally:
        ctx.frame = outer
    if not copies or frame.exit not in ctx.used_labels:
        ctx.labelled(frame.leave, code)
        _copy_out(ctx, copies, at)
        return
    done = ctx.new_label()
    inner = ctx.capture(lambda: _finish(ctx, frame, code, copies, done, at))
    everything = ctx.capture(lambda: _finish_exit(ctx, frame, inner, copies, outer, at))
    ctx.labelled(done, everything)


def _finish(  # noqa: PLR0917
    ctx: Context, frame: Frame, code: flat.Code, copies: list[CopyOut], done: int, at: Position
) -> None:
    ctx.labelled(frame.leave, code)
    _copy_out(ctx, copies, at)
    ctx.jump(done, at)


def _finish_exit(  # noqa: PLR0917
    ctx: Context, frame: Frame, inner: flat.Code, copies: list[CopyOut], outer: Frame, at: Position
) -> None:
    ctx.labelled(frame.exit, inner)
    _copy_out(ctx, copies, at)
    ctx.jump(outer.exit, at)


def _copy_out(ctx: Context, copies: list[CopyOut], at: Position) -> None:
    for target, source in copies:
        assign(ctx, target, source, at)


def _function(ctx: Context, call: Call, at: Position) -> places.Place | None:
    declaration = call.declaration
    assert isinstance(declaration, tree.Function)
    assert declaration.body is not None
    bindings = {key: ctx.bound(value) for key, value in call.bindings.items()}
    frame = Frame(ctx.global_frame, ctx.frame.prefix, bindings, owner=declaration)
    frame.in_action = ctx.frame.in_action
    copies = bind(ctx, call, frame, copy=False)
    statements = declaration.body.statements
    only = statements[0] if len(statements) == 1 else None
    if isinstance(only, tree.Return) and only.value is not None and not copies:
        return _in_frame(ctx, frame, only.value)
    if declaration.returns is not None:
        before, ctx.frame = ctx.frame, frame
        returns = ctx.written(declaration.returns)
        ctx.frame = before
        if returns != t.VOID:
            frame.result = ctx.temporary(returns, declaration.name)
    inline(ctx, frame, lambda: ctx.later.lower_statements(ctx, statements), copies, at)
    return frame.result


def _in_frame(ctx: Context, frame: Frame, expression: tree.Expression) -> places.Place:
    before, ctx.frame = ctx.frame, frame
    frame.exit = before.exit
    try:
        return place_of(ctx, expression)
    finally:
        ctx.frame = before


def _action_call(ctx: Context, call: Call, at: Position) -> places.Place | None:
    declaration = call.declaration
    assert isinstance(declaration, tree.Action)
    home = ctx.frame.home(declaration)
    frame = Frame(home, home.prefix, owner=declaration, in_action=ctx.frame.in_action)
    copies = bind(ctx, call, frame, copy=True)
    body = declaration.body.statements
    code = ctx.capture(
        lambda: inline(ctx, frame, lambda: ctx.later.lower_statements(ctx, body), copies, at)
    )
    straight = all(isinstance(each, flat.Assign | flat.Do) for each in code)
    in_pipeline = ctx.region in {"ingress", "egress"} and not frame.in_action
    if straight or not in_pipeline or flat.leaves(code):
        ctx.code.extend(code)
    else:
        ctx.emit(flat.Whole(code, at))
    return None


# Controls and parsers


def _apply(ctx: Context, call: Call, at: Position) -> places.Place | None:
    declaration = call.declaration
    if isinstance(declaration, tree.Table):
        ctx.later.apply_and_go_on(ctx, ctx.later.apply_table(ctx, declaration), at)
        return None
    assert isinstance(declaration, tree.Parser | tree.Control)
    _apply_object(ctx, _applied_object(ctx, call, declaration, at), call, at)
    return None


def _applied_object(
    ctx: Context, call: Call, declaration: tree.Parser | tree.Control, at: Position
) -> places.Object:
    assert call.base is not None
    reference = ctx.checked.references.get(call.base)
    place = ctx.frame.find(reference) if reference is not None else None
    if isinstance(place, places.Object):
        return place
    name = ctx.storage.unique(_prefixed(ctx, declaration.name))
    return places.Object(t.Object(declaration), name, at)


def _prefixed(ctx: Context, name: str) -> str:
    prefix = ctx.frame.prefix
    return f"{prefix}.{name}" if prefix else name


def _apply_object(ctx: Context, target: places.Object, call: Call, at: Position) -> None:
    """Inline a control or parser."""
    declaration = target.type.declaration
    assert isinstance(declaration, tree.Parser | tree.Control)
    types = {key: ctx.bound(value) for key, value in call.bindings.items()}
    frame = Frame(ctx.global_frame, target.name, types, owner=declaration)
    frame.bindings.update(target.bindings)
    copies = bind(ctx, call, frame, copy=False)
    called = call.declaration
    assert isinstance(called, tree.Parser | tree.Control)
    for theirs, ours in zip(called.arguments, declaration.arguments, strict=True):
        frame.bindings[ours] = frame.bindings[theirs]
    frame = _known_frame(ctx, target, frame, declaration, at)
    if isinstance(declaration, tree.Control):
        inline(ctx, frame, lambda: lower_control_body(ctx, declaration), copies, at)
    else:
        inline(ctx, frame, lambda: ctx.later.apply_parser(ctx, frame, declaration, at), copies, at)


def _known_frame(
    ctx: Context,
    target: places.Object,
    frame: Frame,
    declaration: tree.Parser | tree.Control,
    at: Position,
) -> Frame:
    """Return the frame of an earlier application with the same arguments, if there is one."""
    for known in target.frames:
        assert isinstance(known, Frame)
        same = all(
            known.bindings.get(parameter) == frame.bindings[parameter]
            for parameter in declaration.arguments
        )
        if same:
            return known
        for local in declaration.locals:
            if isinstance(local, tree.Instance):
                frame.bindings[local] = known.bindings[local]
    has_tables = any(isinstance(local, tree.Table) for local in declaration.locals)
    if target.frames and has_tables:
        raise ctx.unsupported(
            at,
            f"applying {target.name} twice with different arguments, since it has tables",
            "make an instance for each",
        )
    target.frames.append(frame)
    return frame


def lower_control_body(ctx: Context, declaration: tree.Control) -> None:
    """Lower what a control declares and does."""
    assert declaration.body is not None
    ctx.later.lower_statements(ctx, declaration.locals)
    ctx.later.lower_statements(ctx, declaration.body.statements)


def _construct(ctx: Context, call: Call, at: Position) -> places.Place | None:
    declaration = call.declaration
    assert isinstance(declaration, tree.Extern | tree.Parser | tree.Control | tree.Package)
    arguments = tuple(ctx.bound(t.Variable(each)) for each in declaration.parameters)
    arguments = tuple(t.substitute(each, call.bindings) for each in arguments)
    name = ctx.storage.unique(_prefixed(ctx, declaration.name))
    return make_object(ctx, call, t.Object(declaration, arguments), name, at)


def make_object(
    ctx: Context, call: Call, type_: t.Object, name: str, at: Position
) -> places.Object:
    """Make an instance, with its constructor's arguments."""
    bindings: dict[tree.Declaration, places.Place] = {
        parameter: place_of(ctx, value) for parameter, value in call.arguments if value is not None
    }
    return places.Object(type_, name, at, bindings)
