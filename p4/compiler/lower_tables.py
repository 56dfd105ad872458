"""The fifth pass, part seven: tables, their keys, actions and entries."""

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_calls import bind, inline
from p4.compiler.lower_context import Context, Frame
from p4.compiler.lower_expressions import place_of, read_value, value_of
from p4.compiler.lower_externs import exited_flag
from p4.compiler.lower_objects import array_of, profile_of
from p4.compiler.model import Call

DEFAULT_SIZE = 1024
COVER_LIMIT = 1000  # entries, up to which each is compared with each
MATCH_KINDS = ("exact", "lpm", "ternary", "range", "optional")


def apply_table(ctx: Context, table: tree.Table) -> flat.Table:
    """Return the table, with the code that computes its keys emitted before it."""
    home = ctx.frame.home(table)
    before, ctx.frame = ctx.frame, home
    try:
        keys = _keys(ctx, table, home)
        known = home.tables.get(table)
        if known is None:
            known = flat.Table(ctx.full_name(table), table.at, keys)
            home.tables[table] = known
            _fill(ctx, known, table)
    finally:
        ctx.frame = before
    return known


# Keys


def _keys(ctx: Context, table: tree.Table, home: Frame) -> tuple[flat.Key, ...]:
    known = home.tables.get(table)
    keys: list[flat.Key] = []
    for key in table.keys:
        if key.match_kind == "selector":
            continue
        if key.match_kind not in MATCH_KINDS:
            raise ctx.unsupported(key.at, f"match kind {key.match_kind!r}")
        earlier = known.keys[len(keys)] if known is not None else None
        keys.append(_key(ctx, key, earlier))
    if sum(key.kind == "lpm" for key in keys) > 1:
        raise ctx.unsupported(table.at, "two lpm keys in one table", "make one of them ternary")
    return tuple(keys)


def _key(ctx: Context, key: tree.Key, earlier: flat.Key | None) -> flat.Key:
    value = value_of(ctx, key.value)
    named = tree.annotation(key, "name")
    name = str(named.arguments[0]) if named and named.arguments else written(key.value)
    kind = "ternary" if key.match_kind == "optional" else key.match_kind
    known = earlier is None or earlier.target == value
    if known and isinstance(value, flat.Field | flat.Validity):
        return flat.Key(kind, value, name)
    if (masked := _masked(value)) and (earlier is None or (earlier.target, earlier.mask) == masked):
        return flat.Key(kind, masked[0], name, masked[1])
    target = earlier.target if earlier is not None else ctx.scalar(value.type, "key")
    assert isinstance(target, flat.Field)
    ctx.emit(flat.Assign(target, value, key.at))
    return flat.Key(kind, target, name)


def _masked(value: flat.Value) -> tuple[flat.Field, int] | None:
    """Return the field and the mask of a key `field & mask`, which tables have as such."""
    match value:
        case flat.Operation("&", flat.Field() as field, flat.Number(mask)) if mask:
            return field, mask
        case flat.Operation("&", flat.Number(mask), flat.Field() as field) if mask:
            return field, mask
    return None


# The rest of a table


def _fill(ctx: Context, result: flat.Table, table: tree.Table) -> None:
    actions = [_listed(ctx, reference) for reference in table.actions]
    by_declaration = {
        ctx.checked.calls[reference.call].declaration: action
        for reference, action in zip(table.actions, actions, strict=True)
    }
    result.default = (_no_action(ctx), ())
    for entry in table.properties:
        _property(ctx, result, table, entry, by_declaration)
    if result.default[0] not in actions:
        actions.append(result.default[0])
    result.actions = tuple(actions)
    if table.entries is not None:
        result.entries = tuple(
            _entry(ctx, table, row, rank, by_declaration)
            for row, rank in zip(table.entries, _ranks(ctx, table), strict=True)
        )
        result.size = max(result.size, len(result.entries))
        _check_entries(ctx, result.entries)


def _check_entries(ctx: Context, entries: tuple[flat.Entry, ...]) -> None:
    """Refuse entries with the same key; warn of those that others leave nothing to match."""
    seen: dict[tuple[flat.Match, ...], flat.Entry] = {}
    for entry in entries:
        first = seen.setdefault(entry.matches, entry)
        if first is not entry:
            hint = f"the first is at {first.at}"
            ctx.diagnostics.error(entry.at, "an entry with this key was there before", hint)
    if len(entries) > COVER_LIMIT:
        return
    for entry in entries:
        for other in entries:
            if other.priority < entry.priority and _covers(other.matches, entry.matches):
                message = "this entry is never reached"
                hint = f"the one at {other.at} comes before it"
                ctx.diagnostics.warning(entry.at, message, hint)
                break


def _no_action(ctx: Context) -> flat.Action:
    for action in ctx.program.actions:
        if action.name == "NoAction":
            return action
    action = flat.Action("NoAction", (), (), ctx.checked.program.at)
    ctx.program.actions.append(action)
    return action


def _property(
    ctx: Context,
    result: flat.Table,
    table: tree.Table,
    entry: tree.Property,
    actions: dict[tree.Declaration | None, flat.Action],
) -> None:
    match entry.name:
        case "default_action":
            call = ctx.checked.calls[entry.value]
            result.default = (actions[call.declaration], _constants(ctx, call))
            result.default_constant = entry.constant
        case "size":
            result.size = ctx.checked.constants[entry.value] or DEFAULT_SIZE
        case "support_timeout":
            result.timeout = bool(ctx.checked.constants.get(entry.value))
        case "implementation":
            _implementation(ctx, result, table, entry)
        case "counters" | "meters":
            _direct(ctx, result, entry)


def _attached(ctx: Context, entry: tree.Property, name: str) -> places.Object:
    """Return a property's object; one that is made there has the property's @name or `name`.

    The reference compiler names them so; command files depend on it.
    """
    place = place_of(ctx, entry.value)
    assert isinstance(place, places.Object)
    if isinstance(entry.value, tree.Call):
        mark = tree.annotation(entry, "name")
        written_name = str(mark.arguments[0]).removeprefix(".") if mark else name
        place.name = ctx.storage.unique(written_name)
    return place


def _direct(ctx: Context, result: flat.Table, entry: tree.Property) -> None:
    place = _attached(ctx, entry, entry.name.removesuffix("s"))
    arrays = ctx.program.counters if entry.name == "counters" else ctx.program.meters
    wanted = "direct_counter" if entry.name == "counters" else "direct_meter"
    array = array_of(ctx, place, wanted, entry.at)
    if array.table is not None:
        raise ctx.unsupported(entry.at, f"{array.name} attached to two tables")
    array.table = result.name
    array.size = result.size
    if array not in arrays:
        arrays.append(array)
    if entry.name == "counters":
        result.counter = array.name
    else:
        result.meter = array.name


def _implementation(
    ctx: Context, result: flat.Table, table: tree.Table, entry: tree.Property
) -> None:
    place = _attached(ctx, entry, f"action_profile_{ctx.unnamed_profiles}")
    ctx.unnamed_profiles += isinstance(entry.value, tree.Call)
    profile = profile_of(ctx, place, entry.at)
    profile.pipeline = profile.pipeline or ctx.region
    result.profile = profile.name
    inputs = [
        read_value(ctx, place_of(ctx, key.value), key.at)
        for key in table.keys
        if key.match_kind == "selector"
    ]
    fields = tuple(value for value in inputs if isinstance(value, flat.Field))
    if len(fields) < len(inputs):
        raise ctx.unsupported(entry.at, "a selector over something that is not a field")
    if profile.algorithm is not None:
        if profile.inputs is not None and profile.inputs != fields:
            raise ctx.diagnostics.fail(
                entry.at, f"{profile.name} has other selector fields in another table"
            )
        profile.inputs = fields


# Actions


def _listed(ctx: Context, reference: tree.ActionReference) -> flat.Action:
    call = ctx.checked.calls[reference.call]
    declaration = call.declaration
    assert isinstance(declaration, tree.Action)
    if declaration.name == "NoAction" and not declaration.body.statements:
        return _no_action(ctx)
    home = ctx.frame.home(declaration)
    known = ctx.frame.actions.get(declaration)
    if known is None or call.arguments:
        known = _action(ctx, declaration, call, home)
        ctx.frame.actions[declaration] = known
    return known


def _action(ctx: Context, declaration: tree.Action, call: Call, home: Frame) -> flat.Action:
    """Lower an action that a table may run."""
    frame = Frame(home, home.prefix, owner=declaration, in_action=True)
    plain = [parameter for parameter in declaration.arguments if not parameter.direction]
    widths: list[tuple[str, int]] = []
    for index, parameter in enumerate(plain):
        type_ = ctx.bound(ctx.checked.declared[parameter])
        width = t.width(type_)
        if width is None or not t.is_scalar(type_):
            raise ctx.unsupported(parameter.at, f"an action parameter of type {type_}")
        widths.append((parameter.name, width))
        frame.bindings[parameter] = flat.RuntimeData(index, t.base(type_))
    action = flat.Action(ctx.full_name(declaration, home.prefix), tuple(widths), (), declaration.at)
    ctx.program.actions.append(action)
    action.body = ctx.capture(lambda: _action_body(ctx, declaration, call, frame, action))
    return action


def _action_body(
    ctx: Context, declaration: tree.Action, call: Call, frame: Frame, action: flat.Action
) -> None:
    outer = ctx.frame
    guard = Frame(outer, outer.prefix, exit=ctx.new_label(), in_action=True)
    ctx.frame = guard
    try:
        body = ctx.capture(lambda: _listed_body(ctx, declaration, call, frame))
    finally:
        ctx.frame = outer
    if guard.exit not in ctx.used_labels:
        ctx.code.extend(body)
        return
    action.exits = True
    end = ctx.new_label()
    finish = ctx.capture(lambda: ctx.jump(end, declaration.at))
    guarded = ctx.capture(lambda: ctx.labelled(guard.exit, body + finish))
    leave = ctx.capture(lambda: _mark_exit(ctx, outer, declaration.at))
    ctx.labelled(end, guarded + leave)


def _listed_body(ctx: Context, declaration: tree.Action, call: Call, frame: Frame) -> None:
    copies = bind(ctx, call, frame, copy=True)
    statements = declaration.body.statements
    inline(ctx, frame, lambda: ctx.later.lower_statements(ctx, statements), copies, declaration.at)


def _mark_exit(ctx: Context, control: Frame, at: Position) -> None:
    """Note that an action exited: the pipeline stops, or copies out first."""
    if control.exit == ctx.pipeline_exit:
        ctx.do("exit", at)
        return
    ctx.emit(flat.Assign(exited_flag(ctx), fold.TRUE, at))


def apply_and_go_on(
    ctx: Context,
    table: flat.Table,
    at: Position,
    hit: flat.Code | None = None,
    miss: flat.Code | None = None,
    *,
    cases: tuple[tuple[int, flat.Code], ...] = (),
    otherwise: flat.Code = (),
) -> None:
    """Emit a table and what follows its outcomes, unless its action exited."""
    check: flat.Code = ()
    exits = any(action.exits for action in table.actions)
    if exits and ctx.frame.exit != ctx.pipeline_exit:
        jump = ctx.capture(lambda: ctx.jump(ctx.frame.exit, at))
        check = ctx.capture(lambda: ctx.branch(exited_flag(ctx), jump, (), at))
    if hit is None or miss is None:
        guarded = tuple((place, check + code) for place, code in cases)
        ctx.emit(flat.Apply(table, at, None, None, guarded, check + otherwise))
    else:
        ctx.emit(flat.Apply(table, at, check + hit, check + miss))


# Entries


def _constants(ctx: Context, call: Call) -> tuple[flat.Number, ...]:
    """Return an action's arguments in an entry."""
    found: list[flat.Number] = []
    for parameter, value in call.arguments:
        type_ = ctx.bound(ctx.checked.declared[parameter])
        assert value is not None
        found.append(fold.number(ctx.checked.constants[value], type_))
    return tuple(found)


def _entry(
    ctx: Context,
    table: tree.Table,
    row: tree.Entry,
    rank: int,
    actions: dict[tree.Declaration | None, flat.Action],
) -> flat.Entry:
    call = ctx.checked.calls[row.action]
    keys = row.keys
    if len(keys) < len(table.keys):
        keys = (row.keys[0],) * len(table.keys)
    matches = tuple(
        _match_of(ctx, value, key)
        for value, key in zip(keys, table.keys, strict=True)
        if key.match_kind != "selector"
    )
    action = actions[call.declaration]
    return flat.Entry(matches, action, _constants(ctx, call), rank, row.at)


def _match_of(ctx: Context, value: tree.Expression, key: tree.Key) -> flat.Match:
    width = t.width(ctx.type_of(key.value)) or 0
    everything = (1 << width) - 1
    first, second = _bounds(ctx, value, everything)
    match key.match_kind:
        case "exact":
            return flat.Match("exact", first, 0, width)
        case "range":
            high = second if _is_operator(value, "..") else first
            if isinstance(value, tree.Everything):
                first, high = 0, everything
            if first > high:
                raise ctx.diagnostics.fail(value.at, "the range's lower end is above its end")
            return flat.Match("range", first, high, width)
        case "lpm":
            prefix = second.bit_count()
            if second != everything ^ ((1 << (width - prefix)) - 1):
                raise ctx.diagnostics.fail(value.at, "the mask of an lpm key has a hole")
            return flat.Match("lpm", first & second, prefix, width)
    return flat.Match("ternary", first & second, second, width)


def _bounds(ctx: Context, value: tree.Expression, everything: int) -> tuple[int, int]:
    """Return a keyset's value and mask, or both ends of a range."""
    if isinstance(value, tree.Everything):
        return 0, 0
    if isinstance(value, tree.Binary) and value.operator in {"&&&", ".."}:
        left = ctx.checked.constants[value.left]
        right = ctx.checked.constants[value.right]
        return left & everything, right & everything
    return ctx.checked.constants[value] & everything, everything


def _ranks(ctx: Context, table: tree.Table) -> list[int]:
    """Return the entries' priorities as BMv2 has them: the smaller number wins."""
    assert table.entries is not None
    annotated = [tree.annotation(entry, "priority") for entry in table.entries]
    if all(entry.priority is None for entry in table.entries):
        return [
            int(mark.arguments[0]) if mark and mark.arguments else index + 1
            for index, mark in enumerate(annotated)
        ]
    settings = {entry.name: ctx.checked.constants.get(entry.value, 1) for entry in table.properties}
    largest = bool(settings.get("largest_priority_wins", 1))
    step = settings.get("priority_delta", 1) or 1
    current = (len(table.entries) - 1) * step + 1 if largest else 1
    levels: list[int] = []
    for index, entry in enumerate(table.entries):
        if entry.priority is not None:
            current = ctx.checked.constants[entry.priority]
        elif index:
            current += -step if largest else step
        levels.append(current)
    top = max(levels, default=0)
    return [top - level + 1 if largest else level for level in levels]


def _covers(first: tuple[flat.Match, ...], second: tuple[flat.Match, ...]) -> bool:
    """Tell whether what the second matches, some of it by a mask, the first matches, too."""
    return first != second and all(
        one == other
        or (
            one.kind == other.kind == "ternary"
            and one.second & other.second == one.second
            and one.value == other.value & one.second
        )
        for one, other in zip(first, second, strict=True)
    )


def _is_operator(value: tree.Expression, operator: str) -> bool:
    return isinstance(value, tree.Binary) and value.operator == operator


def written(expression: tree.Expression) -> str:  # noqa: C901, PLR0911
    """Return a key's expression as it was written, for its name."""
    match expression:
        case tree.Name():
            return expression.name
        case tree.Member():
            return f"{written(expression.base)}.{expression.name}"
        case tree.Index():
            return f"{written(expression.base)}[{written(expression.index)}]"
        case tree.Slice():
            bounds = f"{written(expression.high)}:{written(expression.low)}"
            return f"{written(expression.base)}[{bounds}]"
        case tree.Call(function=tree.Member(base=header, name="isValid")):
            return f"{written(header)}.$valid$"
        case tree.Call():
            return f"{written(expression.function)}()"
        case tree.Integer():
            return str(expression.value)
        case tree.Unary():
            return expression.operator + written(expression.operand)
        case tree.Binary():
            left, right = written(expression.left), written(expression.right)
            return f"{left} {expression.operator} {right}"
        case tree.Cast():
            return written(expression.operand)
    return "key"
