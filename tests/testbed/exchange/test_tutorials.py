from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from errors import UserError
from testbed.exchange.tutorials import End, read_topology

if TYPE_CHECKING:
    from pathlib import Path

HOST = {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["true"]}
OTHER = {"ip": "10.0.2.1/24", "mac": "08:00:00:00:02:22"}


def network() -> dict[str, Any]:
    return {
        "hosts": {"h1": HOST, "h2": OTHER},
        "switches": {"s1": {"runtime_json": "s1-runtime.json"}, "s2": {"program": "build/x.json"}},
        "links": [["s1-p1", "h1"], ["s1-p12", "s2-p1", "5us", 0.5], ["h2", "s2-p2", 3]],
    }


def write(folder: Path, document: object) -> Path:
    path = folder / "topo" / "topology.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_read_topology__hosts_switches_and_links(tmp_path: Path) -> None:
    (tmp_path / "s1-runtime.json").touch()
    read = read_topology(write(tmp_path, network()))
    assert [host.name for host in read.hosts] == ["h1", "h2"]
    assert str(read.hosts[0].ip) == "10.0.1.1/24"
    assert read.hosts[0].commands == ("true",)
    first, middle, last = read.cables
    assert (first.lower, first.upper) == (End("h1", 0), End("s1", 1))
    assert (middle.lower, middle.upper) == (End("s1", 12), End("s2", 1))
    assert (middle.delay_us, middle.rate_mbps) == (5, 0.5)
    assert (last.delay_us, last.rate_mbps) == (3000, None)
    assert read.ports("s1") == (1, 12)


def test_read_topology__finds_files_above_the_topology(tmp_path: Path) -> None:
    (tmp_path / "s1-runtime.json").touch()
    switches = read_topology(write(tmp_path, network())).switches
    assert switches[0].runtime == tmp_path / "s1-runtime.json"
    assert switches[1].program == tmp_path / "topo/build/x.json"


def broken(**changes: Any) -> dict[str, Any]:
    return network() | changes


def hosts(**changes: Any) -> dict[str, Any]:
    return broken(hosts=changes)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "not a JSON object"),
        ({}, "hosts is missing (and 2 more)"),
        (broken(links={}), "links is {}; it should be a list"),
        (broken(links=["h1"]), 'links[0] is "h1"; it should be a list'),
        (broken(hosts=[]), "hosts is []; it should be a JSON object"),
        (hosts(h1={"ip": "10.0.0.1/24"}), "hosts.h1.mac is missing"),
        (
            hosts(h1=HOST | {"ip": "10.0.0"}),
            'hosts.h1.ip is "10.0.0"; it should be an IPv4 address with',
        ),
        (hosts(h1=HOST | {"ip": "224.0.0.1/8"}), "it should be the address of a host"),
        (
            hosts(h1=HOST | {"mac": "1:2"}),
            'hosts.h1.mac is "1:2"; it should be an Ethernet address',
        ),
        (
            hosts(h1=HOST | {"mac": "01:00:00:00:00:01"}),
            "it should be the Ethernet address of a host",
        ),
        (hosts(h1=HOST | {"commands": "true"}), 'hosts.h1.commands is "true"; it should be a list'),
        (hosts(h1=HOST | {"commands": [1]}), "hosts.h1.commands[0] is 1; it should be a string"),
        (hosts(h1=HOST | {"comands": []}), 'hosts.h1: there is no member "comands"; did you mean'),
        (hosts(h1=HOST, h2=OTHER | {"ip": "10.0.1.1/16"}), "hosts.h2.ip is 10.0.1.1, which h1 has"),
        (
            hosts(h1=HOST, h2=OTHER | {"mac": HOST["mac"]}),
            "hosts.h2.mac is 08:00:00:00:01:11, which",
        ),
        (
            broken(switches={"s1": {"cli_input": "x"}, "s2": {}}),
            'switches.s1: there is no member "cli_',
        ),
        (
            broken(switches={"s1": {"runtime_json": 7}}),
            "switches.s1.runtime_json is 7; it should be a",
        ),
        (
            broken(switches={"s1": {"cpu_port": "cpu"}}),
            'switches.s1.cpu_port is "cpu"; it should be a',
        ),
        (broken(switches={"s1": {"program": "x" * 256}}), "it should be the name of a file"),
        (broken(switches={"h1": {}}), "h1 is a host and a switch; names are unique"),
        (broken(switches={"a" * 12: {}}), "a name has 1 to 10 letters and digits"),
        (broken(switches={"s 1": {}}), 'switches["s 1"]: a name has 1 to 10 letters and digits'),
        (broken(links=[["h1"]]), 'links[0] is ["h1"]; it should be [node, node, delay, Mb/s]'),
        (broken(links=[["h1", "h2"]]), "links[0]: h1 is linked to another host"),
        (broken(links=[["h1", "s3-p1"]]), '"s3-p1" is neither a host nor a switch\'s port'),
        (broken(links=[["h1", 3]]), "links[0]: 3 is neither a host nor a switch's port"),
        (broken(links=[["h1", "s1-p0"]]), '"s1-p0": ports are numbered 1 to 510'),
        (broken(links=[["h1", "s1-p511"]]), '"s1-p511": ports are numbered 1 to 510'),
        (broken(links=[["h1", "s1-p1"]]), "host h2 has no link"),
        (broken(links=[["h1", "s1-p1"], ["h2", "s1-p1"]]), "links[1]: two links at port 1 of s1"),
        (broken(links=[["h1", "s1-p1", "soon"]]), 'links[0]: the delay is "soon"; it should be'),
        (broken(links=[["h1", "s1-p1", -1]]), "links[0]: the delay is -1; it should be"),
        (broken(links=[["h1", "s1-p1", "61s"]]), "and at most a minute"),
        (broken(links=[["h1", "s1-p1", 0, -1]]), "links[0]: the rate is -1; it should be a number"),
        (
            broken(links=[["h1", "s1-p1", 0, "1"]]),
            'links[0]: the rate is "1"; it should be a number',
        ),
        (broken(links=[["h1", "s1-p1", 0, 1e400]]), "not JSON: Infinity is no number"),
        (
            broken(switches={"switches10": {}}, links=[["h1", "switches10-p10"]]),
            "switches10-eth10 is longer than the 15 letters",
        ),
    ],
)
def test_read_topology__names_what_is_wrong(tmp_path: Path, document: object, said: str) -> None:
    path = write(tmp_path, document)
    with pytest.raises(UserError) as raised:
        read_topology(path)
    assert str(raised.value).startswith(str(path))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_read_topology__missing_and_malformed_files(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read_topology(tmp_path / "none.json")
    (tmp_path / "half.json").write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="not JSON"):
        read_topology(tmp_path / "half.json")
