from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from errors import UserError
from p4.codegen.reader import read_program
from p4.compiler import compile_file
from testbed.bmv2 import process
from testbed.bmv2.client import connect
from testbed.exchange.commands import setup_commands
from testbed.exchange.p4utils import export
from testbed.plan import SwitchSetup, TableEntry
from testbed.planning import plan_for
from testbed.scenario import Scenario
from tests.testbed.exchange.test_runtime import router

if TYPE_CHECKING:
    from pathlib import Path

    from testbed.plan import Plan


def exported(folder: Path, scheme: str) -> Plan:
    plan = plan_for(Scenario(scheme=scheme, k=4), tick_ps=1_000_000)
    programs = {
        source: read_program(compile_file(source.path, defines=dict(source.defines)))
        for source in set(plan.programs.values())
    }
    assert export(plan, programs, folder, packets_per_second=240) == folder / "p4app.json"
    return plan


def test_setup_commands__every_kind_of_match() -> None:
    match = ((0x0A000000, 0xFF000000), (6, 17), 2)
    setup = SwitchSetup(
        [
            TableEntry("Route.routes", ((0x0A000100, 24),), "Route.forward", (17, 1)),
            TableEntry("Route.access", match, "Route.drop", (), 5),
        ],
        {"Route.routes": ("Route.drop", ())},
        {"counts": [0, 7, 0]},
    )
    assert list(setup_commands(router(), setup)) == [
        "table_set_default Route.routes Route.drop",
        "table_add Route.routes Route.forward 0xa000100/24 => 0x11 0x1",
        "table_add Route.access Route.drop 0xa000000&&&0xff000000 0x6->0x11 0x2 => 5",
        "register_write counts 1 7",
    ]
    with pytest.raises(UserError, match="router has no table none"):
        list(setup_commands(router(), SwitchSetup([TableEntry("none", (1,), "drop")])))


def test_export__network_and_files(tmp_path: Path) -> None:
    plan = exported(tmp_path, "ofan")
    application = json.loads((tmp_path / "p4app.json").read_text(encoding="utf-8"))
    topology = application["topology"]
    assert len(topology["hosts"]) == 16
    assert len(topology["links"]) == len(plan.topology.links) == 48
    assert topology["links"][1] == [
        "h1",
        "e0_0",
        {
            "port1": 0,
            "port2": 2,
            "addr1": "02:00:0a:00:00:02",
            "params1": {"ip": "10.0.0.2/8"},
        },
    ]
    for switch in topology["switches"].values():
        assert (tmp_path / switch["cli_input"]).exists()
        compile_file(tmp_path / switch["p4_src"])
    commands = (tmp_path / "commands/a0_1.txt").read_text(encoding="utf-8").splitlines()
    shared = [line for line in commands if line.startswith("table_add Fabric.routing.up")]
    assert len(shared) == 4
    assert "set_queue_rate 240 4" in commands


@pytest.mark.bmv2
@pytest.mark.skipif(
    shutil.which("simple_switch_CLI") is None, reason="simple_switch_CLI is not on the path"
)
def test_export__simple_switch_takes_the_commands(tmp_path: Path) -> None:
    exported(tmp_path, "pofan")
    program = tmp_path / "program.json"
    document = compile_file(next((tmp_path / "p4src").glob("*.p4")))
    program.write_text(json.dumps(document), encoding="utf-8")
    switch = process.start("e0_0", program, {}, tmp_path)
    try:
        connect(switch).close()
        done = subprocess.run(
            ["simple_switch_CLI", "--thrift-port", str(switch.port)],
            input=(tmp_path / "commands/e0_0.txt").read_text(encoding="utf-8"),
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        switch.stop()
    wrong = [line for line in done.stdout.splitlines() if "rror" in line or "nvalid" in line]
    assert not wrong
    assert done.stdout.count("Entry has been added") == 2 + 8
