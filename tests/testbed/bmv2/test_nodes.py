from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from testbed.bmv2.process import Launch, command_line

pytestmark = [
    pytest.mark.bmv2,
    pytest.mark.mininet,
    pytest.mark.root,
    pytest.mark.skipif(
        shutil.which("simple_switch") is None, reason="simple_switch is not on the path"
    ),
    pytest.mark.skipif(
        importlib.util.find_spec("p4utils") is None, reason="p4-utils is not installed"
    ),
    pytest.mark.skipif(os.geteuid() != 0, reason="Mininet needs root"),
]


def test_node__of_p4_utils_starts_with_the_same_ports_and_numbers(tmp_path: Path) -> None:
    from testbed.bmv2.nodes import switch_class  # noqa: PLC0415 - imports Mininet

    program = tmp_path / "program.json"
    program.write_text("{}", encoding="utf-8")
    launch = Launch(program, {1: "e0_0-eth1", 3: "e0_0-eth3"}, False, 2, 77, 12_345)
    node = switch_class()("e0_0", dpid="1")
    try:
        for port in (1, 2, 3):  # the link of port 2 is down
            node.intfs[port] = SimpleNamespace(name=f"e0_0-eth{port}", IP=lambda: None)
        words = node.command_line(launch)
        assert set(node.intfs) >= {1, 2, 3}
    finally:
        node.terminate()
    plain = [word.replace("--interface", "-i") for word in command_line(launch)]
    assert Path(plain[0]).name == words[0]
    assert sorted(plain[1:]) == sorted(words[1:])
