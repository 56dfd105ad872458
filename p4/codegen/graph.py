"""The order of a control: which node follows, and where branches meet again.

A program that applies a table in several places may come back to a node. Such a control has no
meeting places: it is written as jumps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.read_control import successors

if TYPE_CHECKING:
    from p4.codegen import program as p4

Target = str | None
NOWHERE = ""  # the meeting place of branches in a control with loops


class Graph:
    """The nodes of a control that its first one reaches; None is its end."""

    def __init__(self, control: p4.Control) -> None:
        self._nodes = {node.name: node for node in control.nodes}
        self.repeated: set[str] = set()
        self.order = self._sort(control)
        self.entries: dict[Target, set[str]] = {}
        for name in self.order:
            for target in self.next(name):
                self.entries.setdefault(target, set()).add(name)
        self._meeting: dict[str, Target] = {}
        self._depth: dict[Target, int] = {None: 0}
        if self.repeated:
            self._meeting = dict.fromkeys(self.order, NOWHERE)
            return
        for name in reversed(self.order):
            self._find_meeting(name)

    def node(self, name: str) -> p4.Node:
        """Return the node called `name`."""
        return self._nodes[name]

    def next(self, name: str) -> list[Target]:
        """Return the nodes that may follow."""
        return successors(self._nodes[name])

    def meeting(self, name: str) -> Target:
        """Return the first node that every way from `name` passes."""
        return self._meeting[name]

    def _sort(self, control: p4.Control) -> list[str]:
        """Return the nodes, each before those that follow; note those that are come back to."""
        order: list[str] = []
        open_nodes: set[str] = set()
        done: set[str] = set()
        stack = [(control.start, False)] if control.start is not None else []
        while stack:
            name, finished = stack.pop()
            if finished:
                open_nodes.remove(name)
                done.add(name)
                order.append(name)
                continue
            if name in open_nodes:
                self.repeated.add(name)
            if name in open_nodes or name in done:
                continue
            open_nodes.add(name)
            stack.append((name, True))
            stack += [(target, False) for target in self.next(name) if target is not None]
        return order[::-1]

    def _find_meeting(self, name: str) -> None:
        targets = self.next(name)
        meeting = targets[0]
        for target in targets[1:]:
            meeting = self._common(meeting, target)
        self._meeting[name] = meeting
        self._depth[name] = self._depth[meeting] + 1

    def _common(self, one: Target, other: Target) -> Target:
        while one != other:
            if one is not None and self._depth[one] >= self._depth[other]:
                one = self._meeting[one]
            elif other is not None:
                other = self._meeting[other]
        return one
