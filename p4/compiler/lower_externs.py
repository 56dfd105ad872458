"""The fifth pass, part six: v1model's extern objects and functions."""

import itertools
import re
from collections.abc import Callable
from typing import Any

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_assign import assign, choose_by_index
from p4.compiler.lower_calls import evaluate_arguments
from p4.compiler.lower_context import Context
from p4.compiler.lower_expressions import member_of, place_of, read_value
from p4.compiler.lower_objects import algorithm_of, array_of
from p4.compiler.model import Call

CLONES = {"ingress": "clone_ingress_pkt_to_egress", "egress": "clone_egress_pkt_to_egress"}


def lower_extern_call(ctx: Context, call: Call, at: Position) -> places.Place | None:
    """Emit the primitive of a call of an extern; returns its result's place."""
    owner = ""
    if call.kind == "method":
        assert call.base is not None
        place = place_of(ctx, call.base)
        if not isinstance(place, places.Object):
            raise ctx.unsupported(at, "a method of this")
        owner = place.type.declaration.name
        handler = _METHODS.get((owner, call.name))
        if handler is not None:
            return handler(ctx, place, call, at)
    else:
        function = _FUNCTIONS.get(call.name)
        if function is not None:
            return function(ctx, call, at)
    name = f"{owner}.{call.name}" if owner else call.name
    raise ctx.unsupported(at, name, "BMv2 has no primitive for it")


# Helpers


def _inputs(ctx: Context, call: Call) -> dict[str, places.Place]:
    """Return the arguments by parameter; outputs as they are, to be assigned to."""
    return {
        parameter.name: place
        for parameter, place, _ in evaluate_arguments(ctx, call)
        if place is not None
    }


def _number(ctx: Context, call: Call, name: str, at: Position) -> flat.Value:
    return read_value(ctx, _inputs(ctx, call)[name], at)


def flatten_place(ctx: Context, place: places.Place, at: Position) -> list[flat.Value]:
    """Return the numbers in a place in order."""
    match place:
        case places.Struct():
            return [x for part in place.parts.values() for x in flatten_place(ctx, part, at)]
        case places.Header() | places.HeaderLiteral():
            names = [name for name, _ in place.type.fields]
            parts = [member_of(ctx, place, name, at) for name in names]
            return [value for part in parts for value in flatten_place(ctx, part, at)]
        case places.Stack():
            return [value for each in place.elements for value in flatten_place(ctx, each, at)]
        case places.Union():
            return [value for each in place.members for value in flatten_place(ctx, each, at)]
        case places.Varbit():
            return [flat.Field(place.header, place.name, place.type)]
    return [read_value(ctx, place, at)]


def _into(
    ctx: Context, target: places.Place, at: Position, primitive: Callable[[flat.Field], None]
) -> None:
    """Let a primitive write to a field, and that to where the result is wanted."""
    if isinstance(target, flat.Field):
        primitive(target)
        return
    field = ctx.scalar(places.type_of(target))
    primitive(field)
    assign(ctx, target, field, at)


def _must_be_in(ctx: Context, blocks: tuple[str, ...], what: str, at: Position) -> None:
    if ctx.region not in blocks:
        raise ctx.unsupported(at, f"{what} in the {ctx.region}")


def exited_flag(ctx: Context) -> flat.Field:
    """Return the field that says whether an action has exited."""
    if ctx.exit_flag is None:
        ctx.exit_flag = ctx.storage.scalar(t.BOOL, "exited")
    return ctx.exit_flag


# Registers, counters, meters


def _register_read(
    ctx: Context, target: places.Object, call: Call, at: Position
) -> places.Place | None:
    arguments = _inputs(ctx, call)
    index = read_value(ctx, arguments["index"], at)
    array = flat.Reference("register_array", array_of(ctx, target, "register", at).name)
    _into(
        ctx,
        arguments["result"],
        at,
        lambda field: ctx.do("register_read", at, field, array, index),
    )
    return None


def _register_write(
    ctx: Context, target: places.Object, call: Call, at: Position
) -> places.Place | None:
    arguments = _inputs(ctx, call)
    array = flat.Reference("register_array", array_of(ctx, target, "register", at).name)
    index, value = read_value(ctx, arguments["index"], at), read_value(ctx, arguments["value"], at)
    ctx.do("register_write", at, array, index, value)
    return None


def _count(ctx: Context, target: places.Object, call: Call, at: Position) -> places.Place | None:
    array = flat.Reference("counter_array", array_of(ctx, target, "counter", at).name)
    ctx.do("count", at, array, _number(ctx, call, "index", at))
    return None


def _execute_meter(
    ctx: Context, target: places.Object, call: Call, at: Position
) -> places.Place | None:
    arguments = _inputs(ctx, call)
    index = read_value(ctx, arguments["index"], at)
    array = flat.Reference("meter_array", array_of(ctx, target, "meter", at).name)
    _into(
        ctx,
        arguments["result"],
        at,
        lambda field: ctx.do("execute_meter", at, array, index, field),
    )
    return None


def _direct_count(
    ctx: Context, target: places.Object, _call: Call, at: Position
) -> places.Place | None:
    """Emit nothing: a table with a direct counter counts by itself."""
    array_of(ctx, target, "direct_counter", at)
    return None


def _direct_read(
    ctx: Context, target: places.Object, call: Call, at: Position
) -> places.Place | None:
    result = _inputs(ctx, call)["result"]
    array = array_of(ctx, target, "direct_meter", at)
    if not isinstance(result, flat.Field):
        raise ctx.unsupported(at, "reading a direct meter into something that is not a field")
    if array.target is not None and array.target != result:
        raise ctx.unsupported(at, f"reading {array.name} into two different fields")
    array.target = result
    return None


# Packets


def _extract(ctx: Context, _target: places.Object, call: Call, at: Position) -> places.Place | None:
    arguments = [place for _, place, _ in evaluate_arguments(ctx, call)]
    header = arguments[0] or ctx.temporary(_type_argument(ctx, call), "extracted")
    length = read_value(ctx, arguments[1], at) if len(arguments) > 1 and arguments[1] else None
    _extract_into(ctx, header, length, at)
    return None


def _extract_into(
    ctx: Context, header: places.Place, length: flat.Value | None, at: Position
) -> None:
    reference: flat.Parameter
    match header:
        case places.Header():
            reference = flat.Reference("regular", header.name)
        case places.StackEnd(which="next", member=None):
            reference = flat.Reference("stack", header.stack.name)
        case places.StackEnd(which="next", member=str(member)):
            reference = flat.UnionEnd(header.stack.name, member)
        case places.Choice():
            choose_by_index(ctx, header, lambda each: _extract_into(ctx, each, length, at), at)
            return
        case _:
            raise ctx.unsupported(at, "extracting into this", "extract into a header")
    if length is None:
        ctx.do("extract", at, reference)
    else:
        ctx.do("extract_VL", at, reference, length)


def _lookahead(
    ctx: Context, _target: places.Object, call: Call, at: Position
) -> places.Place | None:
    type_ = _type_argument(ctx, call)
    size = t.width(type_)
    if size is None:
        raise ctx.unsupported(at, f"lookahead of {type_}")
    if size > 0 and not t.is_scalar(type_):
        # BMv2 sees whether the frame is too short by the width that it reads alone.
        whole = t.Bits(size)
        ctx.emit(flat.Assign(ctx.scalar(whole), flat.Lookahead(0, whole), at))
    place, _ = _ahead(ctx, type_, 0, at)
    return place


def _type_argument(ctx: Context, call: Call) -> t.Type:
    declaration = call.declaration
    assert isinstance(declaration, tree.Function)
    variable = t.Variable(declaration.parameters[0])
    return t.base(ctx.bound(t.substitute(variable, call.bindings)))


def _ahead(ctx: Context, type_: t.Type, offset: int, at: Position) -> tuple[places.Place, int]:
    """Read ahead a value of the type; returns it and the offset behind it."""
    type_ = t.base(type_)
    if isinstance(type_, t.Record | t.Tuple):
        fields = (
            type_.fields
            if isinstance(type_, t.Record)
            else tuple((str(index), item) for index, item in enumerate(type_.items))
        )
        parts: dict[str, places.Place] = {}
        for name, part in fields:
            parts[name], offset = _ahead(ctx, part, offset, at)
        if isinstance(type_, t.Record) and type_.kind == "header":
            return places.HeaderLiteral(type_, fold.TRUE, parts), offset
        return places.Struct(type_, parts), offset
    if isinstance(type_, t.Stack):
        return _ahead(ctx, t.Tuple((type_.element,) * type_.size), offset, at)
    if not t.is_scalar(type_):
        raise ctx.unsupported(at, f"lookahead of {type_}")
    size = t.width(type_)
    assert size is not None
    field = ctx.scalar(type_)
    ctx.emit(flat.Assign(field, flat.Lookahead(offset, type_), at))
    return field, offset + size


def _advance(ctx: Context, _target: places.Object, call: Call, at: Position) -> places.Place | None:
    ctx.do("advance", at, _number(ctx, call, "sizeInBits", at))
    return None


def _emit_header(
    ctx: Context, _target: places.Object, call: Call, at: Position
) -> places.Place | None:
    for header in _headers_in(ctx, _inputs(ctx, call)["hdr"], at):
        ctx.do("emit", at, flat.Reference("header", header.name))
    return None


def _headers_in(ctx: Context, place: places.Place, at: Position) -> list[places.Header]:
    match place:
        case places.Header():
            return [place]
        case places.Struct():
            return [x for part in place.parts.values() for x in _headers_in(ctx, part, at)]
        case places.Union():
            return list(place.members)
        case places.Stack():
            return [x for each in place.elements for x in _headers_in(ctx, each, at)]
    raise ctx.unsupported(at, "emitting something that is not a header")


def _verify(ctx: Context, call: Call, at: Position) -> places.Place | None:
    arguments = _inputs(ctx, call)
    condition = read_value(ctx, arguments["check"], at)
    ctx.do("verify", at, condition, read_value(ctx, arguments["toSignal"], at))
    return None


# Functions


def _static_assert(_ctx: Context, _call: Call, _at: Position) -> places.Place | None:
    """Return true: the checker has asserted it."""
    return fold.TRUE


def _mark_to_drop(ctx: Context, call: Call, at: Position) -> places.Place | None:
    _must_be_in(ctx, ("ingress", "egress"), "mark_to_drop", at)
    place = _inputs(ctx, call).get("standard_metadata")
    name = "standard_metadata"
    if isinstance(place, places.Struct):
        field = place.parts["egress_spec"]
        if isinstance(field, flat.Field) and field.header != name:
            assign(ctx, field, fold.number(511, t.Bits(9)), at)
            assign(ctx, place.parts["mcast_grp"], fold.number(0, t.Bits(16)), at)
            return None
    ctx.do("mark_to_drop", at, flat.Reference("header", name))
    return None


def _hash(ctx: Context, call: Call, at: Position) -> places.Place | None:
    arguments = _inputs(ctx, call)
    algorithm = algorithm_of(ctx, arguments["algo"], at)
    values = [_copy_input(ctx, value, at) for value in flatten_place(ctx, arguments["data"], at)]
    name = _calculation(ctx, algorithm, tuple(values), at, payload=False)
    lowest = read_value(ctx, arguments["base"], at)
    count = read_value(ctx, arguments["max"], at)
    _into(
        ctx,
        arguments["result"],
        at,
        lambda field: ctx.do(
            "modify_field_with_hash_based_offset",
            at,
            field,
            _sized(lowest),
            flat.Reference("calculation", name),
            _sized(count),
        ),
    )
    return None


def _copy_input(ctx: Context, value: flat.Value, at: Position) -> flat.Value:
    """Copy a hash's input, as the reference compiler does: invalid headers count too."""
    if isinstance(value, flat.Number):
        return _sized(value)
    field = ctx.scalar(value.type, "hash")
    ctx.emit(flat.Assign(field, value, at))
    return field


def _calculation(
    ctx: Context, algorithm: str, values: tuple[flat.Value, ...], at: Position, *, payload: bool
) -> str:
    count = len(ctx.program.calculations)
    name = f"calc_{count - 1}" if count else "calc"
    ctx.program.calculations.append(flat.Calculation(name, algorithm, values, payload, at))
    return name


def _random(ctx: Context, call: Call, at: Position) -> places.Place | None:
    arguments = _inputs(ctx, call)
    low, high = read_value(ctx, arguments["lo"], at), read_value(ctx, arguments["hi"], at)
    _into(
        ctx,
        arguments["result"],
        at,
        lambda field: ctx.do("modify_field_rng_uniform", at, field, low, high),
    )
    return None


def _truncate(ctx: Context, call: Call, at: Position) -> places.Place | None:
    ctx.do("truncate", at, _number(ctx, call, "length", at))
    return None


def _assertion(ctx: Context, call: Call, at: Position) -> places.Place | None:
    ctx.do(call.name, at, _number(ctx, call, "check", at))
    return None


def _log(ctx: Context, call: Call, at: Position) -> places.Place | None:
    arguments = _inputs(ctx, call)
    message = arguments["msg"]
    assert isinstance(message, flat.Text)
    data = arguments.get("data")
    shown = data.parts.values() if isinstance(data, places.Struct) else [data] if data else []
    values = [flatten_place(ctx, each, at) for each in shown]
    text = flat.Text(_with_placeholders(message.text, [len(each) for each in values]))
    ctx.do("log_msg", at, text, flat.Vector(tuple(itertools.chain.from_iterable(values))))
    return None


# Copies of packets, and digests


def _digest(ctx: Context, call: Call, at: Position) -> places.Place | None:
    _must_be_in(ctx, ("ingress",), "a digest", at)
    arguments = _inputs(ctx, call)
    receiver = read_value(ctx, arguments["receiver"], at)
    data = arguments["data"]
    name = "digest"
    if isinstance(data, places.Struct) and isinstance(data.type, t.Record) and data.type.name:
        name = data.type.name
    values = [_digest_input(ctx, value, at) for value in flatten_place(ctx, data, at)]
    lists = ctx.program.learn_lists
    lists.append(flat.FieldList(name, tuple(values), at))
    ctx.do("generate_digest", at, receiver, fold.number(len(lists), t.Bits(32)))
    return None


def _digest_input(ctx: Context, value: flat.Value, at: Position) -> flat.Value:
    if isinstance(value, flat.Field):
        return value
    return _copy_input(ctx, value, at) if not isinstance(value, flat.Number) else value


def _clone(ctx: Context, call: Call, at: Position) -> places.Place | None:
    arguments = _inputs(ctx, call)
    kind = arguments["type"]
    if not isinstance(kind, flat.Number):
        raise ctx.unsupported(at, "a clone whose type is not constant")
    block = ("ingress", "egress")[kind.value]
    name = ("I2E", "E2E")[kind.value]
    _must_be_in(ctx, (block,), f"{call.name}(CloneType.{name}, …)", at)
    session = read_value(ctx, arguments["session"], at)
    fields = _field_list(ctx, arguments, at)
    ctx.do(CLONES[block], at, session, fields)
    return None


def _again(ctx: Context, call: Call, at: Position) -> places.Place | None:
    """Lower resubmit and recirculate."""
    primitive = call.name.split("_")[0]
    block = "ingress" if primitive == "resubmit" else "egress"
    _must_be_in(ctx, (block,), primitive, at)
    ctx.do(primitive, at, _field_list(ctx, _inputs(ctx, call), at))
    return None


def _field_list(ctx: Context, arguments: dict[str, places.Place], at: Position) -> flat.Value:
    """Return the number of the list of fields that a copy of the packet keeps."""
    index = arguments.get("index")
    if index is not None and not isinstance(index, flat.Number):
        raise ctx.unsupported(at, "a field list that is not constant")
    if isinstance(index, flat.Number):
        name, values = f"field_list{index.value}", ctx.later.tagged_fields(ctx, index.value)
    else:
        name = f"fl_{len(ctx.program.field_lists)}"
        data = arguments.get("data")
        found = flatten_place(ctx, data, at) if data is not None else []
        values = [value for value in found if isinstance(value, flat.Field)]
    lists = ctx.program.field_lists
    names = [entry.name for entry in lists]
    if name not in names:
        lists.append(flat.FieldList(name, tuple(values), at))
        names.append(name)
    return fold.number(names.index(name) + 1, t.Bits(32))


# Checksums


def _checksum(ctx: Context, call: Call, at: Position) -> places.Place | None:
    update = call.name.startswith("update")
    _must_be_in(ctx, ("checksum update",) if update else ("checksum verification",), call.name, at)
    arguments = _inputs(ctx, call)
    algorithm = algorithm_of(ctx, arguments["algo"], at)
    data = next(value for parameter, value in call.arguments if parameter.name == "data")
    values = _checksum_inputs(ctx, data, at)
    if not all(isinstance(value, flat.Field | flat.Number) for value in values):
        raise ctx.unsupported(at, "a checksum over something that is not a field")
    target = arguments["checksum"]
    if not isinstance(target, flat.Field):
        raise ctx.unsupported(at, "a checksum in something that is not a field")
    payload = call.name.endswith("payload")
    name = _calculation(ctx, algorithm, tuple(values), at, payload=payload)
    count = len(ctx.program.checksums)
    checksum = flat.Checksum(
        f"cksum_{count - 1}" if count else "cksum",
        target,
        name,
        update,
        read_value(ctx, arguments["condition"], at),
        at,
    )
    ctx.program.checksums.append(checksum)
    ctx.do("checksum", at, flat.Text(checksum.name))
    return None


def _checksum_inputs(ctx: Context, data: tree.Expression | None, at: Position) -> list[flat.Value]:
    """Return what a checksum is over: fields and constants, one after the other."""
    match data:
        case tree.ListExpression():
            return [x for item in data.items for x in _checksum_inputs(ctx, item, at)]
        case tree.StructExpression():
            return [x for _, item in data.fields for x in _checksum_inputs(ctx, item, at)]
        case tree.Binary(operator="++"):
            parts = (data.left, data.right)
            return [x for part in parts for x in _checksum_inputs(ctx, part, at)]
        case tree.Cast():
            extra = (t.width(ctx.type_of(data)) or 0) - (t.width(ctx.type_of(data.operand)) or 0)
            zeros = [fold.number(0, t.Bits(extra))] if extra > 0 else []
            if extra >= 0:
                return [*zeros, *_checksum_inputs(ctx, data.operand, at)]
    assert data is not None
    return [
        _sized(value) if isinstance(value, flat.Number) else value
        for value in flatten_place(ctx, place_of(ctx, data), at)
    ]


def _sized(value: flat.Value) -> flat.Value:
    """Give a constant without a width the 64 bits that BMv2 counts in."""
    if isinstance(value, flat.Number) and not isinstance(t.base(value.type), t.Bits):
        return fold.number(value.value, t.Bits(64))
    return value


def _with_placeholders(message: str, counts: list[int]) -> str:
    """Give a placeholder of something with `n` values n of them, in parentheses, unless n is 1."""
    left = iter(counts)

    def placeholder(found: re.Match[str]) -> str:
        count = next(left, 1)
        return found[0] if count == 1 else f"({', '.join(['{}'] * count)})"

    return re.sub(r"(?<!\\)\{[^}]*\}", placeholder, message)


Handler = Callable[[Any, Call, Position], places.Place | None]
MethodHandler = Callable[[Any, places.Object, Call, Position], places.Place | None]

_METHODS: dict[tuple[str, str], MethodHandler] = {
    ("register", "read"): _register_read,
    ("register", "write"): _register_write,
    ("counter", "count"): _count,
    ("meter", "execute_meter"): _execute_meter,
    ("direct_counter", "count"): _direct_count,
    ("direct_meter", "read"): _direct_read,
    ("packet_in", "extract"): _extract,
    ("packet_in", "lookahead"): _lookahead,
    ("packet_in", "advance"): _advance,
    ("packet_out", "emit"): _emit_header,
}

_FUNCTIONS: dict[str, Handler] = {
    "verify": _verify,
    "static_assert": _static_assert,
    "mark_to_drop": _mark_to_drop,
    "hash": _hash,
    "random": _random,
    "truncate": _truncate,
    "assert": _assertion,
    "assume": _assertion,
    "log_msg": _log,
    "digest": _digest,
    "clone": _clone,
    "clone3": _clone,
    "clone_preserving_field_list": _clone,
    "resubmit": _again,
    "resubmit_preserving_field_list": _again,
    "recirculate": _again,
    "recirculate_preserving_field_list": _again,
    "verify_checksum": _checksum,
    "update_checksum": _checksum,
    "verify_checksum_with_payload": _checksum,
    "update_checksum_with_payload": _checksum,
}
