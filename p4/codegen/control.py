"""Controls to C: the graph of tables and conditionals as nested statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.action import used_parameters
from p4.codegen.graph import NOWHERE, Graph, Target
from p4.codegen.layout import whole_bytes
from p4.codegen.read_control import covers_all
from p4.codegen.table import TableGenerator, direct_action

if TYPE_CHECKING:
    from p4.codegen.context import Context

Branches = dict[Target, list[str]]


class ControlGenerator:
    """Writes the function of a control, and one for each part that several ways lead to."""

    def __init__(self, context: Context, control: p4.Control) -> None:
        self._context = context
        self._writer = context.writer
        self._control = control
        self._graph = Graph(control)
        self._parts: dict[tuple[str, Target], str] = {}
        self._actions = {a.index: a for a in context.program.actions}

    def write(self, first_table: int) -> None:
        """Write the control's tables, numbered from `first_table`, its parts and itself."""
        tables = [node for node in self._control.nodes if isinstance(node, p4.Table)]
        generator = TableGenerator(self._context)
        for number, table in enumerate(tables, first_table):
            if direct_action(table) is None and table.name in self._graph.order:
                generator.write(number, table, result=self._branches_on(table))
        self._find_parts()
        for (name, stop), function in self._parts_in_order():
            with self._writer.function(f"static inline void {function}(struct packet *packet)"):
                self._write_region(name, stop)
        self._context.head(self._control.position, f"control {self._control.name}")
        name = self._context.functions.of(("control", self._control.name), self._control.name)
        with self._writer.function(f"static inline void {name}(struct packet *packet)"):
            if self._graph.repeated:
                self._write_jumps()
            else:
                self._write_region(self._control.start, None)

    # Controls with loops ------------------------------------------------------------------

    def _label(self, name: str) -> str:
        return self._context.functions.of(("node", self._control.name, name), f"at_{name}")

    def _write_jumps(self) -> None:
        """Write every node at a label, going on with a jump."""
        self._writer.line("uint32_t rounds = 0;")
        for name in self._graph.order:
            node = self._graph.node(name)
            if name in self._graph.entries:
                self._writer.label(self._label(name))
            if name in self._graph.repeated:
                with self._writer.block("if (pl_repeats(&packet->base, &rounds))"):
                    self._writer.line("return;")
            self._write_node(node)
            targets = set(self._graph.next(name))
            direct = isinstance(node, p4.Table) and direct_action(node) is not None
            if len(targets) == 1 and not direct:
                self._write_branch(targets.pop(), NOWHERE)

    # Shared parts -------------------------------------------------------------------------

    def _find_parts(self) -> None:
        """Find the nodes that several branches lead to before these meet again."""
        if self._graph.repeated:
            return
        shared = {name for name, before in self._graph.entries.items() if len(before) > 1}
        seen: set[tuple[Target, Target]] = set()
        pending: list[tuple[Target, Target]] = [(self._control.start, None)]
        while pending:
            start, stop = pending.pop()
            if (start, stop) in seen:
                continue
            seen.add((start, stop))
            name = start
            while name is not None and name != stop:
                meeting = self._graph.meeting(name)
                for target in dict.fromkeys(self._graph.next(name)):
                    if target is not None and target != meeting:
                        pending.append((target, meeting))
                        if target in shared:
                            self._part_name(target, meeting)
                name = meeting

    def _part_name(self, name: str, stop: Target) -> str:
        key = (name, stop)
        if key not in self._parts:
            title = f"{self._control.name}_from_{name}"
            self._parts[key] = self._context.functions.of(("part", *key), title)
        return self._parts[key]

    def _parts_in_order(self) -> list[tuple[tuple[str, Target], str]]:
        place = {name: number for number, name in enumerate(self._graph.order)}
        return sorted(self._parts.items(), key=lambda item: (-place[item[0][0]], str(item[0][1])))

    # Statements ---------------------------------------------------------------------------

    def _write_region(self, name: Target, stop: Target) -> None:
        while name is not None and name != stop:
            self._write_node(self._graph.node(name))
            name = self._graph.meeting(name)

    def _write_branch(self, target: Target, stop: Target) -> None:
        if self._graph.repeated:
            self._writer.line("return;" if target is None else f"goto {self._label(target)};")
            return
        if target is None or target == stop:
            return
        if (target, stop) in self._parts:
            self._writer.line(f"{self._parts[target, stop]}(packet);")
            self._write_exit_test(any(self._may_exit(n) for n in self._graph.order))
            return
        self._write_region(target, stop)

    def _write_node(self, node: p4.Node) -> None:
        match node:
            case p4.Conditional():
                self._write_conditional(node)
            case p4.ActionCall():
                self._writer.line(f"{self._context.action_name(node.action)}(packet);")
                self._write_exit_test(self._may_exit(node.name))
            case p4.Table():
                self._write_table(node)

    def _write_exit_test(self, needed: bool) -> None:  # noqa: FBT001
        if needed:
            with self._writer.block("if (pl_left(&packet->base))"):
                self._writer.line("return;")

    def _write_conditional(self, node: p4.Conditional) -> None:
        condition = self._context.expressions.condition(node.expression)
        stop = self._graph.meeting(node.name)
        yes, no = node.true_next, node.false_next
        if yes == no:
            return
        if yes == stop:
            with self._writer.block(f"if (!{condition.inside()})"):
                self._write_branch(no, stop)
            return
        with self._writer.block(f"if ({condition.text})"):
            self._write_branch(yes, stop)
            if no != stop:
                self._writer.reopen("else")
                self._write_branch(no, stop)

    def _write_table(self, table: p4.Table) -> None:
        action = direct_action(table)
        branches = self._branches(table)
        if action is not None:
            self._write_direct(table, action)
        elif len(branches) > 1:
            name = self._context.table_name(table.name)
            with self._writer.block(""):
                self._writer.line(f"const struct pl_found found = {name}(packet);")
                self._write_exit_test(self._may_exit(table.name))
                self._write_switch(table, branches)
            return
        else:
            self._writer.line(f"{self._context.table_name(table.name)}(packet);")
        self._write_exit_test(self._may_exit(table.name))
        if action is not None:
            target = self._default_target(table)
            self._write_branch(target, self._graph.meeting(table.name))

    def _write_direct(self, table: p4.Table, index: int) -> None:
        action = self._actions[index]
        if not action.statements:
            return
        name = self._context.action_name(index)
        if not used_parameters(action):
            self._writer.line(f"{name}(packet);")
            return
        words = ", ".join(argument_words(action, table.default_arguments))
        self._writer.line(f"{name}(packet, (const uint64_t[]){{{words}}});")

    def _default_target(self, table: p4.Table) -> Target:
        by_name = dict(table.next_by_action)
        if "__MISS__" in by_name:
            return by_name["__MISS__"]
        if table.default_action is None:
            return table.base_next
        return by_name.get(self._actions[table.default_action].name, table.base_next)

    def _branches_on(self, table: p4.Table) -> bool:
        return len(self._branches(table)) > 1

    def _branches(self, table: p4.Table) -> Branches:
        """Return what may follow a table, with the results that lead there."""
        branches: Branches = {}
        for name, target in table.next_by_action:
            branches.setdefault(target, []).append(name)
        if not covers_all(table):
            branches.setdefault(table.base_next, [])
        return branches

    def _write_switch(self, table: p4.Table, branches: Branches) -> None:
        stop = self._graph.meeting(table.name)
        by_name = dict(table.next_by_action)
        if "__HIT__" in by_name or "__MISS__" in by_name:
            hit = by_name.get("__HIT__", table.base_next)
            miss = by_name.get("__MISS__", table.base_next)
            self._write_hit(hit, miss, stop)
            return
        numbers = self._numbers(table)
        with self._writer.block("switch (found.action)"):
            for target, names in branches.items():
                if target == stop or not names:
                    continue
                for number in (n for name in names for n in numbers.get(name, ())):
                    self._writer.case(f"case {number}:")
                self._write_branch(target, stop)
                self._writer.line("break;")
            self._writer.case("default:")
            if table.base_next != stop and not covers_all(table):
                self._write_branch(table.base_next, stop)
            self._writer.line("break;")

    def _numbers(self, table: p4.Table) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        indices = dict.fromkeys(table.actions)
        if table.default_action is not None:
            indices[table.default_action] = None
        for index in indices:
            numbers.setdefault(self._actions[index].name, []).append(index)
        return numbers

    def _write_hit(self, hit: Target, miss: Target, stop: Target) -> None:
        condition, first, second = "found.row", hit, miss
        if hit == stop:
            condition, first, second = "!found.row", miss, hit
        with self._writer.block(f"if ({condition})"):
            self._write_branch(first, stop)
            if second != stop:
                self._writer.reopen("else")
                self._write_branch(second, stop)

    def _may_exit(self, name: str) -> bool:
        node = self._graph.node(name)
        match node:
            case p4.Table():
                indices = set(node.actions)
                if node.default_action is not None:
                    indices.add(node.default_action)
            case p4.ActionCall():
                indices = {node.action}
            case _:
                indices = set()
        return any(
            statement.operation == "exit"
            for index in indices
            for statement in self._actions[index].statements
        )


def argument_words(action: p4.Action, arguments: tuple[int, ...]) -> list[str]:
    """Return C for the words of constant action arguments."""
    words = []
    for parameter, value in zip(action.parameters, arguments, strict=True):
        if parameter.bits <= 64:
            words.append(f"UINT64_C({value:#x})")
            continue
        count = (parameter.bits + 63) // 64
        data = value.to_bytes(whole_bytes(parameter.bits), "big").ljust(8 * count, b"\0")
        words += [
            f"UINT64_C({int.from_bytes(data[at : at + 8], 'little'):#x})"
            for at in range(0, 8 * count, 8)
        ]
    return words
