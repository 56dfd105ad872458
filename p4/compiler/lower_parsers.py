"""The fifth pass, part nine: parsers, whose states are inlined into the states that run them."""

import itertools
from collections.abc import Sequence

from p4.compiler import flat, tree
from p4.compiler import types as t
from p4.compiler.check import reachable
from p4.compiler.diagnostics import Position
from p4.compiler.lower_base import Frame
from p4.compiler.lower_statements import StatementLowering

CASE_LIMIT = 4096

Choices = list[tuple[int, int]]


class ParserLowering(StatementLowering):
    """Parsers."""

    def _apply_parser(self, frame: Frame, parser: tree.Parser, at: Position) -> None:
        assert parser.states is not None
        for local in parser.locals:
            if isinstance(local, tree.ValueSet):
                self._value_set(local)
        self._statements(parser.locals)
        reached = reachable(parser.states)
        states = tuple(self._state(state) for state in parser.states if state.name in reached)
        self._emit(flat.RunParser(states, at, frame.prefix))

    def _value_set(self, node: tree.ValueSet) -> None:
        name = self._full_name(node)
        if any(known.name == name for known in self.program.value_sets):
            return
        type_ = self._written(node.type)
        width = t.width(type_)
        if width is None:
            raise self._unsupported(node.at, f"a value set of {type_}")
        size = self._checked.constants[node.size]
        self.program.value_sets.append(flat.Array(name, node.at, size, width))

    def _state(self, state: tree.State) -> flat.State:
        result = flat.State(state.name, at=state.at)
        result.code = self._capture(lambda: self._fill_state(result, state))
        return result

    def _fill_state(self, result: flat.State, state: tree.State) -> None:
        self._statements(state.statements)
        match state.transition:
            case tree.Select() as select:
                self._attempt(lambda: self._select(result, select))
            case str(name):
                result.cases = (flat.Case(None, None, None, name),)
            case None:
                result.cases = (flat.Case(None, None, None, "reject"),)

    # Select

    def _select(self, result: flat.State, select: tree.Select) -> None:
        values = [self._value(key) for key in select.keys]
        keys: list[flat.Field | flat.StackTop] = []
        for value, key in zip(values, select.keys, strict=True):
            if isinstance(value, flat.Field | flat.StackTop):
                keys.append(value)
            else:
                field = self._scalar(value.type, "select")
                self._emit(flat.Assign(field, value, key.at))
                keys.append(field)
        result.keys = tuple(keys)
        widths = [t.width(key.type) or 0 for key in keys]
        cases = [found for case in select.cases for found in self._cases(case, widths)]
        result.cases = tuple(cases)

    def _cases(self, case: tree.SelectCase, widths: Sequence[int]) -> list[flat.Case]:
        """Return a case's transitions: one for each way to cover its ranges with masks."""
        first = case.keys[0]
        if all(isinstance(key, tree.Everything) for key in case.keys):
            return [flat.Case(None, None, None, case.state)]
        value_set = self._named_set(first)
        if value_set is not None:
            if len(case.keys) > 1:
                raise self._unsupported(case.at, "a value set beside other keys")
            return [flat.Case(None, None, value_set, case.state)]
        choices = [self._choices(key, width) for key, width in zip(case.keys, widths, strict=True)]
        found: list[flat.Case] = []
        for combination in itertools.product(*choices):
            if len(found) > CASE_LIMIT:
                raise self._unsupported(case.at, "ranges that need so many masks")
            values = tuple(value for value, _ in combination)
            masks = tuple(mask for _, mask in combination)
            full = all(mask == (1 << width) - 1 for mask, width in zip(masks, widths, strict=True))
            found.append(flat.Case(values, None if full else masks, None, case.state))
        return found

    def _named_set(self, key: tree.Expression) -> str | None:
        declaration = self._checked.references.get(key)
        return self._full_name(declaration) if isinstance(declaration, tree.ValueSet) else None

    def _choices(self, key: tree.Expression, width: int) -> Choices:
        everything = (1 << width) - 1
        if isinstance(key, tree.Everything):
            return [(0, 0)]
        if isinstance(key, tree.Binary) and key.operator == "&&&":
            value, mask = self._known(key.left), self._known(key.right)
            return [(value & mask & everything, mask & everything)]
        if isinstance(key, tree.Binary) and key.operator == "..":
            low, high = self._known(key.left) & everything, self._known(key.right) & everything
            return [(value, mask & everything) for value, mask in cover(low, high)]
        return [(self._known(key) & everything, everything)]

    def _known(self, key: tree.Expression) -> int:
        value = self._value(key)
        if not isinstance(value, flat.Number):
            raise self._unsupported(key.at, "a case that is not constant")
        return value.value


def cover(low: int, high: int) -> Choices:
    """Return values and masks that together match the numbers from `low` to `high`.

    The masks are negative numbers: all bits above the varying ones are set.
    """
    found: Choices = []
    while low <= high:
        size = low & -low if low else 1 << (high + 1).bit_length()
        while size > high - low + 1:
            size >>= 1
        found.append((low, ~(size - 1)))
        low += size
    return found
