"""Hashes and checksums to C: their inputs packed without gaps, and the algorithm applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.document import ProgramError
from p4.codegen.layout import whole_bytes
from p4.codegen.symbols import SETTABLE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4.codegen.context import Context

ALGORITHMS = {
    "crc16": "crc16",
    "crc16_custom": "crc16",
    "crc32": "crc32",
    "crc32_custom": "crc32",
    "crcCCITT": "crcCCITT",
    "csum16": "csum16",
    "cksum16": "csum16",
    "xor16": "xor16",
    "xor32": "xor32",
    "identity": "identity",
    "xxh64": "xxh64",
    "bmv2_hash": "xxh64",
    "hash_ex": "hash_ex",
    "crc8_custom": "crc8_custom",
    "crc64_custom": "crc64_custom",
}
ROUNDS = frozenset(("round_robin", "round_robin_consistent"))


def all_calculations(program: p4.Program) -> list[p4.Calculation]:
    """Return the program's calculations and those of its action selectors, numbered so."""
    selectors = [
        p4.Calculation(f"profile {profile.name}", profile.algorithm, profile.inputs)
        for profile in program.profiles
        if profile.algorithm
    ]
    return [*program.calculations.values(), *selectors]


def hash_call(context: Context, name: str) -> str:
    """Return C that computes the calculation called `name`."""
    return f"{context.calculation_name(name)}(packet)"


def write_calculation(context: Context, number: int, calculation: p4.Calculation) -> None:
    """Write the function that packs a calculation's inputs and hashes them."""
    context.head(calculation.position, f"{calculation.algorithm} of {calculation.name}")
    name = context.calculation_name(calculation.name)
    writer = context.writer
    with writer.function(f"static inline uint64_t {name}(struct packet *packet)"):
        if calculation.algorithm == "round_robin":
            writer.line(f"return pl_round_robin(packet->base.sw, {number});")
            return
        size = _write_inputs(context, calculation)
        data = "input"
        if any(isinstance(item, p4.Payload) for item in calculation.inputs):
            writer.line(f"const uint8_t *data = pl_with_payload(&packet->base, input, &{size});")
            data = "data"
        if calculation.algorithm == "round_robin_consistent":
            arguments = f"packet->base.sw, {number}, {data}, {size}"
            writer.line(f"return pl_round_robin_consistent({arguments});")
            return
        if calculation.algorithm in SETTABLE_BITS:
            _write_as_set(context, number, calculation.algorithm, f"{data}, {size}")
            return
        algorithm = ALGORITHMS.get(calculation.algorithm)
        if algorithm is None:
            raise ProgramError(
                f"{calculation.name}: hash `{calculation.algorithm}` is not supported"
            )
        writer.line(f"return pl_hash_{algorithm}({data}, {size});")


def _write_as_set(context: Context, number: int, algorithm: str, data: str) -> None:
    """Write the result of a hash whose parameters the control plane may have set."""
    writer = context.writer
    writer.line(f"const struct pl_hash_setting *setting = &packet->base.sw->hashes[{number}];")
    if algorithm == "toeplitz":
        writer.line(f"return pl_hash_toeplitz(setting, {data});")
        return
    with writer.block("if (setting->set)"):
        writer.line(f"return pl_hash_crc_as_set(setting, {SETTABLE_BITS[algorithm]}, {data});")
    writer.line(f"return pl_hash_{ALGORITHMS[algorithm]}({data});")


def hash_kind(calculation: p4.Calculation) -> str:
    """Return a calculation's `struct pl_hash_info`."""
    if calculation.algorithm == "toeplitz":
        return "{PL_HASH_TOEPLITZ, 32}"
    if calculation.algorithm in SETTABLE_BITS:
        return f"{{PL_HASH_CRC, {SETTABLE_BITS[calculation.algorithm]}}}"
    return "{PL_HASH_FIXED, 0}"


def _bits(context: Context, item: p4.Input) -> int:
    program = context.program
    match item:
        case p4.FieldRef():
            return program.field(item).bits
        case p4.Constant(_, bits):
            return bits or 0
        case _:
            return 0


def _may_lack(context: Context, item: p4.Input) -> bool:
    """Return whether an input's length depends on the frame."""
    match item:
        case p4.FieldRef(header, _):
            return not context.program.headers[header].metadata
        case _:
            return False


def _write_inputs(context: Context, calculation: p4.Calculation) -> str:
    """Write the packing of a calculation's inputs; return C for their bytes."""
    inputs = [i for i in calculation.inputs if not isinstance(i, p4.Payload)]
    writer, total = context.writer, whole_bytes(sum(_bits(context, i) for i in inputs))
    payload = len(inputs) < len(calculation.inputs)
    if not any(_may_lack(context, item) for item in inputs):
        _write_fixed(context, inputs, total)
        if payload:
            writer.line(f"uint32_t size = {total};")
        return "size" if payload else str(total)
    writer.line(f"uint8_t input[{total + 1}] = {{0}};")
    writer.line("uint32_t bits = 0;")
    for group in _groups(inputs):
        header = _owner(group[0])
        if header and not context.program.headers[header].metadata:
            with writer.block(f"if ({context.valid(header)})"):
                _write_group(context, group)
        else:
            _write_group(context, group)
    writer.line(f"{'' if payload else 'const '}uint32_t size = (bits + 7) / 8;")
    return "size"


def _owner(item: p4.Input) -> str:
    match item:
        case p4.FieldRef(header, _):
            return header
        case _:
            return ""


def _groups(inputs: Sequence[p4.Input]) -> list[list[p4.Input]]:
    """Split inputs into runs that belong to the same header."""
    groups: list[list[p4.Input]] = []
    for item in inputs:
        if groups and _owner(groups[-1][0]) == _owner(item):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _write_group(context: Context, group: Sequence[p4.Input]) -> None:
    offset = 0
    for item in group:
        place = f"bits + {offset}" if offset else "bits"
        if isinstance(item, p4.FieldRef) and context.layout.field(item).variable:
            context.writer.line(f"bits = {place};")
            _write_varbit(context, item)
            offset = 0
            continue
        _write_put(context, item, place)
        offset += _bits(context, item)
    if offset:
        context.writer.line(f"bits += {offset};")


def _write_varbit(context: Context, item: p4.FieldRef) -> None:
    text = context.layout.field(item).text
    context.writer.line(f"pl_put_bits(input, bits, {text}_bits, {text});")
    context.writer.line(f"bits += {text}_bits;")


def _write_put(context: Context, item: p4.Input, place: str) -> None:
    """Write one input at a bit offset that is known when the frame is there."""
    bits = _bits(context, item)
    if isinstance(item, p4.FieldRef) and bits > 64:
        text = context.layout.field(item).text
        context.writer.line(f"pl_put_bits(input, {place}, {bits}, {text});")
        return
    if bits > 64 and isinstance(item, p4.Constant):
        _write_constant(context, item, place)
        return
    value = context.narrow(_value(item), bits)
    context.writer.line(f"pl_store_bits(input, {place}, {bits}, {value});")


def _write_constant(context: Context, item: p4.Constant, place: str) -> None:
    count = whole_bytes(item.bits or 0)
    data = ", ".join(hex(byte) for byte in item.value.to_bytes(count, "big"))
    text = f"(const uint8_t[]){{{data}}}"
    context.writer.line(f"pl_put_bits(input, {place}, {item.bits}, {text});")


def _value(item: p4.Input) -> p4.Value:
    if isinstance(item, p4.Payload):
        raise ProgramError("the payload is no value")
    return item


def _write_fixed(context: Context, inputs: Sequence[p4.Input], total: int) -> None:
    """Write inputs whose offsets are known now: whole bytes by plain stores."""
    writer, offset = context.writer, 0
    aligned = all(_bits(context, item) % 8 == 0 and (_bits(context, item) <= 64) for item in inputs)
    initial = "" if aligned and total else " = {0}"
    writer.line(f"uint8_t input[{total or 1}]{initial};")
    for item in inputs:
        bits = _bits(context, item)
        if not aligned:
            _write_put(context, item, str(offset))
        elif bits:
            at = f"input + {offset // 8}" if offset else "input"
            value = context.narrow(_value(item), bits)
            store = (
                f"pl_store{bits}({at}, "
                if bits in {8, 16, 32, 64}
                else f"pl_store({at}, {bits // 8}, "
            )
            writer.line(f"{store}{value});")
        offset += bits


def write_checksums(context: Context) -> None:
    """Write the functions that verify and update the program's checksums."""
    writer = context.writer
    with writer.function("static inline void verify_checksums(struct packet *packet)"):
        for checksum in context.program.checksums:
            if checksum.verify:
                _write_verify(context, checksum)
    with writer.function("static inline void update_checksums(struct packet *packet)"):
        for checksum in context.program.checksums:
            if checksum.update:
                _write_update(context, checksum)


def _condition(context: Context, checksum: p4.Checksum) -> str:
    if checksum.condition is None:
        return ""
    text = context.expressions.condition(checksum.condition).text
    return "" if text == "true" else text


def _write_verify(context: Context, checksum: p4.Checksum) -> None:
    place = context.layout.field(checksum.target)
    tests = [context.valid(checksum.target.header)]
    condition = _condition(context, checksum)
    if condition:
        tests.append(f"({condition})")
    call = hash_call(context, checksum.calculation)
    mask = hex((1 << place.bits) - 1)
    tests.append(f"{place.text} != ({call} & {mask})")
    text = " && ".join(test for test in tests if test != "true")
    with context.writer.block(f"if ({text})"):
        context.writer.line("packet->base.standard.checksum_error = 1;")


def _write_update(context: Context, checksum: p4.Checksum) -> None:
    place = context.layout.field(checksum.target)
    if place.wide:
        raise ProgramError(f"{checksum.name}: the checksum's field is too wide")
    condition = _condition(context, checksum)
    call = hash_call(context, checksum.calculation)
    with context.writer.block(f"if ({condition or 'true'})"):
        cut = f"{call} & {hex((1 << place.bits) - 1)}"
        width = next(width for width in (8, 16, 32, 64) if place.bits <= width)
        context.writer.line(f"{place.text} = (uint{width}_t)({cut});")
