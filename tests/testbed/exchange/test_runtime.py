from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4.codegen.reader import read_program
from p4.compiler import compile_file
from testbed.exchange.document import ExchangeError
from testbed.exchange.runtime import HIGHEST_PRIORITY, Replica, Runtime, read_runtime
from testbed.plan import TableEntry

if TYPE_CHECKING:
    from p4.codegen.program import Program

ROUTER = Path(__file__).parent / "router.p4"


@functools.cache
def router() -> Program:
    return read_program(compile_file(ROUTER))


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


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, 'table entry 1: "table" is missing'),
        (route(table="Route.none"), "the program has no table Route.none"),
        (route(action_name="NoAction"), "table Route.routes has no action NoAction"),
        (route(action_params={"port": 1}), "takes ['next_hop', 'port'], not ['port']"),
        (route(action_params={"next_hop": 1, "port": 512}), "port: 512 does not fit 9 bits"),
        (route(action_params={"next_hop": "x", "port": 1}), "'x' is neither a number nor an"),
        (route(match={"headers.ipv4.source": 1}), "the table has no key headers.ipv4.source"),
        (route(match={"headers.ipv4.destination": ["10.0.0.1", 33]}), "is no lpm match"),
        (route(match={"headers.ipv4.destination": 7}), "7 is no lpm match"),
        (
            {"table": "access", "action_name": "drop", "action_params": {}},
            "standard.ingress_port: an exact key needs a value",
        ),
    ],
)
def test_read_runtime__names_what_is_wrong(
    tmp_path: Path, entry: dict[str, Any], said: str
) -> None:
    with pytest.raises(ExchangeError) as raised:
        read(tmp_path, {"table_entries": [entry]})
    assert said in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path))
