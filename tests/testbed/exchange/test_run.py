"""Networks of the tutorials' kind, on interfaces."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from errors import UserError
from testbed.exchange.run import load, program_of
from testbed.exchange.tutorials import Switch, read_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).parents[3]
ROUTER = Path(__file__).parent / "router.p4"
NEEDS_MININET = [
    pytest.mark.mininet,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="Mininet needs root"),
    pytest.mark.skipif(
        importlib.util.find_spec("mininet") is None, reason="Mininet is not installed"
    ),
]


def host(number: int) -> dict[str, Any]:
    gateway = f"10.0.{number}.254"
    return {
        "ip": f"10.0.{number}.1/24",
        "mac": f"08:00:00:00:00:0{number}",
        "commands": [
            f"route add default gw {gateway} dev eth0",
            f"arp -i eth0 -s {gateway} 08:00:00:00:00:fe",
        ],
    }


def exercise(folder: Path, *, rate_mbps: float | None = None) -> Path:
    """Write h1 - s1 - s2 - h2; the middle link takes 5 ms, and has a rate if one is given."""
    middle = ["s1-p2", "s2-p2", "5ms"] + ([rate_mbps] if rate_mbps else [])
    topology = {
        "hosts": {"h1": host(1), "h2": host(2)},
        "switches": {"s1": {"runtime_json": "s1.json"}, "s2": {"runtime_json": "s2.json"}},
        "links": [["h1", "s1-p1"], ["h2", "s2-p1"], middle],
    }
    (folder / "topology.json").write_text(json.dumps(topology), encoding="utf-8")
    for name, near in (("s1", 1), ("s2", 2)):
        routes = [
            {
                "table": "Route.routes",
                "match": {"headers.ipv4.destination": [f"10.0.{number}.0", 24]},
                "action_name": "Route.forward",
                "action_params": {
                    "next_hop": f"08:00:00:00:00:0{number}",
                    "port": 1 if number == near else 2,
                },
            }
            for number in (1, 2)
        ]
        document = {"target": "bmv2", "bmv2_json": "build/router.json", "table_entries": routes}
        (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "router.p4").write_text(ROUTER.read_text(encoding="utf-8"), encoding="utf-8")
    return folder / "topology.json"


def run(topology: Path, commands: Sequence[str]) -> subprocess.CompletedProcess[str]:
    words = [word for command in commands for word in ("--command", command)]
    return subprocess.run(
        [sys.executable, "-m", "testbed", "run", str(topology), *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def with_mininet(test: Callable[[Path], None]) -> Callable[[Path], None]:
    for mark in NEEDS_MININET:
        test = mark(test)
    return test


@with_mininet
def test_run__ping_reaches_the_other_host(tmp_path: Path) -> None:
    done = run(exercise(tmp_path), ["h1 ping -c 3 -i 0.2 10.0.2.1"])
    assert done.returncode == 0, done.stderr
    assert "3 received, 0% packet loss" in done.stdout
    assert "ttl=62" in done.stdout
    times = [float(part.split()[0]) for part in done.stdout.split("time=")[1:]]
    assert all(10 <= time < 500 for time in times)


@with_mininet
def test_run__a_slow_link_makes_a_queue_that_the_program_sees(tmp_path: Path) -> None:
    catch = f"timeout 5 tcpdump -i eth0 -c 30 -nv icmp > {tmp_path}/seen 2> {tmp_path}/noise &"
    commands = [f"h2 {catch}", "h2 sleep 1", "h1 ping -c 30 -l 30 -s 1000 10.0.2.1", "h2 wait"]
    done = run(exercise(tmp_path, rate_mbps=2), commands)
    assert done.returncode == 0, done.stderr
    seen = (tmp_path / "seen").read_text(encoding="utf-8")
    assert "tos 0x3,CE" in seen
    assert "tos 0x0" in seen


@with_mininet
def test_run__commands_by_pipe_and_switches_that_die(tmp_path: Path) -> None:
    commands = [
        "link s1 s2 down",
        "h1 ping -c 1 -W 1 10.0.2.1",
        "link s1 s2 up",
        "h1 ping -c 3 -i 0.3 10.0.2.1",
        "link h1 h2 down",
        "sh kill -9 $(pgrep ofan-fabric | tail -1); sleep 0.5",
        "exit",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "testbed", "run", str(exercise(tmp_path))],
        cwd=ROOT,
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 1, done.stderr
    assert "0 received, 100% packet loss" in done.stdout
    assert " 0% packet loss" in done.stdout
    assert done.stderr.splitlines() == [
        "there is no link between h1 and h2",
        "the switches are gone, their process ended with -9; `exit` leaves",
    ]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"bmv2_json": "build/other.json"}, "switch s1: there is no other.p4"),
        ({"bmv2_json": None}, "switch s1 names no program; use --program"),
        ({"table_entries": [{}]}, "table_entries[0].table is missing"),
    ],
)
def test_run__a_wrong_file_is_told_in_one_line(
    tmp_path: Path, broken: dict[str, Any], said: str
) -> None:
    topology = exercise(tmp_path)
    path = tmp_path / "s1.json"
    document = json.loads(path.read_text(encoding="utf-8")) | broken
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError) as raised:
        load(topology, read_topology(topology), None)
    assert said in str(raised.value)


def test_program_of__prefers_what_was_built(tmp_path: Path) -> None:
    topology = exercise(tmp_path)
    switch = Switch("s1", None, tmp_path / "s1.json")
    assert program_of(topology, switch) == tmp_path / "router.p4"
    (tmp_path / "build").mkdir()
    (tmp_path / "build/router.json").touch()
    assert program_of(topology, switch) == tmp_path / "build/router.json"
