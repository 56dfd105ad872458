"""The software switch on interfaces: its ports and, with root, frames between them."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from p4.commands.run import make_console, parse_ports, run_file
from p4.console.commands import ConsoleError
from p4.console.interfaces import InterfaceError, SoftwareSwitch
from p4.engine import Program

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
    with pytest.raises(InterfaceError, match="nothing0: "):
        SoftwareSwitch(PROGRAM, {1: "nothing0"})


@pytest.fixture
def wires() -> Iterator[tuple[str, str]]:
    names = [("ofanrun0", "ofanrun1"), ("ofanrun2", "ofanrun3")]
    if shutil.which("ip") is None:
        pytest.skip("needs ip")
    try:
        for one, other in names:
            subprocess.run(
                ["ip", "link", "add", one, "type", "veth", "peer", "name", other],
                check=True,
                capture_output=True,
            )
            for name in (one, other):
                subprocess.run(["ip", "link", "set", name, "up"], check=True)
        yield "ofanrun0", "ofanrun2"
    except (subprocess.CalledProcessError, PermissionError):
        pytest.skip("needs root and veth interfaces")
    finally:
        for one, _ in names:
            subprocess.run(["ip", "link", "del", one], check=False, capture_output=True)


@pytest.mark.root
def test_forwarding__between_interfaces(wires: tuple[str, str]) -> None:
    switch = SoftwareSwitch(PROGRAM, {1: wires[0], 2: wires[1]})
    ends = []
    for name in ("ofanrun1", "ofanrun3"):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        end.bind((name, 0))
        end.settimeout(2)
        ends.append(end)
    switch.start()
    try:
        ends[0].send(bytes(4) + b"over the wire")
        deadline = time.monotonic() + 5
        frame = b""
        while b"over the wire" not in frame and time.monotonic() < deadline:
            frame = ends[1].recv(2000)
    finally:
        switch.stop()
        for end in ends:
            end.close()
    assert frame[:16] == bytes([0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 17]) + b"over"
    assert "received" in switch.show_ports()


def test_queue_limits__must_not_be_negative() -> None:
    switch = SoftwareSwitch(PROGRAM, {})
    for command in (switch.set_queue_rate, switch.set_queue_depth):
        with pytest.raises(ConsoleError, match="`-1` must not be negative"):
            command("-1")
