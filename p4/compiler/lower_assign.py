"""The fifth pass, part three: assignments between places of every shape."""

from collections.abc import Callable

from p4.compiler import flat, fold, places
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_context import Context
from p4.compiler.lower_expressions import keep, member_of, read_value


def assign(  # noqa: C901
    ctx: Context, target: places.Place, source: places.Place, at: Position
) -> None:
    """Emit what makes a place hold what another one holds."""
    if isinstance(source, places.Choice) and not t.is_scalar(source.type):
        choose_by_index(ctx, source, lambda each: assign(ctx, target, each, at), at)
        return
    match target:
        case places.Choice():
            kept = keep(ctx, source, at) if _is_computed(source) else source
            choose_by_index(ctx, target, lambda each: assign(ctx, each, kept, at), at)
        case places.Bits():
            _assign_bits(ctx, target, read_value(ctx, source, at), at)
        case places.Struct():
            _assign_parts(ctx, target, source, at)
        case places.Header():
            _assign_header(ctx, target, source, at)
        case places.Union():
            _assign_union(ctx, target, source, at)
        case places.Stack():
            _assign_stack(ctx, target, source, at)
        case places.Varbit():
            _assign_varbit(ctx, target, source, at)
        case flat.Field():
            value = read_value(ctx, source, at)
            if value != target:
                ctx.emit(flat.Assign(target, value, at))
        case _:
            raise ctx.unsupported(at, "an assignment to this")


def choose_by_index(
    ctx: Context, choice: places.Choice, each: Callable[[places.Place], None], at: Position
) -> None:
    """Emit code for whichever place the index selects; none if it is out of range."""
    code: flat.Code = ()
    for index in range(len(choice.places) - 1, -1, -1):
        place = choice.places[index]
        body = ctx.capture(lambda place=place: each(place))  # type: ignore[misc]
        here = fold.number(index, choice.index.type)
        condition = fold.binary("==", choice.index, here, t.BOOL)
        code = ctx.capture(
            lambda condition=condition, body=body, code=code: ctx.branch(  # type: ignore[misc]
                condition, body, code, at
            )
        )
    ctx.code.extend(code)


def _assign_bits(ctx: Context, target: places.Bits, value: flat.Value, at: Position) -> None:
    """Set a slice: keep the bits around it."""
    place = target.place
    if isinstance(place, places.Choice):
        value = ctx.save(value, at)
        choose_by_index(
            ctx,
            place,
            lambda each: _assign_bits(ctx, places.Bits(each, target.high, target.low), value, at),
            at,
        )
        return
    whole = read_value(ctx, place, at)
    bits = t.base(whole.type)
    assert isinstance(bits, t.Bits)
    unsigned = t.Bits(bits.width)
    mask = ((1 << (target.high - target.low + 1)) - 1) << target.low
    around = fold.binary("&", fold.cast(whole, unsigned), fold.number(~mask, unsigned), unsigned)
    narrow = fold.cast(value, t.Bits(target.high - target.low + 1))
    amount = fold.number(target.low, t.Bits(32))
    moved = fold.binary("<<", fold.cast(narrow, unsigned), amount, unsigned)
    joined = fold.binary("|", around, moved, unsigned)
    assign(ctx, place, fold.cast(joined, bits), at)


def _assign_parts(ctx: Context, target: places.Struct, source: places.Place, at: Position) -> None:
    if not isinstance(source, places.Struct | places.HeaderLiteral):
        raise ctx.unsupported(at, "an assignment of this to a struct")
    values = list(source.parts.values())
    targets = list(target.parts.values())
    if _disturbs(targets, values):
        values = [keep(ctx, value, at) for value in values]
    for part, value in zip(targets, values, strict=True):
        assign(ctx, part, value, at)


def _disturbs(targets: list[places.Place], values: list[places.Place]) -> bool:
    """Tell whether assigning in order would change a value before its turn."""
    for index, target in enumerate(targets):
        written = places.storage(target)
        later = values[index + 1 :]
        if written and any(places.overlap(written, places.storage(each)) for each in later):
            return True
    return False


def _assign_header(ctx: Context, target: places.Header, source: places.Place, at: Position) -> None:
    reference = flat.Reference("header", target.name)
    match source:
        case places.Header():
            if source.name != target.name:
                ctx.do("assign_header", at, reference, flat.Reference("header", source.name))
        case places.HeaderLiteral() if source.valid == fold.FALSE:
            ctx.do("remove_header", at, reference)
        case places.HeaderLiteral():
            _assign_header_fields(ctx, target, source, at)
        case places.StackEnd():
            fields = {name: member_of(ctx, source, name, at) for name, _ in target.type.fields}
            literal = places.HeaderLiteral(target.type, fold.TRUE, fields)
            _assign_header_fields(ctx, target, literal, at)
        case _:
            raise ctx.unsupported(at, "an assignment of this to a header")


def _assign_header_fields(
    ctx: Context, target: places.Header, source: places.HeaderLiteral, at: Position
) -> None:
    fields = [member_of(ctx, target, name, at) for name, _ in target.type.fields]
    values = [member_of(ctx, source, name, at) for name, _ in target.type.fields]
    own = places.storage(target)
    if any(places.overlap(own, places.storage(value)) for value in values):
        values = [keep(ctx, value, at) for value in values]
    ctx.do("add_header", at, flat.Reference("header", target.name))
    for place, value in zip(fields, values, strict=True):
        assign(ctx, place, value, at)


def _assign_union(ctx: Context, target: places.Union, source: places.Place, at: Position) -> None:
    match source:
        case places.Union():
            if source.name != target.name:
                ctx.do(
                    "assign_union",
                    at,
                    flat.Reference("header_union", target.name),
                    flat.Reference("header_union", source.name),
                )
        case places.HeaderLiteral():
            for member in target.members:
                ctx.do("remove_header", at, flat.Reference("header", member.name))
        case _:
            raise ctx.unsupported(at, "an assignment of this to a header union")


def _assign_stack(ctx: Context, target: places.Stack, source: places.Place, at: Position) -> None:
    match source:
        case places.Stack():
            union = isinstance(target.elements[0], places.Union)
            kind = "header_union_stack" if union else "header_stack"
            primitive = "assign_union_stack" if union else "assign_header_stack"
            if source.name != target.name:
                ctx.do(
                    primitive,
                    at,
                    flat.Reference(kind, target.name),
                    flat.Reference(kind, source.name),
                )
        case places.Struct() | places.HeaderLiteral():
            values = list(source.parts.values())
            if _disturbs(list(target.elements), values):
                values = [keep(ctx, value, at) for value in values]
            for element, value in zip(target.elements, values, strict=True):
                assign(ctx, element, value, at)
        case _:
            raise ctx.unsupported(at, "an assignment of this to a stack")


def _assign_varbit(ctx: Context, target: places.Varbit, source: places.Place, at: Position) -> None:
    if not isinstance(source, places.Varbit):
        raise ctx.unsupported(at, "an assignment of this to a varbit field")
    ctx.do(
        "assign_VL",
        at,
        flat.Field(target.header, target.name, target.type),
        flat.Field(source.header, source.name, source.type),
    )


def invalidate(ctx: Context, place: places.Place, at: Position) -> None:
    """Make the headers in a new variable invalid."""
    match place:
        case places.Header():
            ctx.do("remove_header", at, flat.Reference("header", place.name))
        case places.Struct():
            for part in place.parts.values():
                invalidate(ctx, part, at)
        case places.Union():
            for member in place.members:
                invalidate(ctx, member, at)
        case places.Stack():
            for element in place.elements:
                invalidate(ctx, element, at)


def _is_computed(place: places.Place) -> bool:
    return isinstance(place, flat.Operation | places.Choice | places.Bits)
