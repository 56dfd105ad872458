"""The fifth pass, part five: the arrays and profiles that v1model's extern objects are."""

from p4.compiler import flat, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_context import Context

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


def declare_extern(ctx: Context, target: places.Object, node: tree.Instance) -> None:
    """Make the array that an instance of an extern is."""
    declaration = target.type.declaration
    if not isinstance(declaration, tree.Extern):
        return
    known = {
        "register": ctx.program.registers,
        "counter": ctx.program.counters,
        "meter": ctx.program.meters,
    }
    if declaration.name in known:
        known[declaration.name].append(array_of(ctx, target, declaration.name, node.at))
    elif declaration.name in {"action_profile", "action_selector"}:
        profile_of(ctx, target, node.at)


def array_of(ctx: Context, target: places.Object, kind: str, at: Position) -> flat.Array:
    """Return the array that an object of this kind is."""
    if target not in ctx.arrays:
        if target.type.declaration.name != kind:
            raise ctx.diagnostics.fail(
                at, f"expected a {kind}, not a {target.type.declaration.name}"
            )
        array = flat.Array(target.name, target.at)
        size = target.argument("size")
        if isinstance(size, flat.Number):
            array.size = _size(ctx, size.value, kind, target)
        elif size is not None:
            raise ctx.unsupported(target.at, "a size that is not constant")
        if kind == "register":
            array.width = _register_width(ctx, target)
        if "meter" in kind:
            array.unit = _enum_argument(target, "type", ("packets", "bytes"))
        ctx.arrays[target] = array
    return ctx.arrays[target]


def _size(ctx: Context, size: int, kind: str, target: places.Object) -> int:
    if not 0 < size <= SIZE_LIMIT:
        raise ctx.diagnostics.fail(
            target.at,
            f"{kind} {target.name} has size {size}",
            f"1 to {SIZE_LIMIT} are possible",
        )
    return size


def _register_width(ctx: Context, target: places.Object) -> int:
    type_ = t.base(target.type.arguments[0])
    if not isinstance(type_, t.Bits) and type_ != t.BOOL:
        raise ctx.unsupported(
            target.at,
            f"a register of {type_}",
            "registers hold bit<N> or int<N>: make one register for each field",
        )
    return t.width(type_) or 0


def _enum_argument(target: places.Object, name: str, members: tuple[str, ...]) -> str:
    value = target.argument(name)
    return members[value.value] if isinstance(value, flat.Number) else ""


def profile_of(ctx: Context, target: places.Object, at: Position) -> flat.Profile:
    """Return the action profile that an object is."""
    if target not in ctx.profiles:
        declaration = target.type.declaration
        if declaration.name not in {"action_profile", "action_selector"}:
            raise ctx.diagnostics.fail(at, f"{declaration.name} cannot implement a table")
        size = target.argument("size")
        assert isinstance(size, flat.Number)
        algorithm = None
        if declaration.name == "action_selector":
            algorithm = algorithm_of(ctx, target.argument("algorithm"), at)
        entries = _size(ctx, size.value, declaration.name, target)
        profile = flat.Profile(target.name, target.at, entries, algorithm)
        ctx.profiles[target] = profile
        ctx.program.profiles.append(profile)
    return ctx.profiles[target]


def algorithm_of(ctx: Context, place: places.Place | None, at: Position) -> str:
    """Return the name of a hash algorithm that BMv2 has."""
    type_ = hash_algorithms(ctx)
    if not isinstance(place, flat.Number):
        raise ctx.unsupported(at, "an algorithm that is not constant")
    name = type_.members[place.value]
    if name not in ALGORITHMS:
        raise ctx.unsupported(at, f"algorithm {name}")
    return name


def hash_algorithms(ctx: Context) -> t.Enumeration:
    """Return v1model's enumeration of hash algorithms."""
    for type_ in ctx.checked.declared.values():
        if isinstance(type_, t.Enumeration) and type_.name == "HashAlgorithm":
            return type_
    raise AssertionError("v1model declares HashAlgorithm")
