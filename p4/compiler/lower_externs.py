"""The fifth pass, part five: v1model's extern objects and functions."""

import itertools
import re
from collections.abc import Callable
from typing import Any

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_calls import CallLowering
from p4.compiler.model import Call

ALGORITHMS = {
    "crc32",
    "crc32_custom",
    "crc16",
    "crc16_custom",
    "random",
    "identity",
    "csum16",
    "xor16",
}
SIZE_LIMIT = (1 << 31) - 1
CLONES = {"ingress": "clone_ingress_pkt_to_egress", "egress": "clone_egress_pkt_to_egress"}


class ExternLowering(CallLowering):
    """Calls of externs to BMv2's primitives."""

    _pipeline_exit = 0
    _exit_flag: flat.Field | None = None
    _arrays: dict[places.Object, flat.Array]
    _profiles: dict[places.Object, flat.Profile]

    def _extern_call(self, call: Call, at: Position) -> places.Place | None:
        owner = ""
        if call.kind == "method":
            assert call.base is not None
            place = self._place(call.base)
            if not isinstance(place, places.Object):
                raise self._unsupported(at, "a method of this")
            owner = place.type.declaration.name
            handler = _METHODS.get((owner, call.name))
            if handler is not None:
                return handler(self, place, call, at)
        else:
            function = _FUNCTIONS.get(call.name)
            if function is not None:
                return function(self, call, at)
        name = f"{owner}.{call.name}" if owner else call.name
        raise self._unsupported(at, name, "BMv2 has no primitive for it")

    # Helpers

    def _inputs(self, call: Call) -> dict[str, places.Place]:
        """Return the arguments by parameter; outputs as they are, to be assigned to."""
        return {
            parameter.name: place
            for parameter, place, _ in self._arguments(call)
            if place is not None
        }

    def _number(self, call: Call, name: str, at: Position) -> flat.Value:
        return self._read(self._inputs(call)[name], at)

    def _flatten(self, place: places.Place, at: Position) -> list[flat.Value]:
        """Return the numbers in a place in order."""
        match place:
            case places.Struct():
                return [x for part in place.parts.values() for x in self._flatten(part, at)]
            case places.Header() | places.HeaderLiteral():
                names = [name for name, _ in place.type.fields]
                parts = [self._member_of(place, name, at) for name in names]
                return [value for part in parts for value in self._flatten(part, at)]
            case places.Stack():
                return [value for each in place.elements for value in self._flatten(each, at)]
            case places.Union():
                return [value for each in place.members for value in self._flatten(each, at)]
            case places.Varbit():
                return [flat.Field(place.header, place.name, place.type)]
        return [self._read(place, at)]

    def _into(
        self, target: places.Place, at: Position, primitive: Callable[[flat.Field], None]
    ) -> None:
        """Let a primitive write to a field, and that to where the result is wanted."""
        if isinstance(target, flat.Field):
            primitive(target)
            return
        field = self._scalar(places.type_of(target))
        primitive(field)
        self._assign(target, field, at)

    def _must_be_in(self, blocks: tuple[str, ...], what: str, at: Position) -> None:
        if self._region not in blocks:
            raise self._unsupported(at, f"{what} in the {self._region}")

    def _exited(self) -> flat.Field:
        if self._exit_flag is None:
            self._exit_flag = self._storage.scalar(t.BOOL, "exited")
        return self._exit_flag

    # Objects

    def _declare_extern(self, target: places.Object, node: tree.Instance) -> None:
        """Make the array that an instance of an extern is."""
        declaration = target.type.declaration
        if not isinstance(declaration, tree.Extern):
            return
        known = {
            "register": self.program.registers,
            "counter": self.program.counters,
            "meter": self.program.meters,
        }
        if declaration.name in known:
            known[declaration.name].append(self._array(target, declaration.name, node.at))
        elif declaration.name in {"action_profile", "action_selector"}:
            self._profile(target, node.at)

    def _array(self, target: places.Object, kind: str, at: Position) -> flat.Array:
        if target not in self._arrays:
            if target.type.declaration.name != kind:
                raise self._diagnostics.fail(
                    at, f"expected a {kind}, not a {target.type.declaration.name}"
                )
            array = flat.Array(target.name, target.at)
            size = target.argument("size")
            if isinstance(size, flat.Number):
                array.size = self._size(size.value, kind, target)
            elif size is not None:
                raise self._unsupported(target.at, "a size that is not constant")
            if kind == "register":
                array.width = self._register_width(target)
            if "meter" in kind:
                array.unit = self._enum_argument(target, "type", ("packets", "bytes"))
            self._arrays[target] = array
        return self._arrays[target]

    def _size(self, size: int, kind: str, target: places.Object) -> int:
        if not 0 < size <= SIZE_LIMIT:
            raise self._diagnostics.fail(
                target.at,
                f"{kind} {target.name} has size {size}",
                f"1 to {SIZE_LIMIT} are possible",
            )
        return size

    def _register_width(self, target: places.Object) -> int:
        type_ = t.base(target.type.arguments[0])
        if not isinstance(type_, t.Bits) and type_ != t.BOOL:
            raise self._unsupported(
                target.at,
                f"a register of {type_}",
                "registers hold bit<N> or int<N>: make one register for each field",
            )
        return t.width(type_) or 0

    @staticmethod
    def _enum_argument(target: places.Object, name: str, members: tuple[str, ...]) -> str:
        value = target.argument(name)
        return members[value.value] if isinstance(value, flat.Number) else ""

    def _profile(self, target: places.Object, at: Position) -> flat.Profile:
        if target not in self._profiles:
            declaration = target.type.declaration
            if declaration.name not in {"action_profile", "action_selector"}:
                raise self._diagnostics.fail(at, f"{declaration.name} cannot implement a table")
            size = target.argument("size")
            assert isinstance(size, flat.Number)
            algorithm = None
            if declaration.name == "action_selector":
                algorithm = self._algorithm(target.argument("algorithm"), at)
            entries = self._size(size.value, declaration.name, target)
            profile = flat.Profile(target.name, target.at, entries, algorithm)
            self._profiles[target] = profile
            self.program.profiles.append(profile)
        return self._profiles[target]

    def _algorithm(self, place: places.Place | None, at: Position) -> str:
        type_ = self._hash_algorithms()
        if not isinstance(place, flat.Number):
            raise self._unsupported(at, "an algorithm that is not constant")
        name = type_.members[place.value]
        if name not in ALGORITHMS:
            raise self._unsupported(at, f"algorithm {name}")
        return name

    def _hash_algorithms(self) -> t.Enumeration:
        for type_ in self._checked.declared.values():
            if isinstance(type_, t.Enumeration) and type_.name == "HashAlgorithm":
                return type_
        raise AssertionError("v1model declares HashAlgorithm")

    # Registers, counters, meters

    def _register_read(
        self, target: places.Object, call: Call, at: Position
    ) -> places.Place | None:
        arguments = self._inputs(call)
        index = self._read(arguments["index"], at)
        array = flat.Reference("register_array", self._array(target, "register", at).name)
        self._into(
            arguments["result"],
            at,
            lambda field: self._do("register_read", at, field, array, index),
        )
        return None

    def _register_write(
        self, target: places.Object, call: Call, at: Position
    ) -> places.Place | None:
        arguments = self._inputs(call)
        array = flat.Reference("register_array", self._array(target, "register", at).name)
        index, value = self._read(arguments["index"], at), self._read(arguments["value"], at)
        self._do("register_write", at, array, index, value)
        return None

    def _count(self, target: places.Object, call: Call, at: Position) -> places.Place | None:
        array = flat.Reference("counter_array", self._array(target, "counter", at).name)
        self._do("count", at, array, self._number(call, "index", at))
        return None

    def _execute_meter(
        self, target: places.Object, call: Call, at: Position
    ) -> places.Place | None:
        arguments = self._inputs(call)
        index = self._read(arguments["index"], at)
        array = flat.Reference("meter_array", self._array(target, "meter", at).name)
        self._into(
            arguments["result"],
            at,
            lambda field: self._do("execute_meter", at, array, index, field),
        )
        return None

    def _direct_count(
        self, target: places.Object, _call: Call, at: Position
    ) -> places.Place | None:
        """Emit nothing: a table with a direct counter counts by itself."""
        self._array(target, "direct_counter", at)
        return None

    def _direct_read(self, target: places.Object, call: Call, at: Position) -> places.Place | None:
        result = self._inputs(call)["result"]
        array = self._array(target, "direct_meter", at)
        if not isinstance(result, flat.Field):
            raise self._unsupported(at, "reading a direct meter into something that is not a field")
        if array.target is not None and array.target != result:
            raise self._unsupported(at, f"reading {array.name} into two different fields")
        array.target = result
        return None

    # Packets

    def _extract(self, _target: places.Object, call: Call, at: Position) -> places.Place | None:
        arguments = [place for _, place, _ in self._arguments(call)]
        header = arguments[0] or self._temporary(self._type_argument(call), "extracted")
        length = self._read(arguments[1], at) if len(arguments) > 1 and arguments[1] else None
        self._extract_into(header, length, at)
        return None

    def _extract_into(self, header: places.Place, length: flat.Value | None, at: Position) -> None:
        reference: flat.Parameter
        match header:
            case places.Header():
                reference = flat.Reference("regular", header.name)
            case places.StackEnd(which="next", member=None):
                reference = flat.Reference("stack", header.stack.name)
            case places.StackEnd(which="next", member=str(member)):
                reference = flat.UnionEnd(header.stack.name, member)
            case places.Choice():
                self._by_index(header, lambda each: self._extract_into(each, length, at), at)
                return
            case _:
                raise self._unsupported(at, "extracting into this", "extract into a header")
        if length is None:
            self._do("extract", at, reference)
        else:
            self._do("extract_VL", at, reference, length)

    def _lookahead(self, _target: places.Object, call: Call, at: Position) -> places.Place | None:
        type_ = self._type_argument(call)
        size = t.width(type_)
        if size is None:
            raise self._unsupported(at, f"lookahead of {type_}")
        if size > 0 and not t.is_scalar(type_):
            # BMv2 sees whether the frame is too short by the width that it reads alone.
            whole = t.Bits(size)
            self._emit(flat.Assign(self._scalar(whole), flat.Lookahead(0, whole), at))
        place, _ = self._ahead(type_, 0, at)
        return place

    def _type_argument(self, call: Call) -> t.Type:
        declaration = call.declaration
        assert isinstance(declaration, tree.Function)
        variable = t.Variable(declaration.parameters[0])
        return t.base(self._bound(t.substitute(variable, call.bindings)))

    def _ahead(self, type_: t.Type, offset: int, at: Position) -> tuple[places.Place, int]:
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
                parts[name], offset = self._ahead(part, offset, at)
            if isinstance(type_, t.Record) and type_.kind == "header":
                return places.HeaderLiteral(type_, fold.TRUE, parts), offset
            return places.Struct(type_, parts), offset
        if isinstance(type_, t.Stack):
            return self._ahead(t.Tuple((type_.element,) * type_.size), offset, at)
        if not t.is_scalar(type_):
            raise self._unsupported(at, f"lookahead of {type_}")
        size = t.width(type_)
        assert size is not None
        field = self._scalar(type_)
        self._emit(flat.Assign(field, flat.Lookahead(offset, type_), at))
        return field, offset + size

    def _advance(self, _target: places.Object, call: Call, at: Position) -> places.Place | None:
        self._do("advance", at, self._number(call, "sizeInBits", at))
        return None

    def _emit_header(self, _target: places.Object, call: Call, at: Position) -> places.Place | None:
        for header in self._headers_in(self._inputs(call)["hdr"], at):
            self._do("emit", at, flat.Reference("header", header.name))
        return None

    def _headers_in(self, place: places.Place, at: Position) -> list[places.Header]:
        match place:
            case places.Header():
                return [place]
            case places.Struct():
                return [x for part in place.parts.values() for x in self._headers_in(part, at)]
            case places.Union():
                return list(place.members)
            case places.Stack():
                return [x for each in place.elements for x in self._headers_in(each, at)]
        raise self._unsupported(at, "emitting something that is not a header")

    def _verify(self, call: Call, at: Position) -> places.Place | None:
        arguments = self._inputs(call)
        condition = self._read(arguments["check"], at)
        self._do("verify", at, condition, self._read(arguments["toSignal"], at))
        return None

    # Functions

    def _static_assert(self, _call: Call, _at: Position) -> places.Place | None:
        """Return true: the checker has asserted it."""
        return fold.TRUE

    def _mark_to_drop(self, call: Call, at: Position) -> places.Place | None:
        self._must_be_in(("ingress", "egress"), "mark_to_drop", at)
        place = self._inputs(call).get("standard_metadata")
        name = "standard_metadata"
        if isinstance(place, places.Struct):
            field = place.parts["egress_spec"]
            if isinstance(field, flat.Field) and field.header != name:
                self._assign(field, fold.number(511, t.Bits(9)), at)
                self._assign(place.parts["mcast_grp"], fold.number(0, t.Bits(16)), at)
                return None
        self._do("mark_to_drop", at, flat.Reference("header", name))
        return None

    def _hash(self, call: Call, at: Position) -> places.Place | None:
        arguments = self._inputs(call)
        algorithm = self._algorithm(arguments["algo"], at)
        values = [self._copy_input(value, at) for value in self._flatten(arguments["data"], at)]
        name = self._calculation(algorithm, tuple(values), at, payload=False)
        lowest = self._read(arguments["base"], at)
        count = self._read(arguments["max"], at)
        self._into(
            arguments["result"],
            at,
            lambda field: self._do(
                "modify_field_with_hash_based_offset",
                at,
                field,
                _sized(lowest),
                flat.Reference("calculation", name),
                _sized(count),
            ),
        )
        return None

    def _copy_input(self, value: flat.Value, at: Position) -> flat.Value:
        """Copy a hash's input, as the reference compiler does: invalid headers count too."""
        if isinstance(value, flat.Number):
            return _sized(value)
        field = self._scalar(value.type, "hash")
        self._emit(flat.Assign(field, value, at))
        return field

    def _calculation(
        self, algorithm: str, values: tuple[flat.Value, ...], at: Position, *, payload: bool
    ) -> str:
        count = len(self.program.calculations)
        name = f"calc_{count - 1}" if count else "calc"
        self.program.calculations.append(flat.Calculation(name, algorithm, values, payload, at))
        return name

    def _random(self, call: Call, at: Position) -> places.Place | None:
        arguments = self._inputs(call)
        low, high = self._read(arguments["lo"], at), self._read(arguments["hi"], at)
        self._into(
            arguments["result"],
            at,
            lambda field: self._do("modify_field_rng_uniform", at, field, low, high),
        )
        return None

    def _truncate(self, call: Call, at: Position) -> places.Place | None:
        self._do("truncate", at, self._number(call, "length", at))
        return None

    def _assertion(self, call: Call, at: Position) -> places.Place | None:
        self._do(call.name, at, self._number(call, "check", at))
        return None

    def _log(self, call: Call, at: Position) -> places.Place | None:
        arguments = self._inputs(call)
        message = arguments["msg"]
        assert isinstance(message, flat.Text)
        data = arguments.get("data")
        shown = data.parts.values() if isinstance(data, places.Struct) else [data] if data else []
        values = [self._flatten(each, at) for each in shown]
        text = flat.Text(_with_placeholders(message.text, [len(each) for each in values]))
        self._do("log_msg", at, text, flat.Vector(tuple(itertools.chain.from_iterable(values))))
        return None

    # Copies of packets, and digests

    def _digest(self, call: Call, at: Position) -> places.Place | None:
        self._must_be_in(("ingress",), "a digest", at)
        arguments = self._inputs(call)
        receiver = self._read(arguments["receiver"], at)
        data = arguments["data"]
        name = "digest"
        if isinstance(data, places.Struct) and isinstance(data.type, t.Record) and data.type.name:
            name = data.type.name
        values = [self._digest_input(value, at) for value in self._flatten(data, at)]
        lists = self.program.learn_lists
        lists.append(flat.FieldList(name, tuple(values), at))
        self._do("generate_digest", at, receiver, fold.number(len(lists), t.Bits(32)))
        return None

    def _digest_input(self, value: flat.Value, at: Position) -> flat.Value:
        if isinstance(value, flat.Field):
            return value
        return self._copy_input(value, at) if not isinstance(value, flat.Number) else value

    def _clone(self, call: Call, at: Position) -> places.Place | None:
        arguments = self._inputs(call)
        kind = arguments["type"]
        if not isinstance(kind, flat.Number):
            raise self._unsupported(at, "a clone whose type is not constant")
        block = ("ingress", "egress")[kind.value]
        name = ("I2E", "E2E")[kind.value]
        self._must_be_in((block,), f"{call.name}(CloneType.{name}, …)", at)
        session = self._read(arguments["session"], at)
        fields = self._field_list(arguments, at)
        self._do(CLONES[block], at, session, fields)
        return None

    def _again(self, call: Call, at: Position) -> places.Place | None:
        """Lower resubmit and recirculate."""
        primitive = call.name.split("_")[0]
        block = "ingress" if primitive == "resubmit" else "egress"
        self._must_be_in((block,), primitive, at)
        self._do(primitive, at, self._field_list(self._inputs(call), at))
        return None

    def _field_list(self, arguments: dict[str, places.Place], at: Position) -> flat.Value:
        """Return the number of the list of fields that a copy of the packet keeps."""
        index = arguments.get("index")
        if index is not None and not isinstance(index, flat.Number):
            raise self._unsupported(at, "a field list that is not constant")
        if isinstance(index, flat.Number):
            name, values = f"field_list{index.value}", self._tagged(index.value)
        else:
            name = f"fl_{len(self.program.field_lists)}"
            data = arguments.get("data")
            found = self._flatten(data, at) if data is not None else []
            values = [value for value in found if isinstance(value, flat.Field)]
        lists = self.program.field_lists
        names = [entry.name for entry in lists]
        if name not in names:
            lists.append(flat.FieldList(name, tuple(values), at))
            names.append(name)
        return fold.number(names.index(name) + 1, t.Bits(32))

    def _tagged(self, index: int) -> list[flat.Value]:
        """Return the fields of the user's metadata with `@field_list(index)`."""
        raise NotImplementedError

    # Checksums

    def _checksum(self, call: Call, at: Position) -> places.Place | None:
        update = call.name.startswith("update")
        self._must_be_in(
            ("checksum update",) if update else ("checksum verification",), call.name, at
        )
        arguments = self._inputs(call)
        algorithm = self._algorithm(arguments["algo"], at)
        data = next(value for parameter, value in call.arguments if parameter.name == "data")
        values = self._checksum_inputs(data, at)
        if not all(isinstance(value, flat.Field | flat.Number) for value in values):
            raise self._unsupported(at, "a checksum over something that is not a field")
        target = arguments["checksum"]
        if not isinstance(target, flat.Field):
            raise self._unsupported(at, "a checksum in something that is not a field")
        payload = call.name.endswith("payload")
        name = self._calculation(algorithm, tuple(values), at, payload=payload)
        count = len(self.program.checksums)
        checksum = flat.Checksum(
            f"cksum_{count - 1}" if count else "cksum",
            target,
            name,
            update,
            self._read(arguments["condition"], at),
            at,
        )
        self.program.checksums.append(checksum)
        self._do("checksum", at, flat.Text(checksum.name))
        return None

    def _checksum_inputs(self, data: tree.Expression | None, at: Position) -> list[flat.Value]:
        """Return what a checksum is over: fields and constants, one after the other."""
        match data:
            case tree.ListExpression():
                return [x for item in data.items for x in self._checksum_inputs(item, at)]
            case tree.StructExpression():
                return [x for _, item in data.fields for x in self._checksum_inputs(item, at)]
            case tree.Binary(operator="++"):
                parts = (data.left, data.right)
                return [x for part in parts for x in self._checksum_inputs(part, at)]
            case tree.Cast():
                extra = (t.width(self._type(data)) or 0) - (t.width(self._type(data.operand)) or 0)
                zeros = [fold.number(0, t.Bits(extra))] if extra > 0 else []
                if extra >= 0:
                    return [*zeros, *self._checksum_inputs(data.operand, at)]
        assert data is not None
        return [
            _sized(value) if isinstance(value, flat.Number) else value
            for value in self._flatten(self._place(data), at)
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
    ("register", "read"): ExternLowering._register_read,  # noqa: SLF001
    ("register", "write"): ExternLowering._register_write,  # noqa: SLF001
    ("counter", "count"): ExternLowering._count,  # noqa: SLF001
    ("meter", "execute_meter"): ExternLowering._execute_meter,  # noqa: SLF001
    ("direct_counter", "count"): ExternLowering._direct_count,  # noqa: SLF001
    ("direct_meter", "read"): ExternLowering._direct_read,  # noqa: SLF001
    ("packet_in", "extract"): ExternLowering._extract,  # noqa: SLF001
    ("packet_in", "lookahead"): ExternLowering._lookahead,  # noqa: SLF001
    ("packet_in", "advance"): ExternLowering._advance,  # noqa: SLF001
    ("packet_out", "emit"): ExternLowering._emit_header,  # noqa: SLF001
}

_FUNCTIONS: dict[str, Handler] = {
    "verify": ExternLowering._verify,  # noqa: SLF001
    "static_assert": ExternLowering._static_assert,  # noqa: SLF001
    "mark_to_drop": ExternLowering._mark_to_drop,  # noqa: SLF001
    "hash": ExternLowering._hash,  # noqa: SLF001
    "random": ExternLowering._random,  # noqa: SLF001
    "truncate": ExternLowering._truncate,  # noqa: SLF001
    "assert": ExternLowering._assertion,  # noqa: SLF001
    "assume": ExternLowering._assertion,  # noqa: SLF001
    "log_msg": ExternLowering._log,  # noqa: SLF001
    "digest": ExternLowering._digest,  # noqa: SLF001
    "clone": ExternLowering._clone,  # noqa: SLF001
    "clone3": ExternLowering._clone,  # noqa: SLF001
    "clone_preserving_field_list": ExternLowering._clone,  # noqa: SLF001
    "resubmit": ExternLowering._again,  # noqa: SLF001
    "resubmit_preserving_field_list": ExternLowering._again,  # noqa: SLF001
    "recirculate": ExternLowering._again,  # noqa: SLF001
    "recirculate_preserving_field_list": ExternLowering._again,  # noqa: SLF001
    "verify_checksum": ExternLowering._checksum,  # noqa: SLF001
    "update_checksum": ExternLowering._checksum,  # noqa: SLF001
    "verify_checksum_with_payload": ExternLowering._checksum,  # noqa: SLF001
    "update_checksum_with_payload": ExternLowering._checksum,  # noqa: SLF001
}
