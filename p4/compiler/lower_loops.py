"""The fifth pass, part seven: loops.

A loop is unrolled only where evaluating it proves how many rounds it runs at most: its variable
counts from a constant, nothing but the one update changes that, and the condition comes to be
false by the variable alone. The variable is then a constant in every round. Every other loop
stays one: a jump back in an action, an edge back in a pipeline, a transition back in a parser.
"""

import dataclasses
from collections.abc import Callable, Iterator

from p4.compiler import flat, fold, places, tree
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.lower_tables import TableLowering

UNROLL_LIMIT = 1024  # rounds, those of loops around it included
REPEATING = ("ingress", "egress", "parser")  # the blocks that may go back
COUNT = "count a variable from a constant to a constant that the body does not change"


class LoopLowering(TableLowering):
    """Loops."""

    _rounds_around = 1  # of the unrolled loops that are being lowered

    def _loop(self, rounds: Callable[[], None], factor: int = 1) -> None:
        """Emit what `rounds` does as code that `break` leaves; `factor` copies of the body."""
        frame = self._frame
        before = (frame.loop_end, frame.loop_next)
        frame.loop_end = self._label()
        self._rounds_around *= factor
        code = self._capture(rounds)
        self._rounds_around //= factor
        self._labelled(frame.loop_end, code)
        frame.loop_end, frame.loop_next = before

    def _round(self, body: tree.Statement) -> None:
        label = self._frame.loop_next = self._label()
        self._labelled(label, self._capture(lambda: self._statements((body,))))

    def _leave_unless(self, condition: flat.Value, at: Position) -> None:
        if not isinstance(condition, flat.Number) or not condition.value:
            leave = self._capture(lambda: self._jump(self._frame.loop_end, at))
            self._if(condition, (), leave, at)

    def _fits(self, rounds: int) -> bool:
        return rounds * self._rounds_around <= UNROLL_LIMIT

    # for (initial; condition; updates)

    def _for(self, node: tree.For) -> None:
        variable = self._counter(node)
        values = self._counted(node, variable) if variable is not None else None
        if variable is None or values is None:
            self._statements(node.initial)
            self._loop(lambda: self._repeat(lambda: self._one_round(node), node.at))
            return
        self._loop(lambda: self._constant_rounds(node, variable, values), max(1, len(values)))
        self._frame.bindings.pop(variable, None)

    def _repeat(self, produce: Callable[[], object], at: Position) -> None:
        """Emit a loop that only its condition, a break, a return or an exit ends."""
        if self._region not in REPEATING:
            raise self._unsupported(
                at, f"a loop whose number of rounds is not known in the {self._region}", COUNT
            )
        body = self._capture(produce)
        if not flat.leaves(body):
            raise self._diagnostics.fail(at, "this loop never ends")
        self._emit(flat.Loop(body, at))

    def _one_round(self, node: tree.For) -> None:
        self._leave_unless(self._value(node.condition), node.at)
        self._round(node.body)
        self._statements(node.updates)

    # Loops that are unrolled

    def _counter(self, node: tree.For) -> tree.Variable | None:
        """Return the loop's variable if only the loop's one update changes it."""
        first = node.initial[0] if len(node.initial) == 1 else None
        if not isinstance(first, tree.Variable) or first.value not in self._checked.constants:
            return None
        update = node.updates[0] if len(node.updates) == 1 else None
        if not isinstance(update, tree.Assignment):
            return None
        whole = self._checked.references.get(update.target) is first
        if not whole or self._has_effects(update.value) or self._has_effects(node.condition):
            return None
        return None if self._changes(node.body, first) else first

    def _counted(self, node: tree.For, variable: tree.Variable) -> list[flat.Number] | None:
        """Return the variable's value in each round there may be; None if that is not proven.

        The loop is evaluated for this, with all that it reads besides the variable unknown.
        """
        update = node.updates[0]
        assert variable.value is not None
        assert isinstance(update, tree.Assignment)
        start = self._checked.constants[variable.value]
        value: flat.Value = fold.number(start, self._written(variable.type))
        values: list[flat.Number] = []
        seen: set[flat.Value] = set()
        while isinstance(value, flat.Number) and value not in seen and self._fits(len(values)):
            seen.add(value)
            if self._with(variable, value, node.condition) == fold.FALSE:
                return values
            values.append(value)
            value = self._updated(variable, value, update)
        return None

    def _with(
        self, variable: tree.Variable, value: flat.Number, expression: tree.Expression
    ) -> flat.Value:
        """Return what an expression is for this value of the variable, emitting nothing."""
        self._frame.bindings[variable] = value
        found: list[flat.Value] = []
        self._capture(lambda: found.append(self._value(expression)))
        del self._frame.bindings[variable]
        return found[0]

    def _updated(
        self, variable: tree.Variable, value: flat.Number, update: tree.Assignment
    ) -> flat.Value:
        given = self._with(variable, value, update.value)
        if update.operator:
            given = fold.binary(update.operator, value, given, value.type)
        if isinstance(given, flat.Number):
            return fold.number(given.value, value.type)
        return given

    def _constant_rounds(
        self, node: tree.For, variable: tree.Variable, values: list[flat.Number]
    ) -> None:
        for value in values:
            self._frame.bindings[variable] = value
            self._leave_unless(self._value(node.condition), node.at)
            self._round(node.body)

    # for (variable in collection)

    def _for_in(self, node: tree.ForIn) -> None:
        if isinstance(node.collection, tree.Binary) and node.collection.operator == "..":
            self._for_range(node, node.collection)
        else:
            values = [self._kept(value, node.at) for value in self._collection(node)]
            self._for_each(node, values)

    def _for_each(self, node: tree.ForIn, values: list[places.Place]) -> None:
        constant = not self._changes(node.body, node.variable)
        self._loop(lambda: self._rounds_over(node, values, constant=constant), max(1, len(values)))

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
        place = self._place(node.collection)
        match place:
            case places.Struct():
                return list(place.parts.values())
            case places.Stack():
                return list(place.elements)
        raise self._unsupported(node.at, "a loop over this")

    def _for_range(self, node: tree.ForIn, bounds: tree.Binary) -> None:
        type_ = self._written(node.variable.type)
        first, last = self._value(bounds.left), self._value(bounds.right)
        if isinstance(first, flat.Number) and isinstance(last, flat.Number):
            low, high = (t.wrap(each.value, type_) for each in (first, last))
            if self._fits(high - low + 1):
                numbers = range(low, high + 1)
                self._for_each(node, [fold.number(each, type_) for each in numbers])
                return
        self._loop(lambda: self._range_rounds(node, first, last))

    def _range_rounds(self, node: tree.ForIn, first: flat.Value, last: flat.Value) -> None:
        """Emit a loop that counts up to a number of run time without going beyond it."""
        type_ = t.base(self._written(node.variable.type))
        name = node.variable.name
        counter, end = self._scalar(type_, name), self._scalar(type_, f"{name}.last")
        self._assign(counter, fold.cast(first, type_), node.at)
        self._assign(end, fold.cast(last, type_), node.at)
        self._leave_unless(fold.binary("<=", counter, end, t.BOOL), node.at)
        self._repeat(lambda: self._range_round(node, counter, end), node.at)

    def _range_round(self, node: tree.ForIn, counter: flat.Field, end: flat.Field) -> None:
        variable: flat.Field = counter
        if self._changes(node.body, node.variable):
            variable = self._scalar(counter.type, node.variable.name)
            self._assign(variable, counter, node.at)
        self._frame.bindings[node.variable] = variable
        self._round(node.body)
        self._leave_unless(fold.binary("!=", counter, end, t.BOOL), node.at)
        one = fold.number(1, counter.type)
        self._assign(counter, fold.binary("+", counter, one, counter.type), node.at)

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
