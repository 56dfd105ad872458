"""Read BMv2 JSON into a Program, checking its version and every reference."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from p4.codegen import program as p4
from p4.codegen.document import Place, ProgramError
from p4.codegen.read_control import Actions, read_control
from p4.codegen.read_parser import read_parser
from p4.codegen.values import (
    field_reference,
    read_expression,
    read_position,
    read_statement,
    read_value,
)
from p4.codegen.verify import verify_program

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION_MAJOR = 2
VERSION_MINOR = 24


def read_program(document: dict[str, Any], name: str | None = None) -> p4.Program:
    """Read a BMv2 JSON document; ProgramError names the place of what is wrong with it.

    `name` defaults to the stem of the P4 file that the document was made from.
    """
    root = Place(document, "")
    root.dict()
    check_version(root)
    if name is None:
        source = root.get("program").text_or_none()
        name = PurePath(source).stem if source else "program"
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    program = _read_root(root, name, digest)
    verify_program(program)
    return program


def read_file(path: Path) -> p4.Program:
    """Read a BMv2 JSON file; ProgramError names the file and what is wrong with it."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ProgramError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProgramError(f"{path}: not JSON: it is not UTF-8 text") from None
    except RecursionError:
        raise ProgramError(f"{path}: nested too deep") from None
    except ValueError as error:
        raise ProgramError(f"{path}: not JSON: {error}") from None
    try:
        return read_program(document)
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from None


def check_version(root: Place) -> None:
    """Check that the document's format is one this reader knows."""
    if root.get("__meta__").absent:
        raise root.fail(
            f"has no `__meta__`: a format before {VERSION_MAJOR}.0, or no BMv2 JSON, is not"
            f" supported: want {VERSION_MAJOR}.0 to {VERSION_MAJOR}.{VERSION_MINOR}"
        )
    version = root["__meta__"]["version"]
    major, minor = version[0].natural(), version[1].natural()
    if major != VERSION_MAJOR or minor > VERSION_MINOR:
        raise version.fail(
            f"format {major}.{minor} is not supported: want {VERSION_MAJOR}.0 to"
            f" {VERSION_MAJOR}.{VERSION_MINOR}"
        )


def _read_root(root: Place, name: str, digest: str) -> p4.Program:
    headers = _named(p4.Header, root.get("headers"), _header)
    header_names = _by_identity(root.get("headers"))
    unions = _unions(root, header_names)
    union_names = _by_identity(root.get("header_unions"))
    types = {place["name"].text(): _header_type(place) for place in root.get("header_types")}
    actions = tuple(_action(place, number) for number, place in enumerate(root.get("actions")))
    controls = {c.name: c for c in _controls(root, types, headers)}
    return p4.Program(
        name=name,
        digest=digest,
        header_types=types,
        headers=headers,
        stacks={s.name: s for s in _stacks(root, header_names)},
        unions=unions,
        union_stacks={s.name: s for s in _union_stacks(root, union_names)},
        errors={place[0].text(): place[1].integer() for place in root.get("errors")},
        parser=read_parser(root),
        value_sets=tuple(_value_set(place) for place in root.get("parse_vsets")),
        deparser=_deparser(root),
        ingress=controls.get("ingress", p4.Control("ingress", None, (), ())),
        egress=controls.get("egress", p4.Control("egress", None, (), ())),
        actions=actions,
        registers=tuple(_register(place) for place in root.get("register_arrays")),
        counters=tuple(_counter(place) for place in root.get("counter_arrays")),
        meters=tuple(_meter(place) for place in root.get("meter_arrays")),
        calculations=_named(
            p4.Calculation,
            root.get("calculations"),
            lambda place: _calculation(place, types, headers),
        ),
        checksums=tuple(_checksum(place) for place in root.get("checksums")),
        field_lists={f.identity: f for f in map(_field_list, root.get("field_lists"))},
        digests={f.identity: f for f in map(_field_list, root.get("learn_lists"))},
        aliases={p[0].text(): field_reference(p[1]) for p in root.get("field_aliases")},
    )


def _named(_: type, places: Iterable[Place], read: Any) -> dict[str, Any]:
    result = {}
    for place in places:
        item = read(place)
        if item.name in result:
            raise place.fail(f"`{item.name}` is declared twice")
        result[item.name] = item
    return result


def _by_identity(places: Iterable[Place]) -> dict[int, str]:
    return {place["id"].integer(): place["name"].text() for place in places}


def _header_type(place: Place) -> p4.HeaderType:
    fields = place["fields"]
    fixed = sum(f[1].natural() for f in fields if f[1].value != "*")
    items = tuple(_field(field, place, fixed) for field in fields)
    length = place.get("length_exp")
    return p4.HeaderType(
        place["name"].text(), items, None if length.absent else read_expression(length)
    )


def _field(place: Place, header_type: Place, fixed: int) -> p4.Field:
    name, width = place[0].text(), place[1]
    signed = len(place.list()) > 2 and place[2].flag()
    if width.value == "*":
        limit = header_type.get("max_length")
        bits = 8 * limit.natural() - fixed if not limit.absent else 8 * 256
        if bits < 0:
            raise limit.fail("is less than the header's other fields")
        return p4.Field(name, bits, signed, variable=True)
    return p4.Field(name, width.natural(), signed)


def _header(place: Place) -> p4.Header:
    return p4.Header(
        place["name"].text(), place["header_type"].text(), place.get("metadata").truth()
    )


def _members(place: Place, names: dict[int, str]) -> tuple[str, ...]:
    for item in place:
        if item.integer() not in names:
            raise item.fail(f"no object has the id {item.value}")
    return tuple(names[item.integer()] for item in place)


def _stacks(root: Place, names: dict[int, str]) -> list[p4.Stack]:
    return [
        p4.Stack(p["name"].text(), p["header_type"].text(), _members(p["header_ids"], names))
        for p in root.get("header_stacks")
    ]


def _unions(root: Place, names: dict[int, str]) -> dict[str, p4.Union]:
    types = {
        place["name"].text(): tuple(member[0].text() for member in place["headers"])
        for place in root.get("header_union_types")
    }
    unions = {}
    for place in root.get("header_unions"):
        kind = place["union_type"]
        if kind.text() not in types:
            raise kind.fail(f"there is no union type `{kind.value}`")
        headers = _members(place["header_ids"], names)
        unions[place["name"].text()] = p4.Union(place["name"].text(), types[kind.text()], headers)
    return unions


def _union_stacks(root: Place, names: dict[int, str]) -> list[p4.UnionStack]:
    return [
        p4.UnionStack(p["name"].text(), _members(p["header_union_ids"], names))
        for p in root.get("header_union_stacks")
    ]


def _action(place: Place, number: int) -> p4.Action:
    parameters = tuple(
        p4.Parameter(item["name"].text(), item["bitwidth"].natural())
        for item in place.get("runtime_data")
    )
    statements = tuple(read_statement(item) for item in place.get("primitives"))
    position = read_position(place)
    if position is None:
        position = next((s.position for s in statements if s.position), None)
    return p4.Action(place["name"].text(), number, parameters, statements, position)


def _controls(
    root: Place, types: dict[str, p4.HeaderType], headers: dict[str, p4.Header]
) -> list[p4.Control]:
    actions: Actions = {}
    for number, place in enumerate(root.get("actions")):
        actions[place["id"].integer()] = actions[place["name"].text()] = number
    return [read_control(place, actions, types, headers) for place in root.get("pipelines")]


def _value_set(place: Place) -> p4.ValueSet:
    size = place.get("max_size")
    return p4.ValueSet(
        place["name"].text(),
        place["compressed_bitwidth"].natural(),
        1024 if size.absent else size.natural(),
    )


def _deparser(root: Place) -> p4.Deparser:
    places = list(root.get("deparsers"))
    if not places:
        return p4.Deparser("deparser", (), ())
    place = places[0]
    return p4.Deparser(
        place["name"].text(),
        tuple(item.text() for item in place["order"]),
        tuple(read_statement(item) for item in place.get("primitives")),
        read_position(place),
    )


def _register(place: Place) -> p4.Register:
    return p4.Register(place["name"].text(), place["bitwidth"].natural(), place["size"].natural())


def _counter(place: Place) -> p4.Counter:
    direct = place.get("is_direct").truth()
    table = place["binding"].text() if direct else None
    size = place.get("size")
    return p4.Counter(place["name"].text(), 0 if size.absent else size.natural(), table)


def _meter(place: Place) -> p4.Meter:
    direct = place.get("is_direct").truth()
    target = place.get("result_target")
    return p4.Meter(
        name=place["name"].text(),
        size=place.get("size").natural() if not place.get("size").absent else 0,
        in_bytes=place["type"].text() == "bytes",
        rates=place.get("rate_count").natural() if not place.get("rate_count").absent else 2,
        table=place["binding"].text() if direct else None,
        target=None if target.absent or not direct else field_reference(target),
    )


def _calculation(
    place: Place, types: dict[str, p4.HeaderType], headers: dict[str, p4.Header]
) -> p4.Calculation:
    inputs = tuple(part for item in place["input"] for part in _inputs(item, types, headers))
    return p4.Calculation(place["name"].text(), place["algo"].text(), inputs, read_position(place))


def _inputs(
    place: Place, types: dict[str, p4.HeaderType], headers: dict[str, p4.Header]
) -> tuple[p4.Input, ...]:
    """Read an input of a calculation; a header stands for all its fields."""
    if place["type"].text() == "payload":
        return (p4.Payload(),)
    value = read_value(place)
    if isinstance(value, p4.HeaderRef):
        kind = types.get(headers[value.name].type) if value.name in headers else None
        if kind is None:
            raise place.fail(f"there is no header `{value.name}`")
        return tuple(p4.FieldRef(value.name, field.name) for field in kind.fields)
    if isinstance(value, p4.Constant) and value.bits is None:
        raise place.fail("a constant in a calculation needs a `bitwidth`")
    if not isinstance(value, p4.FieldRef | p4.Constant):
        raise place.fail("must be a field, a header, a constant or the payload")
    return (value,)


def _checksum(place: Place) -> p4.Checksum:
    condition = place.get("if_cond")
    update, verify = place.get("update"), place.get("verify")
    return p4.Checksum(
        name=place["name"].text(),
        target=field_reference(place["target"]),
        calculation=place["calculation"].text(),
        verify=verify.absent or verify.truth(),
        update=update.absent or update.truth(),
        condition=None if condition.absent else read_expression(condition),
        position=read_position(place),
    )


def _field_list(place: Place) -> p4.FieldList:
    fields = []
    for item in place["elements"]:
        value = read_value(item)
        if not isinstance(value, p4.FieldRef | p4.Constant):
            raise item.fail("must be a field or a constant")
        fields.append(value)
    name = place.get("name").text_or_none() or f"list_{place['id'].value}"
    return p4.FieldList(place["id"].natural(), name, tuple(fields))
