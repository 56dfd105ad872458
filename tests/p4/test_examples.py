"""The walk-through's program and commands do what the page says."""

from pathlib import Path

from p4.commands.run import run_file
from p4.console.commands import Console
from p4.engine import Program, Switch

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
ONE, TWO, NOBODY = (bytes([2, 0, 0, 0, 0, number]) for number in (1, 2, 9))
REST = b"\x08\x00payload"


def test_tap__forwards_floods_counts_and_copies() -> None:
    switch = Switch(Program.load(EXAMPLES / "tap.p4"))
    console = Console(switch)
    run_file(console, EXAMPLES / "tap.txt")
    known, unknown = TWO + ONE + REST, NOBODY + ONE + REST
    assert [(o.port, o.data) for o in switch.receive(1, known)] == [(2, known)]
    assert [(o.port, o.data) for o in switch.receive(1, unknown)] == [(2, unknown)]
    console.execute("table_add watched copy 02:00:00:00:00:01 => 5")
    assert sorted(o.port for o in switch.receive(1, known)) == [2, 3]
    assert console.execute("register_read frames 1") == "Forward.frames[1]= 3"
