"""`python -m testbed` as its user types it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from testbed import __main__ as command_line
from testbed.mininet.attach import by_number

if TYPE_CHECKING:
    from collections.abc import Sequence


@pytest.mark.parametrize(
    ("typed", "node", "command"),
    [
        (["--node", "h0", "ip", "-br", "addr"], "h0", ["ip", "-br", "addr"]),
        (["--node", "h0", "--", "ip", "-br", "addr"], "h0", ["ip", "-br", "addr"]),
        (["--", "tcpdump", "-i", "e0_0-eth3"], None, ["tcpdump", "-i", "e0_0-eth3"]),
        (["tcpdump", "--help"], None, ["tcpdump", "--help"]),
        (["--fabric", "7"], None, []),
    ],
)
def test_attach__leaves_the_commands_own_options_to_it(
    typed: list[str], node: str | None, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def remembered(_fabric: int, node: str | None, command: Sequence[str]) -> list[str]:
        asked.append((node, list(command)))
        return ["true"]

    monkeypatch.setattr(command_line, "find_fabric", lambda _: 1)
    monkeypatch.setattr(command_line, "command_line", remembered)
    monkeypatch.setattr(command_line, "described", lambda *_: "here")
    monkeypatch.setattr(subprocess, "call", lambda _: 0)
    assert command_line.main(["attach", *typed]) == 0
    assert asked == [(node, command)]


def test_by_number__counts_as_a_person_does() -> None:
    wanted = ["a0_1", "a0_10", "a1_0", "c3", "h0", "h2", "h10", "h11"]
    assert by_number(sorted(wanted)) == wanted
