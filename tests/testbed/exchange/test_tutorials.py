from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from testbed.exchange.document import ExchangeError
from testbed.exchange.tutorials import End, read_topology

if TYPE_CHECKING:
    from pathlib import Path

HOST = {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["true"]}


def network() -> dict[str, Any]:
    return {
        "hosts": {"h1": dict(HOST), "h2": dict(HOST)},
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


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "not a JSON object"),
        ({}, '"hosts" is missing'),
        (broken(links={}), '"links" is {}; it should be a list'),
        (broken(hosts={"h1": {"ip": "10.0.0.1/24"}}), 'host h1: "mac" is missing'),
        (broken(hosts={"h1": HOST | {"ip": "10.0.0"}}), "host h1: "),
        (broken(hosts={"h1": HOST | {"mac": "1:2"}}), "1:2 is no Ethernet address"),
        (broken(switches={"s1": {"cli_input": "x"}, "s2": {}}), "cli_input is not supported"),
        (broken(switches={"a" * 12: {}}), "a name has 1 to 9 letters and digits"),
        (broken(links=[["h1"]]), "should be [node, node, delay, Mb/s]"),
        (broken(links=[["h1", "h2"]]), "h1 is linked to another host"),
        (broken(links=[["h1", "s3-p1"]]), "s3-p1 is neither a host nor a switch's port"),
        (broken(links=[["h1", "s1-p0"]]), "port 0 is not one of 1 to 510"),
        (broken(links=[["h1", "s1-p1"]]), "host h2 has no link"),
        (broken(links=[["h1", "s1-p1"], ["h2", "s1-p1"]]), "two links at port 1 of s1"),
        (broken(links=[["h1", "s1-p1", "soon"]]), "a delay of 'soon'"),
        (broken(links=[["h1", "s1-p1", 0, -1]]), "a rate of -1 Mb/s"),
    ],
)
def test_read_topology__names_what_is_wrong(tmp_path: Path, document: object, said: str) -> None:
    path = write(tmp_path, document)
    with pytest.raises(ExchangeError) as raised:
        read_topology(path)
    assert str(raised.value).startswith(str(path))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_read_topology__missing_and_malformed_files(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="No such file"):
        read_topology(tmp_path / "none.json")
    (tmp_path / "half.json").write_text("{", encoding="utf-8")
    with pytest.raises(ExchangeError, match="not JSON"):
        read_topology(tmp_path / "half.json")
