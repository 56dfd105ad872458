"""The order of a control: which node follows, and where branches meet again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen.document import ProgramError
from p4.codegen.read_control import successors

if TYPE_CHECKING:
    from p4.codegen import program as p4

Target = str | None


class Graph:
    """The nodes of a control that its first one reaches; None is its end."""

    def __init__(self, control: p4.Control) -> None:
        self._nodes = {node.name: node for node in control.nodes}
        self.order = self._sort(control)
        self.entries: dict[Target, set[str]] = {}
        for name in self.order:
            for target in self.next(name):
                self.entries.setdefault(target, set()).add(name)
        self._meeting: dict[str, Target] = {}
        self._depth: dict[Target, int] = {None: 0}
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
        order: list[str] = []
        state: dict[str, int] = {}
        stack: list[tuple[str, bool]] = []
        if control.start is not None:
            stack.append((control.start, False))
        while stack:
            name, finished = stack.pop()
            if finished:
                state[name] = 2
                order.append(name)
                continue
            if state.get(name) == 2:
                continue
            if state.get(name) == 1:
                raise ProgramError(f"control {control.name}: `{name}` is reached from itself")
            state[name] = 1
            stack.append((name, True))
            for target in self.next(name):
                if target is not None and state.get(target) != 2:
                    if state.get(target) == 1:
                        raise ProgramError(
                            f"control {control.name}: `{target}` is reached from itself"
                        )
                    stack.append((target, False))
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
