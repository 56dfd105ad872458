"""Read the pipelines of BMv2 JSON: tables, conditionals, action calls, profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.values import field_reference, read_expression, read_position

if TYPE_CHECKING:
    from p4.codegen.document import Place

Actions = dict[int | str, int]
Types = dict[str, p4.HeaderType]
Headers = dict[str, p4.Header]

MATCHES = {
    "exact": p4.Match.EXACT,
    "valid": p4.Match.EXACT,
    "lpm": p4.Match.LPM,
    "ternary": p4.Match.TERNARY,
    "range": p4.Match.RANGE,
    "optional": p4.Match.OPTIONAL,
}


def read_control(place: Place, actions: Actions, types: Types, headers: Headers) -> p4.Control:
    """Read one pipeline; `actions` maps the JSON's ids and names to places in its action list."""
    nodes: list[p4.Node] = [_table(item, actions, types, headers) for item in place.get("tables")]
    nodes += [_conditional(item) for item in place.get("conditionals")]
    nodes += [_call(item, actions) for item in place.get("action_calls")]
    names = {node.name for node in nodes}
    for node in nodes:
        for target in successors(node):
            if target is not None and target not in names:
                raise place.fail(f"`{node.name}` goes to unknown node `{target}`")
    start = place["init_table"]
    if start.text_or_none() is not None and start.text() not in names:
        raise start.fail(f"there is no node `{start.value}`")
    return p4.Control(
        place["name"].text(),
        start.text_or_none(),
        tuple(nodes),
        tuple(_profile(item) for item in place.get("action_profiles")),
        read_position(place),
    )


def successors(node: p4.Node) -> list[str | None]:
    """Return the nodes that may follow `node`; None is the end of the control."""
    match node:
        case p4.Conditional():
            return [node.true_next, node.false_next]
        case p4.ActionCall():
            return [node.next]
        case p4.Table():
            targets = [target for _, target in node.next_by_action]
            return targets if covers_all(node) else [*targets, node.base_next]


def covers_all(table: p4.Table) -> bool:
    """Return whether a table's results name all that may follow, without its base's next."""
    names = {name for name, _ in table.next_by_action}
    if "__HIT__" in names or "__MISS__" in names:
        return {"__HIT__", "__MISS__"} <= names
    return bool(names) and table.default_action is not None


def _conditional(place: Place) -> p4.Conditional:
    return p4.Conditional(
        place["name"].text(),
        read_expression(place["expression"]),
        place.get("true_next").text_or_none(),
        place.get("false_next").text_or_none(),
        read_position(place),
    )


def _call(place: Place, actions: Actions) -> p4.ActionCall:
    return p4.ActionCall(
        place["name"].text(),
        _action(place["action_id"], actions),
        place.get("next_node").text_or_none(),
        read_position(place),
    )


def _action(place: Place, actions: Actions) -> int:
    if place.integer() not in actions:
        raise place.fail(f"no action has the id {place.value}")
    return actions[place.integer()]


def _profile(place: Place) -> p4.Profile:
    selector = place.get("selector")
    if selector.absent:
        return p4.Profile(place["name"].text(), place["max_size"].natural(), "", ())
    inputs = tuple(field_reference(item["value"]) for item in selector["input"])
    return p4.Profile(
        place["name"].text(), place["max_size"].natural(), selector["algo"].text(), inputs
    )


def _table(place: Place, actions: Actions, types: Types, headers: Headers) -> p4.Table:
    default = place.get("default_entry")
    kind = place.get("type").text_or_none() or "simple"
    if kind not in {"simple", "indirect", "indirect_ws"}:
        raise place["type"].fail(f"unknown table type `{kind}`")
    keys = tuple(_key(item, types, headers) for item in place["key"])
    entries = place.get("entries")
    return p4.Table(
        name=place["name"].text(),
        match=_match(place["match_type"]),
        kind=p4.TableKind(kind),
        keys=keys,
        size=place["max_size"].natural(),
        actions=_table_actions(place, actions),
        next_by_action=tuple(
            (name, target.text_or_none()) for name, target in place["next_tables"].members()
        ),
        base_next=place.get("base_default_next").text_or_none(),
        default_action=None if default.absent else _action(default["action_id"], actions),
        default_arguments=() if default.absent else _arguments(default.get("action_data")),
        default_constant=not default.absent and default.get("action_const").truth(),
        entries=tuple(_entry(item, number, keys, actions) for number, item in enumerate(entries)),
        entries_constant=not entries.absent,
        profile=_profile_name(place) if kind != "simple" else None,
        with_counters=place.get("with_counters").truth(),
        direct_meter=place.get("direct_meters").text_or_none(),
        position=read_position(place),
    )


def _table_actions(place: Place, actions: Actions) -> tuple[int, ...]:
    """Read a table's actions: their ids, or their names as compilers for P4_14 wrote them."""
    if place.get("action_ids").absent:
        names = place["actions"]
        for name in names:
            if name.text() not in actions:
                raise name.fail(f"there is no action `{name.value}`")
        return tuple(actions[name.text()] for name in names)
    return tuple(_action(item, actions) for item in place["action_ids"])


def _profile_name(place: Place) -> str:
    old = place.get("act_prof_name")
    return place["action_profile"].text() if old.absent else old.text()


def _match(place: Place) -> p4.Match:
    if place.text() not in MATCHES:
        raise place.fail(f"unknown match kind `{place.value}`")
    return MATCHES[place.text()]


def _arguments(place: Place) -> tuple[int, ...]:
    return tuple(item.hexadecimal() for item in place)


def _key(place: Place, types: Types, headers: Headers) -> p4.Key:
    match = _match(place["match_type"])
    target = place["target"]
    if isinstance(target.value, str):
        reference = p4.FieldRef(target.text(), "$valid$")
    else:
        reference = field_reference(target)
    bits = _width(target, reference, types, headers)
    name = place.get("name").text_or_none() or f"{reference.header}.{reference.field}"
    mask = place.get("mask")
    return p4.Key(name, match, reference, bits, None if mask.absent else mask.hexadecimal())


def _width(place: Place, reference: p4.FieldRef, types: Types, headers: Headers) -> int:
    if reference.header not in headers:
        raise place.fail(f"there is no header `{reference.header}`")
    if reference.field == "$valid$":
        return 1
    try:
        return types[headers[reference.header].type].field(reference.field).bits
    except KeyError:
        raise place.fail(f"header `{reference.header}` has no field `{reference.field}`") from None


def _entry(place: Place, number: int, keys: tuple[p4.Key, ...], actions: Actions) -> p4.Entry:
    matches = place["match_key"]
    if len(matches.list()) != len(keys):
        raise matches.fail(f"has {len(matches.list())} fields, the table's key {len(keys)}")
    action = place["action_entry"]
    priority = place.get("priority")
    return p4.Entry(
        tuple(_field_match(item, key) for item, key in zip(matches, keys, strict=True)),
        number if priority.absent else priority.integer(),
        _action(action["action_id"], actions),
        _arguments(action.get("action_data")),
        read_position(place),
    )


def _field_match(place: Place, key: p4.Key) -> p4.FieldMatch:
    full = (1 << key.bits) - 1
    match key.match:
        case p4.Match.EXACT:
            value = place["key"]
            number = int(value.value) if isinstance(value.value, bool) else value.hexadecimal()
            return p4.FieldMatch(number & full, full)
        case p4.Match.LPM:
            length = place["prefix_length"].natural()
            mask = full & ~((1 << max(key.bits - length, 0)) - 1)
            return p4.FieldMatch(place["key"].hexadecimal() & mask, mask)
        case p4.Match.RANGE:
            return p4.FieldMatch(
                place["start"].hexadecimal() & full, place["end"].hexadecimal() & full
            )
        case _:
            mask = place["mask"].hexadecimal() & full if "mask" in place.dict() else full
            return p4.FieldMatch(place["key"].hexadecimal() & mask, mask)
