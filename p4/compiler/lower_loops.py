"""The fifth pass, part seven: loops, which are unrolled if their rounds can be counted.

A loop's variable becomes a constant in every round if nothing in the body changes it. Otherwise,
if it counts from a constant to a constant, every round tests the condition. All other loops
become jumps backwards, which BMv2 has inside of actions only.
"""

import dataclasses
from collections.abc import Callable, Iterator

from p4.compiler import flat, fold, places, tree
from p4.compiler.diagnostics import Position
from p4.compiler.lower_tables import TableLowering

UNROLL_LIMIT = 1024
UNKNOWN = "a loop whose number of rounds is not known"
COUNT = "count a variable from a constant to a constant"


class LoopLowering(TableLowering):
    """Loops."""

    def _loop(self, rounds: Callable[[], None]) -> None:
        frame = self._frame
        before = (frame.loop_end, frame.loop_next)
        frame.loop_end = self._label()
        code = self._capture(rounds)
        self._labelled(frame.loop_end, code)
        frame.loop_end, frame.loop_next = before

    def _round(self, body: tree.Statement) -> None:
        label = self._frame.loop_next = self._label()
        self._labelled(label, self._capture(lambda: self._statements((body,))))

    def _leave_unless(self, condition: flat.Value, at: Position) -> None:
        if not isinstance(condition, flat.Number):
            leave = self._capture(lambda: self._jump(self._frame.loop_end, at))
            self._if(condition, (), leave, at)

    # for (initial; condition; updates)

    def _for(self, node: tree.For) -> None:
        variable = self._constant_variable(node)
        if variable is not None:
            self._loop(lambda: self._constant_rounds(node, variable))
            return
        self._statements(node.initial)
        bound = _rounds(node, self._checked.constants)
        if bound is None:
            self._loop(lambda: self._endless_rounds(node))
        else:
            self._loop(lambda: self._counted_rounds(node, bound))

    def _endless_rounds(self, node: tree.For) -> None:
        """Emit a loop that only its condition, a break or a return ends."""
        if self._region not in {"ingress", "egress"}:
            raise self._unsupported(node.at, f"{UNKNOWN} in the {self._region}", COUNT)
        body = self._capture(lambda: self._one_round(node))
        if any(isinstance(each, flat.Apply) for each in flat.statements(body)):
            raise self._unsupported(node.at, f"applying a table in {UNKNOWN}", COUNT)
        if self._frame.loop_end not in self._used_labels:
            raise self._unsupported(node.at, "a loop without an end")
        self._emit(flat.Loop(body, node.at))

    def _one_round(self, node: tree.For) -> None:
        self._leave_unless(self._value(node.condition), node.at)
        self._round(node.body)
        self._statements(node.updates)

    def _constant_variable(self, node: tree.For) -> tree.Variable | None:
        """Return the loop's variable if only the loop's one update changes it."""
        first = node.initial[0] if len(node.initial) == 1 else None
        if not isinstance(first, tree.Variable) or first.value is None or len(node.updates) != 1:
            return None
        if first.value not in self._checked.constants:
            return None
        update = node.updates[0]
        if not isinstance(update, tree.Assignment) or not self._refers(update.target, first):
            return None
        return first if self._counts_alone(node, first) else None

    def _counts_alone(self, node: tree.For, variable: tree.Variable) -> bool:
        """Tell whether the loop ends by its variable alone, and its body leaves that alone."""
        assert variable.value is not None
        start = fold.number(self._checked.constants[variable.value], self._written(variable.type))
        self._frame.bindings[variable] = start
        found: list[flat.Value] = []
        self._capture(lambda: found.append(self._value(node.condition)))
        del self._frame.bindings[variable]
        return isinstance(found[0], flat.Number) and not self._changes(node.body, variable)

    def _constant_rounds(self, node: tree.For, variable: tree.Variable) -> None:
        type_ = self._written(variable.type)
        assert variable.value is not None
        update = node.updates[0]
        assert isinstance(update, tree.Assignment)
        value: flat.Value = fold.number(self._checked.constants[variable.value], type_)
        for _ in range(UNROLL_LIMIT):
            self._frame.bindings[variable] = value
            condition = self._value(node.condition)
            if condition == fold.FALSE:
                return
            self._leave_unless(condition, node.at)
            self._round(node.body)
            value = self._updated(update, value)
            if not isinstance(value, flat.Number):
                raise self._unsupported(node.at, UNKNOWN, COUNT)
        raise self._unsupported(node.at, f"a loop of more than {UNROLL_LIMIT} rounds")

    def _updated(self, update: tree.Assignment, value: flat.Value) -> flat.Value:
        given = self._value(update.value)
        if not update.operator:
            return given
        return fold.binary(update.operator, value, given, value.type)

    def _counted_rounds(self, node: tree.For, bound: int) -> None:
        for _ in range(bound):
            condition = self._value(node.condition)
            if condition == fold.FALSE:
                return
            self._leave_unless(condition, node.at)
            self._round(node.body)
            self._statements(node.updates)

    # for (variable in collection)

    def _for_in(self, node: tree.ForIn) -> None:
        values = self._collection(node)
        constant = not self._changes(node.body, node.variable)
        self._loop(lambda: self._rounds_over(node, values, constant=constant))

    def _rounds_over(self, node: tree.ForIn, values: list[places.Place], *, constant: bool) -> None:
        variable: places.Place | None = None
        for value in values:
            if constant and isinstance(value, flat.Number):
                self._frame.bindings[node.variable] = value
            else:
                if variable is None:
                    type_ = self._written(node.variable.type)
                    variable = self._temporary(type_, node.variable.name)
                self._frame.bindings[node.variable] = variable
                self._assign(variable, value, node.at)
            self._round(node.body)

    def _collection(self, node: tree.ForIn) -> list[places.Place]:
        collection = node.collection
        type_ = self._written(node.variable.type)
        if isinstance(collection, tree.Binary) and collection.operator == "..":
            first = self._value(collection.left)
            last = self._value(collection.right)
            if not isinstance(first, flat.Number) or not isinstance(last, flat.Number):
                raise self._unsupported(node.at, UNKNOWN)
            if last.value - first.value >= UNROLL_LIMIT:
                raise self._unsupported(node.at, f"a loop of more than {UNROLL_LIMIT} rounds")
            return [fold.number(each, type_) for each in range(first.value, last.value + 1)]
        place = self._place(collection)
        match place:
            case places.Struct():
                return list(place.parts.values())
            case places.Stack():
                return list(place.elements)
        raise self._unsupported(node.at, "a loop over this")

    # Who changes a variable

    def _refers(self, target: tree.Expression, variable: tree.Variable) -> bool:
        while isinstance(target, tree.Member | tree.Index | tree.Slice):
            target = target.base
        return self._checked.references.get(target) is variable

    def _changes(self, body: tree.Statement, variable: tree.Variable) -> bool:
        """Tell whether a statement may change a variable."""
        for node in _nodes(body):
            if isinstance(node, tree.Assignment) and self._refers(node.target, variable):
                return True
            if isinstance(node, tree.Call):
                call = self._checked.calls.get(node)
                for parameter, value in call.arguments if call else ():
                    written = value is not None and parameter.direction in {"out", "inout"}
                    if written and value is not None and self._refers(value, variable):
                        return True
        return False


def _nodes(node: object) -> Iterator[tree.Node]:
    """Give a node and everything in it."""
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)
    elif isinstance(node, tree.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from _nodes(getattr(node, field.name))


def _rounds(node: tree.For, constants: dict[tree.Expression, int]) -> int | None:
    """Return how often a loop that counts runs at most, None if that cannot be told."""
    start = _start(node, constants)
    step = _step(node, constants)
    condition = node.condition
    if start is None or step is None or not isinstance(condition, tree.Binary):
        return None
    end = constants.get(condition.right)
    if end is None or condition.operator not in {"<", "<=", ">", ">=", "!="}:
        return None
    distance = end - start if step > 0 else start - end
    rounds = max(0, -(-distance // abs(step))) + 1
    return rounds if rounds <= UNROLL_LIMIT else None


def _start(node: tree.For, constants: dict[tree.Expression, int]) -> int | None:
    for statement in node.initial:
        if isinstance(statement, tree.Variable | tree.Assignment) and statement.value is not None:
            return constants.get(statement.value)
    return None


def _step(node: tree.For, constants: dict[tree.Expression, int]) -> int | None:
    for statement in node.updates:
        if isinstance(statement, tree.Assignment):
            operator, value = statement.operator, statement.value
            if isinstance(value, tree.Binary) and not operator:
                operator, value = value.operator, value.right
            amount = constants.get(value)
            if amount and operator in {"+", "-", "|+|", "|-|"}:
                return amount if "+" in operator else -amount
    return None
