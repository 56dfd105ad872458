"""Actions to C: one function each, one line or two per primitive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4.codegen import program as p4
from p4.codegen.code import Number
from p4.codegen.document import ProgramError
from p4.codegen.layout import whole_bytes
from p4.codegen.names import Names
from p4.codegen.statement import Statements
from p4.codegen.verify import action_values

if TYPE_CHECKING:
    from p4.codegen.context import Context


def parameter_words(action: p4.Action) -> list[int]:
    """Return the argument word at which each parameter starts, then how many there are."""
    words = [0]
    for parameter in action.parameters:
        words.append(words[-1] + max((parameter.bits + 63) // 64, 1))
    return words


def used_parameters(action: p4.Action) -> set[int]:
    """Return the numbers of the parameters that an action reads."""
    return {v.index for v in action_values(action) if isinstance(v, p4.ActionParameter)}


def write_action(context: Context, action: p4.Action) -> None:
    """Write an action's function."""
    used = used_parameters(action)
    context.head(action.position, f"action {action.name}")
    arguments = ", const uint64_t *arguments" if used else ""
    name = context.action_name(action.index)
    packet = "struct packet *packet"
    with context.writer.function(f"static inline void {name}({packet}{arguments})"):
        _write_parameters(context, action, used)
        _write_body(context, action)
    context.expressions.parameters = ()


def _write_parameters(context: Context, action: p4.Action, used: set[int]) -> None:
    names, words = Names(), parameter_words(action)
    names.of("packet", "packet")
    names.of("arguments", "arguments")
    numbers = []
    for index, parameter in enumerate(action.parameters):
        name = names.of(index, parameter.name)
        high = (1 << parameter.bits) - 1
        if parameter.bits > 64:
            text = f"pl_wide_load({name}, {whole_bytes(parameter.bits)})"
            number = Number(text, 0, high, wide=True)
            source = f"const uint8_t *{name} = (const uint8_t *)(arguments + {words[index]})"
        else:
            number = Number(name, 0, high, full=True)
            source = f"const uint64_t {name} = arguments[{words[index]}]"
        numbers.append(number)
        if index in used:
            context.writer.line(f"{source};")
    context.expressions.parameters = tuple(numbers)


def _write_body(context: Context, action: p4.Action) -> None:
    statements = Statements(context)
    targets = _jump_targets(action)
    repeated = _jump_targets(action, backwards=True)
    if repeated:
        context.writer.line("uint32_t rounds = 0;")
    for number, statement in enumerate(action.statements):
        if number in targets:
            context.writer.label(f"statement_{number}")
        if number in repeated:
            with context.writer.block("if (pl_repeats(&packet->base, &rounds))"):
                context.writer.line("return;")
        try:
            statements.write(statement)
        except ProgramError as error:
            raise ProgramError(_place(action, statement, error)) from None
    if len(action.statements) in targets:
        context.writer.label(f"statement_{len(action.statements)}")


def _place(action: p4.Action, statement: p4.Statement, error: ProgramError) -> str:
    where = statement.position or action.position
    text = f"action {action.name}, {statement.operation}: {error}"
    return f"{where}: {text}" if where else text


def _jump_targets(action: p4.Action, *, backwards: bool = False) -> set[int]:
    """Return the statements that others jump to, or only those that later ones jump back to."""
    targets = set()
    for number, statement in enumerate(action.statements):
        if statement.operation in {"_jump", "_jump_if_zero"}:
            if not statement.parameters:
                raise ProgramError(f"action {action.name}: jump to nowhere")
            target = statement.parameters[-1]
            if not isinstance(target, p4.Constant):
                raise ProgramError(f"action {action.name}: jump to a computed statement")
            if target.value > len(action.statements):
                raise ProgramError(f"action {action.name}: jump beyond its end")
            if not backwards or target.value <= number:
                targets.add(target.value)
    return targets
