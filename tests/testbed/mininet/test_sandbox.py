from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from errors import UserError
from testbed.mininet import attach, sandbox
from tests.testbed.mininet.conftest import run_inside, start_inside, wait_until

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.mininet


def said_ready(process: subprocess.Popen[str]) -> int:
    """Wait for the work to have started; return the outer id of its first process."""
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return int(children.split()[0])


SLEEPER = """
os.system("sleep 1000 & ip link add left type veth peer name right")
print("ready", flush=True)
time.sleep(1000)
"""


def test_run_inside__has_processes_and_interfaces_of_its_own() -> None:
    seen = run_inside("""
        os.system("ip link add left type veth peer name right")
        print(json.dumps([os.getpid(), sorted(os.listdir("/sys/class/net")),
                          [p for p in os.listdir("/proc") if p.isdigit()]]))
    """)
    assert seen == [1, ["left", "lo", "right"], ["1"]]
    assert not Path("/sys/class/net/left").exists()


def test_run_inside__returns_the_exit_code() -> None:
    process = start_inside("sys.exit(7)")
    process.communicate(timeout=30)
    assert process.returncode == 7


@pytest.mark.parametrize("victim", ["keeper", "first process"])
def test_run_inside__killed__leaves_nothing(victim: str) -> None:
    with start_inside(SLEEPER) as process:
        first = said_ready(process)
        members = processes_in_namespace_of(first)
        assert len(members) >= 2
        os.kill(process.pid if victim == "keeper" else first, signal.SIGKILL)
        process.wait(10)
        wait_until(lambda: not any(Path(f"/proc/{member}").exists() for member in members))
    assert first not in sandbox.running()


def processes_in_namespace_of(first: int) -> list[int]:
    inside = Path(f"/proc/{first}/ns/pid").readlink()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "ns/pid").readlink() == inside:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_run_inside__signal__lets_the_work_clean_up(number: signal.Signals, code: int) -> None:
    with start_inside("""
        try:
            print("ready", flush=True)
            while True:
                time.sleep(0.05)
        finally:
            print("cleaned", flush=True)
    """) as process:
        try:
            said_ready(process)
            process.send_signal(number)
            out, _ = process.communicate(timeout=10)
            assert out == "cleaned\n"
            assert process.returncode == code
        finally:
            process.kill()


def test_running__finds_two_sandboxes_at_once() -> None:
    with start_inside(SLEEPER) as one, start_inside(SLEEPER) as other:
        try:
            firsts = {said_ready(one), said_ready(other)}
            assert firsts <= set(sandbox.running())
            assert attach.find_fabric(min(firsts)) == min(firsts)
        finally:
            one.kill()
            other.kill()


def test_find_fabric__unknown__names_those_there_are() -> None:
    with start_inside(SLEEPER) as process:
        try:
            first = said_ready(process)
            with pytest.raises(UserError, match=rf"fabric 1 is not running.*{first}"):
                attach.find_fabric(1)
        finally:
            process.kill()
