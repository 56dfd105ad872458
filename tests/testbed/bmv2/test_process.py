"""simple_switch started, programmed, and failing, without interfaces and without root."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p4.codegen.reader import read_program
from p4.compiler import compile_file
from testbed.bmv2 import control, process
from testbed.bmv2.client import connect
from testbed.bmv2.errors import Bmv2Error
from testbed.plan import SwitchSetup, TableEntry
from testbed.schemes import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4.codegen.program import Program
    from testbed.bmv2.client import Client

pytestmark = pytest.mark.bmv2
needs_switch = pytest.mark.skipif(
    shutil.which("simple_switch") is None, reason="simple_switch is not on the path"
)
DOWN, DESCEND = "Fabric.routing.down", "Fabric.routing.descend"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    document = compile_file(PROGRAMS / "simple_rr.p4")
    (tmp_path / "program.json").write_text(json.dumps(document), encoding="utf-8")
    return read_program(document)


@pytest.fixture
def client(tmp_path: Path, program: Program) -> Iterator[Client]:
    started = process.start("e0_0", tmp_path / "program.json", {}, tmp_path)
    try:
        with connect(started) as connected:
            yield connected
    finally:
        started.stop()


@needs_switch
def test_stop__nothing_stays(tmp_path: Path, program: Program) -> None:
    def left() -> set[Path]:
        return {*Path(tempfile.gettempdir()).glob(f"*{started.device}*"), *tmp_path.iterdir()}

    kept = {tmp_path / "program.json", tmp_path / "e0_0.log"}
    for end in ("stop", "kill"):
        started = process.start("e0_0", tmp_path / "program.json", {}, tmp_path)
        process.wait_for_thrift(started)
        if end == "kill":
            started.popen.kill()
        started.stop()
        assert left() == kept


@needs_switch
def test_install__entries_are_counted_and_read_back(client: Client, program: Program) -> None:
    entries = [TableEntry(DOWN, (child,), DESCEND, (child % 4 + 1,)) for child in range(300)]
    control.install(client, program, SwitchSetup(entries, {}, {"Fabric.balance.pointer": [1]}))
    assert control.read_register(client, "Fabric.balance.pointer") == [1]
    lines = control.table_lines(client, program)
    assert f"{DOWN}: 300 entries" in lines
    assert f"  7 -> {DESCEND}(4)" in lines
    control.remove_entries(client, program, entries[:100])
    assert f"{DOWN}: 200 entries" in control.table_lines(client, program)


@needs_switch
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (TableEntry("Fabric.up", (1,), DESCEND, (1,)), "table Fabric.up: INVALID_TABLE_NAME"),
        (TableEntry(DOWN, (7,), DESCEND, (1,)), f"{DOWN} (7,): DUPLICATE_ENTRY"),
    ],
)
def test_install__a_refused_entry_names_the_switch(
    client: Client, program: Program, entry: TableEntry, said: str
) -> None:
    control.add_entries(client, program, [TableEntry(DOWN, (7,), DESCEND, (2,))])
    with pytest.raises(Bmv2Error) as raised:
        control.add_entries(client, program, [entry])
    assert str(raised.value) == f"e0_0: {said}"


@needs_switch
def test_client__names_a_switch_that_died(client: Client) -> None:
    client.process.popen.kill()
    client.process.popen.wait()
    with pytest.raises(Bmv2Error, match=r"e0_0: simple_switch died \(signal 9\); its log"):
        control.read_register(client, "Fabric.balance.pointer")


@needs_switch
def test_connect__shows_why_a_program_was_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text("{}", encoding="utf-8")
    started = process.start("c0", tmp_path / "wrong.json", {}, tmp_path)
    with pytest.raises(Bmv2Error, match=r"c0: simple_switch died .* its log ends: "):
        connect(started)


@needs_switch
def test_require_ports__names_a_port_that_is_not_there(tmp_path: Path, program: Program) -> None:
    interfaces = {3: "no-such-eth3"}
    started = process.start("a0_0", tmp_path / "program.json", interfaces, tmp_path)
    try:
        with connect(started) as client, pytest.raises(Bmv2Error) as raised:
            control.require_ports(client, interfaces)
    finally:
        started.stop()
    assert str(raised.value).startswith("a0_0: port 3 could not be attached; its log ends: ")


def test_executable__says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Bmv2Error, match=r"^simple_switch is not on the path; install"):
        process.executable()
