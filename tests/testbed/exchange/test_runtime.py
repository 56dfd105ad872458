from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errors import UserError
from p4.codegen.reader import read_program
from p4.compiler import compile_file
from p4.engine import Program as Loaded
from testbed.exchange.filling import rehearsed
from testbed.exchange.forms import HIGHEST_PRIORITY
from testbed.exchange.runtime import Replica, Runtime, read_runtime
from testbed.plan import TableEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4.codegen.program import Program

ROUTER, KINDS = (Path(__file__).parent / name for name in ("router.p4", "kinds.p4"))


@functools.cache
def router() -> Program:
    return read_program(compile_file(ROUTER))


@functools.cache
def kinds() -> Loaded:
    return Loaded.load(KINDS)


def route(**changes: Any) -> dict[str, Any]:
    return {
        "table": "Route.routes",
        "match": {"headers.ipv4.destination": ["10.0.1.7", 24]},
        "action_name": "Route.forward",
        "action_params": {"next_hop": "08:00:00:00:01:11", "port": 1},
    } | changes


def read(folder: Path, document: dict[str, Any]) -> Runtime:
    path = folder / "s1-runtime.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return read_runtime(path, router())


def test_read_runtime__addresses_prefixes_and_defaults(tmp_path: Path) -> None:
    drop = {"table": "Route.routes", "default_action": True, "action_name": "Route.drop"}
    setup = read(tmp_path, {"table_entries": [drop, route()]}).setup
    assert setup.defaults == {"Route.routes": ("Route.drop", ())}
    (entry,) = setup.entries
    wanted = TableEntry(
        "Route.routes", ((0x0A000100, 24),), "Route.forward", (0x080000000111, 1), entry.priority
    )
    assert entry == wanted


def test_read_runtime__greater_priorities_become_smaller(tmp_path: Path) -> None:
    access = {
        "table": "access",
        "match": {
            "headers.ipv4.source": ["10.0.0.0", "255.0.0.0"],
            "headers.ipv4.protocol": [6, 17],
            "standard.ingress_port": [2],
        },
        "priority": 10,
        "action_name": "drop",
        "action_params": {},
    }
    (entry,) = read(tmp_path, {"table_entries": [access]}).setup.entries
    assert entry.match == ((0x0A000000, 0xFF000000), (6, 17), 2)
    assert entry.priority == HIGHEST_PRIORITY - 10
    access["match"] = {"standard.ingress_port": 3}
    (entry,) = read(tmp_path, {"table_entries": [access]}).setup.entries
    assert entry.match == ((0, 0), (0, 255), 3)


def test_read_runtime__groups_and_sessions(tmp_path: Path) -> None:
    replicas = [{"egress_port": 1, "instance": 5}, {"egress_port": 2}]
    runtime = read(
        tmp_path,
        {
            "multicast_group_entries": [{"multicast_group_id": 3, "replicas": replicas}],
            "clone_session_entries": [{"clone_session_id": 9, "replicas": replicas[:1]}],
        },
    )
    assert runtime.groups == {3: (Replica(1, 5), Replica(2, 0))}
    assert runtime.sessions == {9: (Replica(1, 5),)}


def entry(table: str, key: str, value: Any, /, **changes: Any) -> dict[str, Any]:
    made = {
        "table": table,
        "match": {key: value},
        "action_name": "to",
        "action_params": {"port": 1},
    }
    return made | changes


def to(mac: Any, **changes: Any) -> dict[str, Any]:
    return entry("exact_", "h.ethernet.to", mac, **changes)


def prefix(value: Any, **changes: Any) -> dict[str, Any]:
    return entry("prefix", "h.ipv4.destination", value, **changes)


def masked(value: Any, **changes: Any) -> dict[str, Any]:
    return entry("masked", "h.ipv4.source", value, **({"priority": 1} | changes))


def span(ports: Any, **changes: Any) -> dict[str, Any]:
    match = {"s.ingress_port": ports, "h.ethernet.kind": 0x800}
    made = {"table": "spans", "match": match, "action_name": "tap", "action_params": {"session": 5}}
    return made | {"priority": 1} | changes


def of_kind(table: str, **changes: Any) -> dict[str, Any]:
    return entry(table, "h.ethernet.kind", 0x800, **changes)


KEYLESS = {"table": "keyless", "action_name": "to", "action_params": {"port": 1}}
DEFAULT = {"table": "exact_", "default_action": True, "action_name": "lose"}
WRONG_ENTRIES = {
    "a missing member": ([{}], "table_entries[0].table is missing"),
    "an unknown member": (
        [to(1, actionname="x")],
        'table_entries[0]: there is no member "actionname"; did you mean "action_name"?',
    ),
    "a wrong type": (
        [to(1, action_params=["port"])],
        '[0].action_params is ["port"]; it should be a JSON',
    ),
    "no list": (None, "table_entries is null; it should be a list"),
    "an unknown table": (
        [to(1, table="In.none")],
        '[0].table is "In.none"; there is no such table',
    ),
    "an unknown action": (
        [to(1, action_name="tap")],
        '"tap"; table In.exact_ has no such action; there',
    ),
    "an unknown key": (
        [entry("exact_", "h.x", 1)],
        '[0].match["h.x"] is 1; table In.exact_ has no such',
    ),
    "a missing exact key": (
        [to(1, match={})],
        '.match["h.ethernet.to"] is missing: the key is exact',
    ),
    "a missing parameter": ([to(1, action_params={})], "[0].action_params is []; In.to takes port"),
    "one parameter too many": (
        [to(1, action_params={"port": 1, "mac": 2})],
        'action_params is ["port", "mac"]; In.to takes port',
    ),
    "a parameter too wide": (
        [to(1, action_params={"port": 512})],
        "[0].action_params.port is 512; it should be a number of 9 bits",
    ),
    "a negative parameter": (
        [to(1, action_params={"port": -1})],
        "port is -1; it should be a number",
    ),
    "a fraction": (
        [to(1, action_params={"port": 1.5})],
        "port is 1.5; it should be a number or a string",
    ),
    "nonsense": (
        [to("x")],
        'to"] is "x"; it should be a number of 48 bits, or an Ethernet address',
    ),
    "an address of another width": (
        [to("10.0.0.1")],
        '"10.0.0.1"; it should be a number of 48 bits',
    ),
    "a mask for an exact key": ([to([1, 2])], "[1, 2]; an exact key is a number of 48 bits"),
    "a prefix too long": (
        [prefix(["10.0.0.1", 33])],
        "; an lpm key is [prefix, length], with a length",
    ),
    "a prefix without length": ([prefix(7)], "is 7; an lpm key is [prefix, length]"),
    "a reversed range": ([span([5, 3])], "[5, 3]; a range key is [low, high], with low up to high"),
    "a range beyond the field": ([span([1, 512])], "is 512; it should be a number of 9 bits"),
    "no priority": (
        [masked(1, priority=None)],
        "[0].priority is missing: entries of table In.masked",
    ),
    "priority 0": (
        [span([1, 2], priority=0)],
        "[0].priority is 0; entries of table In.spans have one",
    ),
    "a negative priority": (
        [span([1, 2], priority=-1)],
        "priority is -1; it should be a whole number",
    ),
    "a priority too great": (
        [masked(1, priority=1 << 31)],
        "it should be a whole number from 0 to 2147483647",
    ),
    "a priority in words": (
        [masked(1, priority="high")],
        'priority is "high"; it should be a whole number',
    ),
    "a priority where none is": ([prefix([1, 8], priority=3)], "In.prefix have none: leave it out"),
    "an exact key twice": (
        [to(1), to(["00:00:00:00:00:01"])],
        "[1]: an entry of table In.exact_ with the same key is at table_entries[0] already",
    ),
    "a prefix twice": (
        [prefix(["10.0.0.1", 8]), prefix(["10.0.0.2", 8])],
        "is at table_entries[0] already",
    ),
    "a mask twice": (
        [masked([3, 1]), masked([1, 1])],
        "[1]: an entry of table In.masked with the same",
    ),
    "a full table": ([to(1), to(2), to(3)], "is full: the program gives it room for 2 entries"),
    "constant entries": ([of_kind("fixed")], "its entries are constant in the program"),
    "a constant default": (
        [{"table": "fixed", "default_action": True, "action_name": "NoAction"}],
        "its default action is constant in the program",
    ),
    "a table without key": ([KEYLESS], "it has no key: only its default action can be set"),
    "an action profile": ([of_kind("members")], "its entries are members of the action profile"),
    "a default with a match": ([to(1, default_action=True)], "a default action has no match"),
    "two defaults": (
        [DEFAULT, DEFAULT],
        "the default action of In.exact_ is at table_entries[0] already",
    ),
}


def group(*replicas: Any, number: Any = 1) -> dict[str, Any]:
    return {"multicast_group_entries": [{"multicast_group_id": number, "replicas": [*replicas]}]}


def session(*replicas: Any, number: Any = 1, **more: Any) -> dict[str, Any]:
    made = {"clone_session_id": number, "replicas": [*replicas], **more}
    return {"clone_session_entries": [made]}


ONE = {"egress_port": 1, "instance": 2}
WRONG_DOCUMENTS = {
    "a replica without port": (group({"instance": 1}), "replicas[0].egress_port is missing"),
    "a port beyond the last": (
        group({"egress_port": 511}),
        "511; it should be a whole number from 0 to 510",
    ),
    "a negative port": (
        session({"egress_port": -1}),
        "-1; it should be a whole number from 0 to 510",
    ),
    "an instance too great": (
        group(ONE | {"instance": 65536}),
        "it should be a whole number from 0 to 65535",
    ),
    "a replica twice": (
        group(ONE, ONE),
        "multicast_group_entries[0].replicas[1]: port 1, instance 2 stands",
    ),
    "group 0": (
        group(number=0),
        "multicast_group_id is 0; it should be a whole number from 1 to 65535",
    ),
    "a session too great": (session(number=32768), "it should be a whole number from 1 to 32767"),
    "a group as text": (
        group(number="1"),
        'multicast_group_id is "1"; it should be a whole number',
    ),
    "a group twice": (
        {"multicast_group_entries": 2 * group(ONE)["multicast_group_entries"]},
        "multicast_group_entries[1]: 1 has its copies already",
    ),
    "copies cut short": (
        session(ONE, packet_length_bytes=64),
        "is 64; copies are whole here: leave it out",
    ),
    "an unknown section": (
        {"table_entrys": []},
        'no member "table_entrys"; did you mean "table_entries"?',
    ),
    "another target": ({"target": "tofino"}, "target is \"tofino\"; it should be 'bmv2'"),
}


def complaint(folder: Path, document: dict[str, Any]) -> str:
    path = folder / "s1-runtime.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        rehearsed(path, kinds())
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("fault", WRONG_ENTRIES)
def test_entries__what_is_wrong_is_named(tmp_path: Path, fault: str) -> None:
    entries, said = WRONG_ENTRIES[fault]
    assert said in complaint(tmp_path, {"table_entries": entries})


@pytest.mark.parametrize("fault", WRONG_DOCUMENTS)
def test_document__what_is_wrong_is_named(tmp_path: Path, fault: str) -> None:
    document, said = WRONG_DOCUMENTS[fault]
    assert said in complaint(tmp_path, document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"table_entries": NaN}', "NaN is no number"),
        ('{"target": "bmv2", "target": "bmv2"}', '"target" stands twice in one object'),
        ("[" * 100_000, "not JSON"),
        ('{"table_entries": [' + "9" * 5000 + "]}", "not JSON"),
        ("\udcff", "not JSON"),
        ('{"target": "\\ud800"}', "surrogates not allowed"),
        ('{"tar\\nget": 1}', 'there is no member "tar\\nget"; did you mean "target"?'),
    ],
)
def test_text__that_is_no_such_file_is_told(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "s1-runtime.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UserError) as raised:
        read_runtime(path, kinds().model)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_document__that_fills_every_table_is_taken(tmp_path: Path) -> None:
    entries = [
        *(to(number) for number in (1, 2)),
        *(prefix(["10.0.0.0", length]) for length in (0, 32)),
        *(masked([1, 1], priority=number) for number in (1, 2)),
        span([1, 1]),
        entry("maybe", "h.ethernet.kind", [1], priority=1),
        {
            "table": "keyless",
            "default_action": True,
            "action_name": "to",
            "action_params": {"port": 1},
        },
        DEFAULT,
    ]
    document = {"table_entries": entries, **group(ONE), **session(ONE)}
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(document), encoding="utf-8-sig")
    runtime = rehearsed(path, kinds())
    assert len(runtime.setup.entries) == len(entries) - 2


MEMBERS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda parts: (
        st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=6), parts, max_size=3)
    ),
    max_leaves=5,
)


def changed(document: Any, draw: Callable[[Any], Any]) -> Any:
    """A document with one of its parts dropped, repeated or replaced."""
    if not isinstance(document, dict | list) or not document or draw(st.integers(0, 4)) == 0:
        return draw(MEMBERS)
    keys = list(document) if isinstance(document, dict) else list(range(len(document)))
    key = draw(st.sampled_from(keys))
    made = document.copy()
    match draw(st.integers(0, 5)):
        case 0:
            del made[key]
        case 1 if isinstance(made, list):
            made.append(made[key])
        case 2 if isinstance(made, dict):
            made[draw(st.text(max_size=4))] = made.pop(key)
        case _:
            made[key] = changed(made[key], draw)
    return made


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_document__of_any_shape_is_taken_or_told_in_one_line(
    tmp_path: Path, data: st.DataObject
) -> None:
    whole = {
        "target": "bmv2",
        "table_entries": [to(1), masked([1, 1]), span([1, 2]), prefix([1, 8])],
    }
    document = changed({**whole, **group(ONE), **session(ONE)}, data.draw)
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    told = ""
    try:
        rehearsed(path, kinds())
    except UserError as error:
        told = str(error)
    assert "\n" not in told
