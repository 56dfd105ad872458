"""The fifth pass, part eight: statements."""

from collections.abc import Callable, Sequence
from typing import Any

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Abort
from p4.compiler.lower_loops import LoopLowering


class StatementLowering(LoopLowering):
    """Statements."""

    def _statements(self, statements: Sequence[tree.Statement]) -> None:
        for statement in statements:
            try:
                _HANDLERS[type(statement)](self, statement)
            except Abort:
                continue

    def _ignore(self, node: tree.Statement) -> None:
        """Do nothing for what is lowered where it is used."""

    def _block(self, node: tree.Block) -> None:
        self._statements(node.statements)

    def _assignment(self, node: tree.Assignment) -> None:
        if not node.operator:
            target, source = self._target_and_source(node)
            type_ = self._type(node.target)
            self._assign(target, self._shaped(source, type_, node.at), node.at)
            return
        target = self._place(node.target)
        right = self._value(node.value)
        left = self._read(target, node.at)
        if node.operator == "++":
            result = fold.concatenate(left, right)
        else:
            result = fold.binary(node.operator, left, right, left.type)
        self._assign(target, result, node.at)

    def _target_and_source(self, node: tree.Assignment) -> tuple[places.Place, places.Place]:
        """Evaluate a target's index before the value, as P4 orders it."""
        target = self._place(node.target)
        return target, self._place(node.value)

    def _call_statement(self, node: tree.CallStatement) -> None:
        self._call(node.call)

    # Conditions

    def _if_statement(self, node: tree.If) -> None:
        if self._if_applied(node):
            return
        condition = self._value(node.condition)
        if isinstance(condition, flat.Number):
            branch = node.yes if condition.value else node.no
            self._statements((branch,) if branch is not None else ())
            return
        yes = self._capture(lambda: self._statements((node.yes,)))
        no = self._capture(lambda: self._statements((node.no,) if node.no is not None else ()))
        self._if(condition, yes, no, node.at)

    def _if_applied(self, node: tree.If) -> bool:
        """Lower `if (table.apply().hit)` to the table's own outcomes."""
        condition, positive = node.condition, True
        while isinstance(condition, tree.Unary) and condition.operator == "!":
            condition, positive = condition.operand, not positive
        if not isinstance(condition, tree.Member):
            return False
        applied = self._checked.types.get(condition.base)
        if not isinstance(applied, t.Applied):
            return False
        if condition.name == "miss":
            positive = not positive
        table = self._apply_table(applied.table)
        yes = self._capture(lambda: self._statements((node.yes,)))
        no = self._capture(lambda: self._statements((node.no,) if node.no is not None else ()))
        hit, miss = (yes, no) if positive else (no, yes)
        self._apply_and(table, condition.at, hit, miss)
        return True

    def _applied_member(self, node: tree.Member) -> places.Place:
        applied = self._checked.types[node.base]
        assert isinstance(applied, t.Applied)
        if node.name == "action_run":
            raise self._unsupported(node.at, "action_run outside of a switch")
        result = self._scalar(t.BOOL, node.name)
        table = self._apply_table(applied.table)
        outcome = {"hit": fold.TRUE, "miss": fold.FALSE}
        hit: flat.Code = (flat.Assign(result, outcome[node.name], node.at),)
        miss: flat.Code = (flat.Assign(result, fold.unary("!", outcome[node.name]), node.at),)
        self._apply_and(table, node.at, hit, miss)
        return result

    # Switches

    def _switch(self, node: tree.Switch) -> None:
        if isinstance(self._checked.types[node.value], t.ActionRun):
            self._switch_action(node)
            return
        value = self._save(self._value(node.value), node.at)
        groups, default = _case_groups(node)
        code = self._capture(lambda: self._statements(default.statements if default else ()))
        for labels, block in reversed(groups):
            condition: flat.Value = fold.FALSE
            for label in labels:
                same = fold.binary("==", value, self._value(label), t.BOOL)
                condition = fold.binary("||", condition, same, t.BOOL)
            body = self._capture(lambda block=block: self._statements(block.statements))  # type: ignore[misc]
            code = self._capture(
                lambda condition=condition, body=body, code=code: self._if(  # type: ignore[misc]
                    condition, body, code, node.at
                )
            )
        self._code.extend(code)

    def _switch_action(self, node: tree.Switch) -> None:
        member = node.value
        assert isinstance(member, tree.Member)
        applied = self._checked.types[member.base]
        assert isinstance(applied, t.Applied)
        table = self._apply_table(applied.table)
        places_of = [_reference_name(reference) for reference in applied.table.actions]
        groups, default = _case_groups(node)
        cases: list[tuple[int, flat.Code]] = []
        for labels, block in groups:
            body = self._capture(lambda block=block: self._statements(block.statements))  # type: ignore[misc]
            cases.extend(
                (places_of.index(label.name), body)
                for label in labels
                if isinstance(label, tree.Name)
            )
        otherwise = self._capture(lambda: self._statements(default.statements if default else ()))
        self._apply_and(table, node.at, cases=tuple(cases), otherwise=otherwise)

    # Leaving

    def _return(self, node: tree.Return) -> None:
        if node.value is not None and self._frame.result is not None:
            result = self._frame.result
            source = self._shaped(self._place(node.value), places.type_of(result), node.at)
            self._assign(result, source, node.at)
        self._jump(self._frame.leave, node.at)

    def _exit(self, node: tree.Exit) -> None:
        self._jump(self._frame.exit, node.at)

    def _break(self, node: tree.Break) -> None:
        self._jump(self._frame.loop_end, node.at)

    def _continue(self, node: tree.Continue) -> None:
        self._jump(self._frame.loop_next, node.at)

    # Declarations

    def _variable(self, node: tree.Variable) -> None:
        place = self._frame.bindings.get(node)
        value = None
        if node.value is not None:
            value = self._shaped(self._place(node.value), self._written(node.type), node.at)
        if place is None:
            place = self._temporary(self._written(node.type), node.name)
            self._frame.bindings[node] = place
        if value is None:
            self._invalidate(place, node.at)
        else:
            self._assign(place, value, node.at)

    def _instance(self, node: tree.Instance) -> None:
        if node in self._frame.bindings:
            return
        call = self._checked.calls[node]  # type: ignore[index]
        type_ = self._bound(self._checked.declared[node])
        assert isinstance(type_, t.Object)
        place = self._object(call, type_, self._full_name(node), node.at)
        self._frame.bindings[node] = place
        self._declare_extern(place, node)


def _case_groups(
    node: tree.Switch,
) -> tuple[list[tuple[list[tree.Expression], tree.Block]], tree.Block | None]:
    """Return the blocks of a switch with their labels, and the default block."""
    groups: list[tuple[list[tree.Expression], tree.Block]] = []
    default: tree.Block | None = None
    labels: list[tree.Expression] = []
    is_default = False
    for case in node.cases:
        if case.label is None:
            is_default = True
        else:
            labels.append(case.label)
        if case.block is not None:
            if is_default:
                default = case.block
            if labels:
                groups.append((labels, case.block))
            labels, is_default = [], False
    return groups, default


def _reference_name(reference: tree.ActionReference) -> str:
    call = reference.call
    function = call.function if isinstance(call, tree.Call) else call
    return function.name if isinstance(function, tree.Name) else ""


_HANDLERS: dict[type, Callable[[Any, Any], None]] = {
    tree.Assignment: StatementLowering._assignment,  # noqa: SLF001
    tree.CallStatement: StatementLowering._call_statement,  # noqa: SLF001
    tree.If: StatementLowering._if_statement,  # noqa: SLF001
    tree.Block: StatementLowering._block,  # noqa: SLF001
    tree.Return: StatementLowering._return,  # noqa: SLF001
    tree.Exit: StatementLowering._exit,  # noqa: SLF001
    tree.Break: StatementLowering._break,  # noqa: SLF001
    tree.Continue: StatementLowering._continue,  # noqa: SLF001
    tree.Switch: StatementLowering._switch,  # noqa: SLF001
    tree.For: StatementLowering._for,  # noqa: SLF001
    tree.ForIn: StatementLowering._for_in,  # noqa: SLF001
    tree.Constant: StatementLowering._ignore,  # noqa: SLF001
    tree.Variable: StatementLowering._variable,  # noqa: SLF001
    tree.Instance: StatementLowering._instance,  # noqa: SLF001
    tree.ValueSet: StatementLowering._ignore,  # noqa: SLF001
    tree.Action: StatementLowering._ignore,  # noqa: SLF001
    tree.Table: StatementLowering._ignore,  # noqa: SLF001
}
