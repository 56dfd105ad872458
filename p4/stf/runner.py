"""Run STF scripts on a switch, statement by statement, each frame finished before the next."""

from __future__ import annotations

import operator
from collections import defaultdict
from typing import TYPE_CHECKING

from errors import UserError
from p4.codegen.program import Match
from p4.codegen.symbols import EngineError, find
from p4.console.commands import Console, ConsoleError
from p4.engine import Switch
from p4.stf import reader as stf

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from p4.codegen.symbols import ActionInfo, KeyInfo, MatchValue, TableInfo
    from p4.engine import Program

COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
REVERSED_FROM = 10000  # BMv2 lets the smaller priority win, STF the larger
DIGIT_BITS = {"x": 4, "o": 3, "b": 1}


class StfMismatchError(UserError):
    """A switch that did not do what its script expects."""


class _Run:
    """A script's state: what came out so far, and what was expected."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.switch = Switch(program)
        self.console = Console(self.switch)
        self.expected: dict[int, list[stf.Expect]] = defaultdict(list)
        self.received: dict[int, list[bytes]] = defaultdict(list)
        self.ports: set[int] = set()
        self.entries: dict[str, tuple[str, int]] = {}
        self.now = 0


def run_stf(program: Program, steps: Iterable[stf.Step]) -> None:
    """Run a script on a new switch; StfMismatchError names the line of the first difference."""
    run = _Run(program)
    try:
        for step in steps:
            try:
                _run_step(run, step)
            except (EngineError, ConsoleError, ValueError) as error:
                raise StfMismatchError(f"line {step.line}: {error}") from None
            except OverflowError:
                raise StfMismatchError(f"line {step.line}: a number does not fit") from None
        _compare_ports(run)
    finally:
        run.switch.close()


def _run_step(run: _Run, step: stf.Step) -> None:  # noqa: C901
    match step:
        case stf.Packet():
            run.ports.add(step.port)
            run.now += 1000
            for output in run.switch.receive(step.port, step.data, now=run.now):
                run.received[output.port].append(output.data)
        case stf.Expect():
            run.expected[step.port].append(step)
        case stf.Add():
            _add(run, step)
        case stf.SetDefault():
            table = _table(run.program, step.table)
            action = _action(table, step.action)
            run.switch.table_set_default(
                table.name, action.name, _arguments(action, step.arguments)
            )
        case stf.CheckCounter():
            _check_counter(run, step)
        case stf.Remove():
            for table in run.program.symbols.tables:
                if table.keys:
                    run.switch.table_clear(table.name)
        case stf.Command():
            run.console.execute(step.text)
        case stf.Wait() | stf.NoPacket():
            pass


# Tables -------------------------------------------------------------------------------------


def _table(program: Program, name: str) -> TableInfo:
    tables = program.symbols.tables
    loose = [table for table in tables if table.name.endswith(name)]
    return loose[0] if len(loose) == 1 else find(tables, name, "table")


def _action(table: TableInfo, name: str) -> ActionInfo:
    exact = [action for action in table.actions if action.name == name]
    loose = exact or [action for action in table.actions if action.name.endswith(name)]
    return loose[0] if loose else find(table.actions, name, f"action of table {table.name}")


def _add(run: _Run, step: stf.Add) -> None:
    table = _table(run.program, step.table)
    action = _action(table, step.action)
    given = {_key(table, name).name: value for name, value in step.matches}
    matches = [_match_value(key, given.get(key.name)) for key in table.keys]
    priority = 0
    if step.priority is not None and table.needs_priority:
        priority = max(REVERSED_FROM - step.priority, 0)
    handle = run.switch.table_add(
        table.name, matches, action.name, _arguments(action, step.arguments), priority
    )
    if step.name is not None:
        run.entries[step.name.lstrip("$")] = (table.name, handle)


def _arguments(action: ActionInfo, pairs: Sequence[tuple[str, str]]) -> list[int]:
    values = {find(action.parameters, name, "parameter").name: value for name, value in pairs}
    missing = [p.name for p in action.parameters if p.name not in values]
    if missing:
        raise EngineError(f"action {action.name}: no value for {', '.join(missing)}")
    return [_number(values[parameter.name]) for parameter in action.parameters]


def _key(table: TableInfo, name: str) -> KeyInfo:
    """Return a key by STF's ways of naming one: a suffix, `$0` for `[0]`, `valid`."""
    prefix, mark, rest = name.partition("$")
    index = rest.split(".", 1)[0]
    if mark and index.isdigit():
        name = f"{prefix}[{index}]{rest[len(index) :]}"
    validity = name.replace(".valid", ".$valid$")
    for choice in (name, f"{name}$", f"{name}.$valid$", f"{name}.isValid()", validity):
        found = [k for k in table.keys if k.name == choice or k.name.endswith(f".{choice}")]
        if found:
            return found[0]
    if name in {"valid", "$valid$"}:
        found = [key for key in table.keys if key.name.endswith("$valid$")]
        if found:
            return found[0]
    return find(table.keys, name, f"key of table {table.name}")


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return int(text)


def _match_value(key: KeyInfo, text: str | None) -> MatchValue:
    if text is None:
        missing: dict[Match, MatchValue] = {Match.EXACT: 0, Match.LPM: (0, 0)}
        return missing.get(key.match)
    if key.match is Match.LPM:
        return _prefix(key, text)
    if "*" in text:
        value, mask = _digits(text)
        full = (1 << key.bits) - 1
        return (value & full, mask & full)
    return _number(text)


def _digits(text: str) -> tuple[int, int]:
    """Return value and mask of a constant with `*` for digits that do not matter."""
    base = DIGIT_BITS.get(text[1:2].lower())
    if base is None:
        raise EngineError(f"`{text}`: only 0x, 0o and 0b constants may have `*`")
    value = mask = 0
    for digit in text[2:]:
        value = value << base | (0 if digit == "*" else int(digit, 16))
        mask = mask << base | (0 if digit == "*" else (1 << base) - 1)
    return value, mask


def _prefix(key: KeyInfo, text: str) -> tuple[int, int]:
    if "/" in text:
        address, width = text.split("/", 1)
        return _number(address), int(width)
    if text[:1] == "0" and text[1:2].lower() in DIGIT_BITS:
        value, mask = _digits(text)
        bits = DIGIT_BITS[text[1].lower()]
        length = min((len(text) - 2 - text.count("*")) * bits, key.bits)
        return value & mask & ((1 << key.bits) - 1), length
    return _number(text), key.bits


# Checks -------------------------------------------------------------------------------------


def _check_counter(run: _Run, step: stf.CheckCounter) -> None:
    index = run.entries.get(step.index.lstrip("$"))
    number = index[1] if index is not None else _number(step.index)
    packets, size = run.switch.counter_read(step.counter, number)
    value = packets if step.kind == "packets" else size
    compare = COMPARISONS.get(step.comparison)
    if compare is not None and not compare(value, step.value):
        raise StfMismatchError(
            f"line {step.line}: counter {step.counter}({step.index}) has {value} {step.kind},"
            f" not {step.comparison} {step.value}"
        )


def _compare_ports(run: _Run) -> None:
    """Compare the ports that the script names; frames that leave others are nobody's."""
    for port in sorted(set(run.expected) | run.ports):
        expected, received = run.expected[port], run.received[port]
        if any(item.pattern is None for item in expected):
            if not received:
                raise StfMismatchError(f"line {expected[0].line}: nothing left port {port}")
            continue
        for item, frame in zip(expected, received, strict=False):
            _compare(item, frame.hex().upper())
        if len(received) > len(expected):
            frame = received[len(expected)]
            raise StfMismatchError(
                f"port {port}: a frame that was not expected left: {frame.hex()}"
            )
        if len(received) < len(expected):
            missing = expected[len(received)]
            raise StfMismatchError(f"line {missing.line}: no frame left port {port} for this")


def _compare(expected: stf.Expect, frame: str) -> None:
    pattern = expected.pattern or ""
    same = len(frame) >= len(pattern) and all(
        wanted in {"*", digit} for wanted, digit in zip(pattern, frame, strict=False)
    )
    if not same or (expected.exact and len(frame) > len(pattern)):
        raise StfMismatchError(
            f"line {expected.line}: port {expected.port}: expected {pattern}, got {frame}"
        )
