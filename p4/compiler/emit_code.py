"""The sixth pass, part two: an action's code as a list of primitives with jumps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from p4.compiler import flat
from p4.compiler.diagnostics import Position
from p4.compiler.emit_values import Json, data, number, parameter, wrapped

SourceInfo = Callable[[Position | None], Json]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A jump to a label, if a condition is false or always."""

    label: int
    condition: flat.Value | None
    at: Position


@dataclass(frozen=True, slots=True)
class _Label:
    """The place that jumps to a label go to."""

    label: int


_Step = Json | _Branch | _Label


def primitives(code: flat.Code, source_info: SourceInfo) -> list[Json]:
    """Return code without tables as primitives."""
    emitter = _Emitter(source_info)
    emitter.code(code)
    return _resolve(_prune(emitter.steps), source_info)


def primitive(statement: flat.Assign | flat.Do, source_info: SourceInfo) -> Json:
    """Return one primitive."""
    if isinstance(statement, flat.Assign):
        name = "assign"
        parameters = [data(statement.target), wrapped(data(statement.value))]
    else:
        name = statement.primitive
        parameters = [parameter(each) for each in statement.parameters]
    return {"op": name, "parameters": parameters, "source_info": source_info(statement.at)}


class _Emitter:
    def __init__(self, source_info: SourceInfo) -> None:
        self.steps: list[Any] = []
        self._source_info = source_info
        self._own_labels = 0

    def code(self, code: flat.Code) -> None:
        for statement in code:
            self._statement(statement)

    def _statement(self, statement: flat.Statement) -> None:
        match statement:
            case flat.Assign() | flat.Do():
                self.steps.append(primitive(statement, self._source_info))
            case flat.If():
                self._if(statement)
            case flat.Labelled():
                self.code(statement.body)
                self.steps.append(_Label(statement.label))
            case flat.Whole():
                self.code(statement.body)
            case flat.Loop():
                start = self._label()
                self.steps.append(_Label(start))
                self.code(statement.body)
                self.steps.append(_Branch(start, None, statement.at))
            case flat.Jump():
                self.steps.append(_Branch(statement.label, None, statement.at))
            case _:
                raise AssertionError("tables and parsers are not applied in actions")

    def _label(self) -> int:
        self._own_labels -= 1
        return self._own_labels

    def _if(self, statement: flat.If) -> None:
        otherwise, end = self._label(), self._label()
        self.steps.append(_Branch(otherwise, statement.condition, statement.at))
        self.code(statement.yes)
        if statement.no:
            self.steps.append(_Branch(end, None, statement.at))
        self.steps.append(_Label(otherwise))
        self.code(statement.no)
        self.steps.append(_Label(end))


def _prune(steps: list[_Step]) -> list[_Step]:
    """Drop what follows a jump up to the next label, and jumps to what follows them."""
    reached: list[_Step] = []
    for step in steps:
        dead = bool(reached) and isinstance(reached[-1], _Branch) and reached[-1].condition is None
        if dead and not isinstance(step, _Label):
            continue
        while isinstance(step, _Label) and reached and _jumps_to(reached[-1], reached, step):
            reached.pop()
        reached.append(step)
    return reached


def _jumps_to(last: _Step, _steps: list[_Step], label: _Label) -> bool:
    return isinstance(last, _Branch) and last.condition is None and last.label == label.label


def _resolve(steps: list[_Step], source_info: SourceInfo) -> list[Json]:
    offsets: dict[int, int] = {}
    count = 0
    for step in steps:
        if isinstance(step, _Label):
            offsets[step.label] = count
        else:
            count += 1
    result: list[Json] = []
    for step in steps:
        if isinstance(step, _Branch):
            result.append(_jump(step, offsets.get(step.label, count), source_info))
        elif not isinstance(step, _Label):
            result.append(step)
    return result


def _jump(step: _Branch, offset: int, source_info: SourceInfo) -> Json:
    target = number(offset, 32)
    info = source_info(step.at)
    if step.condition is None:
        return {"op": "_jump", "parameters": [target], "source_info": info}
    condition = wrapped(data(step.condition))
    return {"op": "_jump_if_zero", "parameters": [condition, target], "source_info": info}
