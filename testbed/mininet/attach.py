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
    inside = _process_namespace(fabric)
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_text(encoding="utf-8", errors="replace").split("\0")
            marks = [word for word in words if word.startswith(NODE_MARK)]
            if marks and _process_namespace(int(entry.name)) == inside:
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

    Raises UserError for a node that the fabric does not have.
    """
    target = fabric
    if node is not None:
        there = nodes(fabric)
        if node not in there:
            raise UserError(f"node {node} is not in fabric {fabric}: {_listed(by_number(there))}")
        target = there[node]
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    enter = ["nsenter", *user, f"--target={target}", "--net", "--mount", "--pid"]
    return [*enter, "--", *(command or SHELL)]


def _process_namespace(process: int) -> Path:
    return Path(f"/proc/{process}/ns/pid").readlink()


def _listed(names: Sequence[object]) -> str:
    return ", ".join(map(str, names))
