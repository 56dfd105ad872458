"""Entering a running fabric from another terminal: a shell, or tcpdump, inside its namespaces."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from errors import UserError
from testbed.mininet import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHELL = ("bash", "--norc")
STAY = 'cd "$1" && shift && exec "$@"'  # entering a mount namespace leads to its root
NODE_MARK = "mininet:"


def find_fabric(process: int | None = None) -> int:
    """Return the process id of a running fabric: the given one, or the only or the newest one.

    Raises UserError if there is none, or none with that id.
    """
    fabrics = sandbox.running()
    if not fabrics:
        raise UserError("no fabric is running; start one with experiments/run.py --cli")
    if process is None:
        return fabrics[-1]
    if process not in fabrics:
        raise UserError(f"fabric {process} is not running; there are {_listed(fabrics)}")
    return process


def nodes(fabric: int) -> dict[str, int]:
    """Return the names of a fabric's nodes with the ids of the processes that hold them."""
    inside = _namespace(fabric, "pid")
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
            marks = [word for word in words if word.startswith(NODE_MARK)]
            if marks and _namespace(int(entry.name), "pid") == inside:
                found[marks[0].removeprefix(NODE_MARK)] = int(entry.name)
        except OSError:
            continue
    return found


def by_number(names: Iterable[str]) -> list[str]:
    """Sort names of nodes as a person counts them: h2 before h10."""
    return sorted(
        names, key=lambda name: [(len(part), part) for part in re.findall(r"\d+|\D+", name)]
    )


def command_line(fabric: int, node: str | None, command: Sequence[str]) -> list[str]:
    """Return the command that runs `command`, or a shell, in a fabric or in one of its nodes.

    It runs in the folder that this process is in. Raises UserError for a node that the fabric does
    not have.
    """
    target = _process_of(fabric, node)
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    enter = ["nsenter", *user, f"--target={target}", "--net", "--mount", "--pid"]
    return [*enter, "--", "sh", "-c", STAY, "sh", str(Path.cwd()), *(command or SHELL)]


def described(fabric: int, node: str | None) -> str:
    """Say in a line what one enters; raises UserError for a node that the fabric does not have."""
    process = _process_of(fabric, node)
    if node is not None and _namespace(process, "net") != _namespace(fabric, "net"):
        return f"{node} of fabric {fabric}: its interface is {node}-eth0"
    if node is None:
        return f"the side of fabric {fabric} where all ports of its switches are"
    return (
        f"{node} is a switch: this is the side of fabric {fabric} where all ports of all switches "
        f"are, {node}-eth1 and so on among them"
    )


def _process_of(fabric: int, node: str | None) -> int:
    if node is None:
        return fabric
    there = nodes(fabric)
    if node not in there:
        raise UserError(f"node {node} is not in fabric {fabric}: {_listed(by_number(there))}")
    return there[node]


def _namespace(process: int, kind: str) -> Path:
    return Path(f"/proc/{process}/ns/{kind}").readlink()


def _listed(names: Sequence[object]) -> str:
    return ", ".join(map(str, names))
