"""The prompt's words, without a network."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from errors import TERMINATED, terminate

if TYPE_CHECKING:
    from testbed.mininet.shell import Shell

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mininet") is None, reason="Mininet is not installed"
)


class Net(dict[str, Any]):
    """As much of a network as the prompt looks at."""

    switches: tuple[Any, ...] = ()
    hosts: tuple[Any, ...] = ()


def shell() -> Shell:
    from testbed.mininet.shell import Shell  # noqa: PLC0415 - imports Mininet

    return Shell(Net(h0=None, h1=None, h10=None, e0_0=None))


def test_completion__names_commands_and_nodes_and_a_space_follows() -> None:
    asked = shell()
    assert asked.completenames("h1", "h1", 0, 2) == ["h1 ", "h10 "]
    assert asked.completenames("ping", "ping", 0, 4)[0] == "pingall "
    assert asked.completedefault("e", "h0 ping e", 8, 9) == ["e0_0 "]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("h99 ls", "there is no node h99"),
        ("e9_9", "there is no node e9_9"),
        ("pingal", "did you mean pingall?"),
        ("zzz", "`help` lists them"),
        ("source", "source: .: Is a directory"),
        ("pingpair", "pingpair: "),
        ("links", "links: "),
        ("h0 ls", "h0: "),
        ("link h0 h1 down", "link: "),
    ],
)
def test_failure__of_any_command_is_a_line_and_the_next_one_is_carried_out(
    command: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = shell()
    assert asked.talk([command, "wait"]) == 1
    said = capsys.readouterr()
    assert told in said.err
    assert len(said.err.splitlines()) == 1
    assert "the switches run" in said.out


def test_script__ends_at_exit_and_at_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert shell().talk(["# nothing", "", "exit", "zzz"]) == 0
    assert shell().talk(["wait # for whom?"]) == 0
    assert capsys.readouterr().err == ""


def test_sigterm__while_a_user_types__leaves_where_ctrl_c_only_ends_a_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, signals = shell(), [signal.SIGINT, signal.SIGTERM]

    def command_loop() -> None:
        if signals:
            os.kill(os.getpid(), signals.pop(0))
            time.sleep(5)  # another thread may take it: its handler runs in this one, soon

    monkeypatch.setattr(asked, "mn", Net())
    monkeypatch.setattr(asked, "_typed", True)
    monkeypatch.setattr(asked, "initReadline", lambda: None)
    monkeypatch.setattr(asked, "cmdloop", command_loop)
    before = signal.signal(signal.SIGTERM, terminate)
    ignored = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells' jobs ignore it
    try:
        with pytest.raises(SystemExit) as left:
            asked.talk()
        assert signal.getsignal(signal.SIGTERM) is terminate
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGINT, ignored)
    assert left.value.code == TERMINATED
    assert not signals
