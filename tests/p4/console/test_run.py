"""The software switch on interfaces: its ports and, with root, frames between them."""

from pathlib import Path
from typing import Any

import pytest

from errors import UserError
from p4.commands.run import make_console, parse_ports, run_file
from p4.console.commands import ConsoleError
from p4.console.interfaces import SoftwareSwitch
from p4.engine import Program
from tests.apart import run_apart
from tests.p4.console.on_wires import DEPTH, FEW, FLOOD, SENT_TO_LIMIT, SLOTS

PROGRAM = Program.load(Path(__file__).resolve().parents[1] / "engine_programs" / "traffic.p4")


@pytest.mark.parametrize("words", [["x=eth0"], ["1="], ["1"], ["511=a"], ["1=a", "1=b"]])
def test_parse_ports__errors(words: list[str]) -> None:
    with pytest.raises(ConsoleError, match="--port"):
        parse_ports(words)


def test_run_file__error_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "entries"
    file.write_text("register_write cells 0 1\n\nnonsense\n")
    switch = SoftwareSwitch(PROGRAM, {})
    with pytest.raises(ConsoleError, match="entries:3: unknown command"):
        run_file(make_console(switch), file)
    assert switch.switch.register_read("cells", 0) == 1


def test_interface__that_does_not_exist() -> None:
    with pytest.raises(UserError, match="nothing0: "):
        SoftwareSwitch(PROGRAM, {1: "nothing0"})


@pytest.fixture(scope="module")
def outcome() -> dict[str, Any]:
    """What the switch did with frames between interfaces of a namespace made for it."""
    return run_apart("tests.p4.console.on_wires")


@pytest.mark.root
def test_forwarding__between_interfaces(outcome: dict[str, Any]) -> None:
    assert outcome["forwarded"] == [(bytes(4) + bytes([0, 1, 0, 2, 0, 0, 0, 17])).hex()]
    assert outcome["shown"].startswith(
        "1: in1 received 1 sent 0 dropped 0 overruns 0 waiting 0 depth 64 rate -\n2: in2 received 0"
    )


@pytest.mark.root
def test_forwarding__frames_of_all_lengths_and_tagged_ones_are_whole(
    outcome: dict[str, Any],
) -> None:
    """Longer ones than a slot of the ring come another way, a VLAN tag beside its frame."""
    assert outcome["whole"] == [True] * len(outcome["whole"])
    assert outcome["tagged"]


@pytest.mark.root
def test_flood__is_lost_where_it_enters_and_no_other_port_loses(outcome: dict[str, Any]) -> None:
    flooded, quiet = outcome["flood"]
    assert flooded["received"] == SLOTS
    assert flooded["overruns"] == FLOOD - SLOTS
    assert (quiet["received"], quiet["overruns"]) == (FEW, 0)


@pytest.mark.root
def test_limits__a_rate_a_depth_and_a_port_that_goes(outcome: dict[str, Any]) -> None:
    counts = outcome["limited"]
    assert (counts["sent"], counts["waiting"]) == (1, DEPTH)
    assert counts["dropped"] == SENT_TO_LIMIT - DEPTH - 1
    assert outcome["removed"] == "there is no port 2"


def test_queue_limits__must_not_be_negative() -> None:
    switch = SoftwareSwitch(PROGRAM, {})
    for command in (switch.set_queue_rate, switch.set_queue_depth):
        with pytest.raises(ConsoleError, match="`-1` must not be negative"):
            command("-1")
