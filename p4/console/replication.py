"""The prompt's commands for multicast groups and mirroring sessions, in BMv2's terms.

BMv2 builds a group from nodes: a node has a replication id and ports, and is associated with
groups. The engine knows only the copies of a group, which this keeps up to date.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from p4.engine import Switch


@dataclass(slots=True)
class _Node:
    instance: int
    ports: list[int]
    groups: list[int] = field(default_factory=list)


class Replication:
    """Multicast groups, nodes and mirroring sessions of a switch."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._groups: dict[int, list[int]] = {}
        self._nodes: dict[int, _Node] = {}
        self._sessions: dict[int, str] = {}
        self._next = 0

    def _refresh(self, group: int) -> None:
        copies = []
        for handle in self._groups[group]:
            node = self._nodes[handle]
            copies += [(port, node.instance) for port in sorted(set(node.ports))]
        self._switch.group_set(group, copies)

    def _node(self, handle: str) -> _Node:
        number = parse_number(handle)
        if number not in self._nodes:
            raise ConsoleError(f"there is no multicast node {handle}")
        return self._nodes[number]

    def _group(self, group: str) -> int:
        number = parse_number(group)
        if number not in self._groups:
            raise ConsoleError(f"there is no multicast group {group}")
        return number

    def do_mc_mgrp_create(self, group: str) -> str:
        """Usage: mc_mgrp_create GROUP."""
        number = parse_number(group)
        if number in self._groups:
            raise ConsoleError(f"multicast group {group} exists")
        self._groups[number] = []
        self._refresh(number)
        return ""

    def do_mc_mgrp_destroy(self, group: str) -> str:
        """Usage: mc_mgrp_destroy GROUP."""
        number = self._group(group)
        for handle in self._groups.pop(number):
            self._nodes[handle].groups.remove(number)
        self._switch.group_delete(number)
        return ""

    def do_mc_node_create(self, instance: str, *ports: str) -> str:
        """Usage: mc_node_create REPLICATION_ID PORT ...."""
        handle, self._next = self._next, self._next + 1
        self._nodes[handle] = _Node(parse_number(instance), [parse_number(p) for p in ports])
        return f"node was created with handle {handle}"

    def do_mc_node_update(self, handle: str, *ports: str) -> str:
        """Usage: mc_node_update NODE PORT ...."""
        node = self._node(handle)
        node.ports = [parse_number(port) for port in ports]
        for group in node.groups:
            self._refresh(group)
        return ""

    def do_mc_node_associate(self, group: str, handle: str) -> str:
        """Usage: mc_node_associate GROUP NODE."""
        number, node = self._group(group), self._node(handle)
        self._groups[number].append(parse_number(handle))
        node.groups.append(number)
        self._refresh(number)
        return ""

    def do_mc_node_dissociate(self, group: str, handle: str) -> str:
        """Usage: mc_node_dissociate GROUP NODE."""
        number, node = self._group(group), self._node(handle)
        if number not in node.groups:
            raise ConsoleError(f"node {handle} is not in group {group}")
        self._groups[number].remove(parse_number(handle))
        node.groups.remove(number)
        self._refresh(number)
        return ""

    def do_mc_node_destroy(self, handle: str) -> str:
        """Usage: mc_node_destroy NODE."""
        for group in list(self._node(handle).groups):
            self.do_mc_node_dissociate(str(group), handle)
        del self._nodes[parse_number(handle)]
        return ""

    def do_mc_dump(self) -> str:
        """Usage: mc_dump."""
        lines = []
        for group, handles in sorted(self._groups.items()):
            lines.append(f"group {group}:")
            for handle in handles:
                node = self._nodes[handle]
                ports = " ".join(map(str, node.ports))
                lines.append(f"  node {handle}: replication id {node.instance}, ports {ports}")
        return "\n".join(lines) or "no groups"

    def do_mirroring_add(self, session: str, port: str) -> str:
        """Usage: mirroring_add SESSION PORT."""
        self._switch.mirror_set(parse_number(session), port=parse_number(port))
        self._sessions[parse_number(session)] = f"port {port}"
        return ""

    def do_mirroring_add_mc(self, session: str, group: str) -> str:
        """Usage: mirroring_add_mc SESSION GROUP."""
        self._switch.mirror_set(parse_number(session), group=parse_number(group))
        self._sessions[parse_number(session)] = f"multicast group {group}"
        return ""

    def do_mirroring_delete(self, session: str) -> str:
        """Usage: mirroring_delete SESSION."""
        self._switch.mirror_delete(parse_number(session))
        self._sessions.pop(parse_number(session), None)
        return ""

    def do_mirroring_get(self, session: str) -> str:
        """Usage: mirroring_get SESSION."""
        where = self._sessions.get(parse_number(session))
        if where is None:
            raise ConsoleError(f"there is no mirroring session {session}")
        return f"session {session}: {where}"
