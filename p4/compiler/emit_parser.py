"""The sixth pass, part three: the parser, with its sub-parsers and conditionals as states."""

from dataclasses import dataclass, field
from typing import Any

from p4.compiler import flat
from p4.compiler import types as t
from p4.compiler.diagnostics import Position
from p4.compiler.emit_code import SourceInfo, primitive
from p4.compiler.emit_values import Json, condition, data, parameter, wrapped

START = "start"
ACCEPT = "accept"
REJECT = "reject"


@dataclass(slots=True, eq=False)
class _State:
    """A state being filled; `cases` lead to states, None where the parser ends."""

    name: str
    statements: list[flat.Assign | flat.Do] = field(default_factory=list)
    keys: tuple[flat.Field | flat.StackTop, ...] = ()
    cases: list[tuple[flat.Case, "_State | None"]] = field(default_factory=list)
    at: Position | None = None

    def then(self, target: "_State | None") -> None:
        """Go on with a state whatever comes."""
        self.cases.append((flat.Case(None, None, None, ""), target))


def states(program: flat.Program, source_info: SourceInfo) -> tuple[str, list[Json]]:
    """Return the name of the first state, and all states."""
    flattener = _Flattener(program)
    first = flattener.program(program.parser[0].code) if program.parser else _State(START)
    first = _skip_empty(first, flattener.states) or first
    reached = _reached(first)
    ordered = [state for state in flattener.states if state in reached]
    return first.name, [_json(state, index, source_info) for index, state in enumerate(ordered)]


class _Flattener:
    def __init__(self, program: flat.Program) -> None:
        self.states: list[_State] = []
        self._program = program
        self._names: set[str] = set()
        self._labels: dict[int, _State] = {}

    def program(self, code: flat.Code) -> _State:
        first = _State("")
        self.states.append(first)
        last = self._code(code, first, top=True)
        if last is not None and not last.cases:
            last.then(None)
        for state in self.states:
            state.name = state.name or self._unique("state")
        return first

    def _new(self, name: str = "") -> _State:
        state = _State(self._unique(name) if name else "")
        self.states.append(state)
        return state

    def _unique(self, name: str) -> str:
        candidate, count = name, 0
        while candidate in self._names or candidate in {ACCEPT, REJECT}:
            candidate = f"{name}_{count}"
            count += 1
        self._names.add(candidate)
        return candidate

    def _code(self, code: flat.Code, state: _State | None, *, top: bool = False) -> _State | None:
        """Put code into a state; returns the state that goes on, None if none does."""
        for statement in code:
            if state is None:
                return None
            state = self._statement(statement, state, top=top)
        return state

    def _statement(self, statement: flat.Statement, state: _State, *, top: bool) -> _State | None:
        match statement:
            case flat.Assign() | flat.Do():
                state.statements.append(statement)
                return state
            case flat.If():
                return self._if(statement, state)
            case flat.Labelled():
                after = self._new()
                self._labels[statement.label] = after
                last = self._code(statement.body, state, top=top)
                if last is not None:
                    last.then(after)
                return after
            case flat.Loop():
                start = self._new()
                state.then(start)
                last = self._code(statement.body, start)
                if last is not None:
                    last.then(start)
                return None
            case flat.Jump():
                state.then(self._labels.get(statement.label))
                return None
            case flat.RunParser():
                return self._run(statement, state, top=top)
        raise AssertionError("tables are not applied in parsers")

    def _if(self, statement: flat.If, state: _State) -> _State:
        key = statement.condition
        if not isinstance(key, flat.Field):
            key = self._temporary()
            state.statements.append(flat.Assign(key, statement.condition, statement.at))
        yes, no, after = self._new(), self._new(), self._new()
        state.keys = (key,)
        state.cases = [
            (flat.Case((1,), None, None, ""), yes),
            (flat.Case(None, None, None, ""), no),
        ]
        for branch, code in ((yes, statement.yes), (no, statement.no)):
            last = self._code(code, branch)
            if last is not None:
                last.then(after)
        return after

    def _temporary(self) -> flat.Field:
        scalars = self._program.header_types["scalars_0"]
        taken = {name for name, _ in scalars.fields}
        name, count = "parser.condition", 0
        while name in taken:
            name, count = f"parser.condition_{count}", count + 1
        scalars.fields.append((name, t.BOOL))
        return flat.Field(flat.SCALARS, name, t.BOOL)

    def _run(self, run: flat.RunParser, state: _State, *, top: bool) -> _State | None:
        prefix = "" if top else f"{run.name}."
        own = {each.name: self._new(prefix + each.name) for each in run.states}
        after = None if top else self._new()
        state.then(own[START])
        for each in run.states:
            own[each.name].at = each.at
            last = self._code(each.code, own[each.name])
            if last is None:
                continue
            last.keys = each.keys
            for case in each.cases:
                target = after if case.state == ACCEPT else own.get(case.state)
                last.cases.append((case, None if case.state == REJECT else target))
        return after


def _skip_empty(state: _State | None, states_: list[_State]) -> _State | None:
    """Let transitions go past states that do nothing; returns where one to `state` now goes."""
    targets: dict[_State, _State | None] = {}

    def final(start: _State | None) -> _State | None:
        seen: set[_State] = set()
        here = start
        while here is not None and not here.statements and not here.keys and here not in seen:
            if len(here.cases) != 1 or here.cases[0][0].values is not None or here.at is not None:
                break
            seen.add(here)
            here = here.cases[0][1]
        return here

    for each in states_:
        targets[each] = final(each)
    for each in states_:
        each.cases = [
            (case, targets[target] if target is not None else None) for case, target in each.cases
        ]
    return targets.get(state) if state is not None else None


def _reached(first: _State) -> set[_State]:
    found: set[_State] = set()
    todo = [first]
    while todo:
        state = todo.pop()
        if state not in found:
            found.add(state)
            todo.extend(target for _, target in state.cases if target is not None)
    return found


# JSON


def _json(state: _State, index: int, source_info: SourceInfo) -> Json:
    widths = [t.width(key.type) or 0 for key in state.keys]
    result: Json = {
        "name": state.name,
        "id": index,
        "parser_ops": [_operation(each, source_info) for each in state.statements],
        "transitions": [_transition(case, target, widths) for case, target in state.cases],
        "transition_key": [data(key) for key in state.keys],
    }
    if state.at is not None:
        result["source_info"] = source_info(state.at)
    return result


def _operation(statement: flat.Assign | flat.Do, source_info: SourceInfo) -> Json:
    if isinstance(statement, flat.Assign):
        return {
            "op": "set",
            "parameters": [data(statement.target), _source(statement.value)],
            "source_info": source_info(statement.at),
        }
    special = _special(statement)
    if special is not None:
        info = source_info(statement.at)
        return {"op": statement.primitive, "parameters": special, "source_info": info}
    return {"op": "primitive", "parameters": [primitive(statement, source_info)]}


def _source(value: flat.Value) -> Json:
    """Return what a field is set to; BMv2 takes a stack's last element in expressions only."""
    if isinstance(value, flat.StackTop):
        return {"type": "expression", "value": data(value)}
    return wrapped(data(value))


def _special(statement: flat.Do) -> list[Any] | None:
    """Return the parameters of an operation that only parsers have."""
    first = statement.parameters[0]
    second = statement.parameters[1] if len(statement.parameters) > 1 else None
    match statement.primitive:
        case "extract":
            return [parameter(first)]
        case "extract_VL":
            return [parameter(first), {"type": "expression", "value": data(_value(second))}]
        case "advance":
            return [wrapped(data(_value(first)))]
        case "verify":
            return [condition(_value(first)), data(_value(second))]
    return None


def _value(given: flat.Parameter | None) -> flat.Value:
    assert given is not None
    assert not isinstance(given, flat.Reference | flat.Text | flat.Vector | flat.UnionEnd)
    return given


def _transition(case: flat.Case, target: _State | None, widths: list[int]) -> Json:
    next_state = target.name if target is not None else None
    if case.value_set is not None:
        return {
            "type": "parse_vset",
            "value": case.value_set,
            "mask": None,
            "next_state": next_state,
        }
    if case.values is None:
        return {"type": "default", "value": None, "mask": None, "next_state": next_state}
    mask = _joined(case.masks, widths) if case.masks is not None else None
    return {
        "type": "hexstr",
        "value": _joined(case.values, widths),
        "mask": mask,
        "next_state": next_state,
    }


def _joined(values: tuple[int, ...], widths: list[int]) -> str:
    """Return values one after the other, each rounded up to bytes."""
    digits = [
        f"{value:0{-(-width // 8) * 2}x}" for value, width in zip(values, widths, strict=True)
    ]
    return "0x" + "".join(digits)
