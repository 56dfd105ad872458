"""The prompt's commands for multicast groups and mirroring sessions, in BMv2's terms.

BMv2 builds a group from nodes: a node has a replication id, ports and link aggregations (LAGs),
and is associated with one group at most. The engine knows only the copies of a group, which this
keeps up to date: the switch is told first, so that what it refuses is not remembered.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from p4.console.values import ConsoleError, parse_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4.engine import Switch

PORTS = 511  # ports have 9 bits, and the last number means drop
NUMBERS = 1 << 16  # of groups, and replication ids
SESSIONS = 1 << 15
LAGS = 257
LAG_HASH = 0xFF  # BMv2 chooses a LAG's port by this number, whatever the frame
LAG_MARK = "|"


@dataclass(frozen=True, slots=True)
class _Node:
    instance: int
    ports: tuple[int, ...]
    lags: tuple[int, ...]
    group: int | None = None


@dataclass(frozen=True, slots=True)
class _State:
    """What there is; a command makes a new one, which counts once the switch has taken it."""

    groups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # nodes, in their order
    nodes: Mapping[int, _Node] = field(default_factory=dict)
    lags: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def copies(self, group: int) -> list[tuple[int, int]]:
        """Return a group's copies as the engine takes them: ports and replication ids."""
        return [
            (port, self.nodes[handle].instance)
            for handle in self.groups[group]
            for port in self._ports(self.nodes[handle])
        ]

    def _ports(self, node: _Node) -> list[int]:
        members = [self.lags[lag] for lag in node.lags if self.lags.get(lag)]
        return [*node.ports, *(ports[LAG_HASH % len(ports)] for ports in members)]


class Replication:
    """Multicast groups, nodes, LAGs and mirroring sessions of a switch."""

    def __init__(self, switch: Switch) -> None:
        self._switch = switch
        self._state = _State()
        self._sessions: dict[int, str] = {}
        self._next = 0

    def forget(self) -> None:
        """Take note that the switch has no groups and sessions."""
        self._state = _State()
        self._sessions.clear()

    def _become(self, state: _State) -> None:
        """Tell the switch which groups differ in a new state, and remember it."""
        old = self._state
        for group in state.groups:
            copies = state.copies(group)
            if group not in old.groups or old.copies(group) != copies:
                self._switch.group_set(group, copies)
        for group in old.groups.keys() - state.groups.keys():
            self._switch.group_delete(group)
        self._state = state

    def _change_node(self, handle: int, node: _Node) -> None:
        """Give a node other contents, in all its groups."""
        self._become(replace(self._state, nodes={**self._state.nodes, handle: node}))

    def _node(self, handle: str) -> tuple[int, _Node]:
        number = parse_number(handle)
        node = self._state.nodes.get(number)
        if node is None:
            raise ConsoleError(f"there is no multicast node {handle}")
        return number, node

    def _group(self, group: str) -> int:
        number = parse_number(group)
        if number not in self._state.groups:
            raise ConsoleError(f"there is no multicast group {group}")
        return number

    # Groups and nodes -----------------------------------------------------------------------

    def do_mc_mgrp_create(self, group: str) -> str:
        """Usage: mc_mgrp_create GROUP."""
        number = _within(group, NUMBERS, "multicast group")
        if number in self._state.groups:
            raise ConsoleError(f"multicast group {group} exists")
        self._become(replace(self._state, groups={**self._state.groups, number: ()}))
        return ""

    def do_mc_mgrp_destroy(self, group: str) -> str:
        """Usage: mc_mgrp_destroy GROUP."""
        number = self._group(group)
        groups = {g: nodes for g, nodes in self._state.groups.items() if g != number}
        nodes = {
            handle: replace(node, group=None) if node.group == number else node
            for handle, node in self._state.nodes.items()
        }
        self._become(replace(self._state, groups=groups, nodes=nodes))
        return ""

    def do_mc_node_create(self, instance: str, *ports: str) -> str:
        """Usage: mc_node_create REPLICATION_ID PORT ... [| LAG ...]."""
        number = _within(instance, NUMBERS, "replication id")
        node = _Node(number, *_ports_and_lags(ports))
        handle = self._next
        self._change_node(handle, node)
        self._next += 1
        return f"node was created with handle {handle}"

    def do_mc_node_update(self, handle: str, *ports: str) -> str:
        """Usage: mc_node_update NODE PORT ... [| LAG ...]."""
        number, node = self._node(handle)
        chosen, lags = _ports_and_lags(ports)
        self._change_node(number, replace(node, ports=chosen, lags=lags))
        return ""

    def do_mc_node_associate(self, group: str, handle: str) -> str:
        """Usage: mc_node_associate GROUP NODE."""
        number, (key, node) = self._group(group), self._node(handle)
        if node.group is not None:
            raise ConsoleError(f"node {handle} is in group {node.group} already")
        groups = {**self._state.groups, number: (*self._state.groups[number], key)}
        nodes = {**self._state.nodes, key: replace(node, group=number)}
        self._become(replace(self._state, groups=groups, nodes=nodes))
        return ""

    def do_mc_node_dissociate(self, group: str, handle: str) -> str:
        """Usage: mc_node_dissociate GROUP NODE."""
        number, (key, node) = self._group(group), self._node(handle)
        if node.group != number:
            raise ConsoleError(f"node {handle} is not in group {group}")
        self._become(self._without(key, node))
        return ""

    def _without(self, handle: int, node: _Node) -> _State:
        """Return the state in which a node is in no group."""
        groups = dict(self._state.groups)
        if node.group is not None:
            groups[node.group] = tuple(h for h in groups[node.group] if h != handle)
        nodes = {**self._state.nodes, handle: replace(node, group=None)}
        return replace(self._state, groups=groups, nodes=nodes)

    def do_mc_node_destroy(self, handle: str) -> str:
        """Usage: mc_node_destroy NODE."""
        key, node = self._node(handle)
        state = self._without(key, node)
        self._become(replace(state, nodes={h: n for h, n in state.nodes.items() if h != key}))
        return ""

    def do_mc_set_lag_membership(self, lag: str, *ports: str) -> str:
        """Usage: mc_set_lag_membership LAG PORT ...."""
        number = _within(lag, LAGS, "LAG")
        members = _different(ports, PORTS, "port")
        self._become(replace(self._state, lags={**self._state.lags, number: members}))
        return ""

    def do_mc_dump(self) -> str:
        """Usage: mc_dump."""
        lines = []
        for group, handles in sorted(self._state.groups.items()):
            lines.append(f"group {group}:")
            for handle in handles:
                node = self._state.nodes[handle]
                ports = " ".join(map(str, node.ports))
                lags = " ".join([", LAGs", *map(str, node.lags)]) if node.lags else ""
                lines.append(
                    f"  node {handle}: replication id {node.instance}, ports {ports}{lags}"
                )
        for lag, members in sorted(self._state.lags.items()):
            lines.append(" ".join([f"LAG {lag}: ports", *map(str, members)]))
        return "\n".join(lines) or "no groups"

    # Mirroring sessions ---------------------------------------------------------------------

    def do_mirroring_add(self, session: str, port: str) -> str:
        """Usage: mirroring_add SESSION PORT."""
        number, chosen = _within(session, SESSIONS, "session"), _within(port, PORTS, "port")
        self._switch.mirror_set(number, port=chosen)
        self._sessions[number] = f"port {chosen}"
        return ""

    def do_mirroring_add_mc(self, session: str, group: str) -> str:
        """Usage: mirroring_add_mc SESSION GROUP."""
        number = _within(session, SESSIONS, "session")
        chosen = _within(group, NUMBERS, "multicast group")
        self._switch.mirror_set(number, group=chosen)
        self._sessions[number] = f"multicast group {chosen}"
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


def _within(text: str, limit: int, what: str) -> int:
    number = parse_number(text)
    if not 0 <= number < limit:
        raise ConsoleError(f"{what} {text} is not within 0 to {limit - 1}")
    return number


def _different(words: tuple[str, ...], limit: int, what: str) -> tuple[int, ...]:
    """Return numbers in ascending order, each of which may be given once."""
    numbers = sorted(_within(word, limit, what) for word in words)
    for one, other in pairwise(numbers):
        if one == other:
            raise ConsoleError(f"{what} {one} is given twice")
    return tuple(numbers)


def _ports_and_lags(words: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    place = words.index(LAG_MARK) if LAG_MARK in words else len(words)
    ports, lags = words[:place], words[place + 1 :]
    return _different(ports, PORTS, "port"), _different(lags, LAGS, "LAG")
